import type { Connection, Inbound, RpcMessage } from '@atenea/mcpcompat/transport'
import type { Readiness } from '@atenea/transport-http'

/** The request that `atenea-proxy status` sends. It is none of MCP, and is answered whatever state the servers are in. */
export const statusMethod = 'atenea/status'

/**
 * The connection of a client on a socket, or of somebody who asks how the proxy is: that is answered when it comes first. Whatever else
 * comes is handed on as it is.
 */
export function withStatusLine(connection: Connection, readiness: Readiness): Connection {
  const iterator = connection.inbound[Symbol.asyncIterator]()
  let isFirst = true
  const next = async (): Promise<IteratorResult<readonly Inbound[]>> => {
    if (!isFirst) return await iterator.next()
    isFirst = false
    const batch = await iterator.next()
    const message = batch.done === true ? undefined : batch.value[0]?.message
    if (message?.kind !== 'request' || message.method !== statusMethod) return batch
    await connection.send(await answer(message.id, readiness))
    return await iterator.next()
  }
  return {
    inbound: {
      [Symbol.asyncIterator]: () => ({
        next,
        return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
      }),
    },
    send: (message, options) => connection.send(message, options),
    [Symbol.asyncDispose]: async () => await connection[Symbol.asyncDispose](),
  }
}

async function answer(id: string | number, readiness: Readiness): Promise<RpcMessage> {
  const { ready, details } = await readiness()
  return { kind: 'result', id, result: { ready, ...details } }
}
