import type { Connection, RpcRequest } from '@atenea/mcpcompat/transport'
import { toObject } from '@atenea/mcpcompat'

/**
 * The other end of `connectionSuite`: a program over a connection, whatever carries it.
 *
 * `echo` answers its params, `later` does so after `ms`, `principal` answers who asked, `flood` sends `count` notifications of `size`
 * characters and then whether it was ever told to wait, `leave` closes the connection without an answer. Every notification comes back.
 * Resolves when the connection is closed.
 */
export async function runEchoPeer(connection: Connection): Promise<void> {
  for await (const batch of connection.inbound) {
    for (const { message, principal } of batch) {
      if (message.kind === 'notification') void connection.send(message)
      if (message.kind !== 'request') continue
      if (message.method === 'leave') {
        await connection[Symbol.asyncDispose]()
        return
      }
      if (message.method === 'flood') void flood(connection, message)
      else if (message.method === 'later') answerLater(connection, message)
      else if (message.method === 'principal') reply(connection, message, { ...principal, scopes: [] })
      else reply(connection, message, message.params ?? {})
    }
  }
  await connection[Symbol.asyncDispose]()
}

function reply(connection: Connection, request: RpcRequest, result: NonNullable<RpcRequest['params']>): void {
  void connection.send({ kind: 'result', id: request.id, result })
}

function answerLater(connection: Connection, request: RpcRequest): void {
  const { ms } = toObject(request.params ?? {})
  setTimeout(() => reply(connection, request, {}), Number(ms))
}

async function flood(connection: Connection, request: RpcRequest): Promise<void> {
  const { count, size } = toObject(request.params ?? {})
  const filler = 'x'.repeat(Number(size))
  let waited = false
  for (let index = 0; index < Number(count); index += 1) {
    const room = connection.send({ kind: 'notification', method: 'flood', params: { index, filler } })
    if (room === undefined) continue
    waited = true
    await room
  }
  reply(connection, request, { waited })
}
