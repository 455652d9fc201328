import type { Connection, RpcMessage, RpcReject, RpcRequest } from '@atenea/mcpcompat/transport'

/** Takes every message until the connection ends; what ended it, if it broke. */
export async function drain(connection: Connection): Promise<{ messages: (RpcMessage | RpcReject)[]; error: unknown }> {
  const messages: (RpcMessage | RpcReject)[] = []
  try {
    for await (const batch of connection.inbound) messages.push(...batch.map((inbound) => inbound.message))
    return { messages, error: undefined }
  } catch (error) {
    return { messages, error }
  }
}

/** Answers every request with its params, until the peer has ended its output, then closes. */
export async function echo(connection: Connection): Promise<void> {
  for await (const batch of connection.inbound) {
    for (const { message } of batch) {
      if (message.kind === 'request') {
        await connection.send({ kind: 'result', id: message.id, result: message.params ?? {} })
      }
    }
  }
  await connection[Symbol.asyncDispose]()
}

export function request(id: number | string, params?: RpcRequest['params']): RpcRequest {
  return { kind: 'request', id, method: 'echo', params }
}

/** Takes messages one at a time, for tests that talk back and forth. Leaves the connection open. */
export function reader(connection: Connection): () => Promise<RpcMessage | RpcReject | undefined> {
  const iterator = connection.inbound[Symbol.asyncIterator]()
  const held: (RpcMessage | RpcReject)[] = []
  return async () => {
    if (held.length === 0) {
      const { value, done } = await iterator.next()
      if (done === true) return undefined
      held.push(...value.map((inbound) => inbound.message))
    }
    return held.shift()
  }
}
