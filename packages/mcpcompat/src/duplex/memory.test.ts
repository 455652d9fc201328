import { describe, expect, test } from 'vitest'
import type { Connection, Inbound } from '../contract/connection.ts'
import { TransportError } from '../jsonrpc/errors.ts'
import { JsonText } from '../jsonrpc/json-text.ts'
import type { RpcMessage } from '../jsonrpc/message.ts'
import { createMemoryPair } from './memory.ts'

function request(id: number, params?: JsonText): RpcMessage {
  return { kind: 'request', id, method: 'x', params }
}

async function nextBatch(iterator: AsyncIterator<readonly Inbound[]>): Promise<readonly unknown[]> {
  const { value, done } = await iterator.next()
  if (done === true) throw new Error('the iteration has ended')
  return value.map(({ message }: Inbound) => message)
}

async function readAll(connection: Connection): Promise<RpcMessage[]> {
  const messages: RpcMessage[] = []
  for await (const batch of connection.inbound) {
    for (const { message } of batch) if (message.kind !== 'reject') messages.push(message)
  }
  return messages
}

const closed = (error: unknown): boolean => TransportError.is(error) && error.kind === 'closed'

describe('createMemoryPair', () => {
  test('carries messages both ways, those of one turn as one batch', async () => {
    const [client, server] = createMemoryPair()
    const [fromServer, fromClient] = [client.inbound[Symbol.asyncIterator](), server.inbound[Symbol.asyncIterator]()]
    expect(client.send(request(1))).toBeUndefined()
    void client.send(request(2))
    expect(await nextBatch(fromClient)).toEqual([request(1), request(2)])
    void server.send({ kind: 'result', id: 1, result: { a: 1 } })
    expect(await nextBatch(fromServer)).toEqual([{ kind: 'result', id: 1, result: { a: 1 } }])
    void client.send(request(3))
    expect(await nextBatch(fromClient)).toEqual([request(3)])
  })

  test('shares nothing, and names who is at the other end', async () => {
    const params = { list: [1] }
    const [client, server] = createMemoryPair({ principal: { id: 'uid:7', authenticated: true } })
    void client.send({ kind: 'notification', method: 'x', params })
    params.list.push(2)
    const { value } = await server.inbound[Symbol.asyncIterator]().next()
    const [inbound] = value as readonly Inbound[]
    expect(inbound).toEqual({
      message: { kind: 'notification', method: 'x', params: { list: [1] } },
      hints: {},
      principal: { id: 'uid:7', authenticated: true },
    })
  })

  test('E11: payloads stay text where that was asked for', async () => {
    const [client, server] = createMemoryPair({ payload: 'text' })
    void client.send(request(1, new JsonText('{"n":9007199254740993}')))
    const [message] = await nextBatch(server.inbound[Symbol.asyncIterator]())
    const { params } = message as { params: unknown }
    expect(JsonText.is(params) && params.text).toBe('{"n":9007199254740993}')
  })

  test('what JSON cannot hold fails where it is sent, and the connection goes on', async () => {
    const [client, server] = createMemoryPair()
    expect(() => client.send({ kind: 'notification', method: 'x', params: { n: 1n as never } })).toThrow(TypeError)
    void client.send(request(1))
    expect(await nextBatch(server.inbound[Symbol.asyncIterator]())).toEqual([request(1)])
  })

  test('asks a sender to wait for a peer that does not read', async () => {
    const [client, server] = createMemoryPair()
    const big = new JsonText(JSON.stringify({ text: 'x'.repeat(100_000) }))
    const sent = [1, 2, 3].map((id) => client.send(request(id, big)))
    expect(sent.slice(0, 2)).toEqual([undefined, undefined])
    expect(sent[2]).toBeInstanceOf(Promise)
    const iterator = server.inbound[Symbol.asyncIterator]()
    for (let id = 1; id <= 3; id++) await iterator.next()
    await sent[2]
    await Promise.resolve()
    expect(client.send(request(4))).toBeUndefined()
  })

  test('breaks when a peer that does not read is sent without end', async () => {
    const [client, server] = createMemoryPair()
    const big = new JsonText(JSON.stringify({ text: 'x'.repeat(1024 * 1024) }))
    const results = Array.from({ length: 70 }, (_, id) => client.send(request(id, big)))
    await expect(results.at(-1)).rejects.toSatisfy(closed)
    await Promise.allSettled(results.map((sent) => Promise.resolve(sent)))
    await expect(readAll(server)).rejects.toSatisfy((error) => TransportError.is(error) && error.kind === 'too-large')
  })

  test('delivers what was sent before the close, then both iterations end and nothing can be sent', async () => {
    const [client, server] = createMemoryPair()
    const reading = readAll(client)
    void client.send(request(1))
    await client[Symbol.asyncDispose]()
    await client[Symbol.asyncDispose]()
    expect(await readAll(server)).toEqual([request(1)])
    expect(await reading).toEqual([])
    await expect(client.send(request(2))).rejects.toSatisfy(closed)
    await expect(server.send(request(3))).rejects.toSatisfy(closed)
  })

  test.each(['break', 'throw'] as const)('a consumer that leaves by %s closes the connection', async (way) => {
    const [client, server] = createMemoryPair()
    void client.send(request(1))
    const leave = async (): Promise<string> => {
      for await (const _ of server.inbound) {
        if (way === 'throw') throw new Error('throw')
        break
      }
      return 'break'
    }
    expect(await leave().catch((error: Error) => error.message)).toBe(way)
    expect(await readAll(client)).toEqual([])
    await expect(client.send(request(2))).rejects.toSatisfy(closed)
  })

  test('a sender who does not look does no harm when the other end has left', async () => {
    const [client, server] = createMemoryPair()
    await client[Symbol.asyncDispose]()
    const unhandled: unknown[] = []
    const note = (reason: unknown): void => void unhandled.push(reason)
    process.on('unhandledRejection', note)
    void server.send({ kind: 'result', id: 1, result: {} })
    await new Promise((resolve) => setTimeout(resolve, 5))
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
  })

  test('messages that cross a close are dropped', async () => {
    const [client, server] = createMemoryPair()
    void server.send({ kind: 'result', id: 1, result: {} })
    await client[Symbol.asyncDispose]()
    expect(await readAll(client)).toEqual([])
    expect(await readAll(server)).toEqual([])
  })
})
