import { TransportError, toObject } from '@atenea/mcpcompat'
import type { Connection, RpcMessage, RpcReject, RpcRequest } from '@atenea/mcpcompat/transport'
import { describe, expect, test } from 'vitest'

export interface ConnectionSuiteSetup {
  /** Makes a connection to a peer that runs `runEchoPeer`. The suite disposes it. */
  open(): Promise<Connection>
  /** Resolves when the peers of all connections have ended and nothing of them is left; fails when something stays. */
  allGone(): Promise<void>
  /** The id of the principal that the peer sees. */
  readonly principal: string
}

/** What every duplex carrier owes to those who send and read messages (MS-FRM-01, MS-FRM-06, MS-MSG-03, D4, D16, D19). */
export function connectionSuite(name: string, setup: ConnectionSuiteSetup): void {
  describe(`connection over ${name}`, () => {
    async function withConnection(use: (connection: Connection, next: Next) => Promise<void>): Promise<void> {
      const connection = await setup.open()
      try {
        await use(connection, nextOf(connection))
      } finally {
        await connection[Symbol.asyncDispose]()
      }
      await setup.allGone()
    }

    test('requests are answered, with ids of their own type', async () => {
      await withConnection(async (connection, next) => {
        for (const id of [1, '1', 0, '', -1, 9_007_199_254_740_991]) {
          void connection.send(request(id, 'echo', { id }))
          expect(await next()).toEqual({ kind: 'result', id, result: { id } })
        }
      })
    })

    test('notifications cross in both directions', async () => {
      await withConnection(async (connection, next) => {
        void connection.send({ kind: 'notification', method: 'n', params: { a: [1, null, { b: false }] } })
        expect(await next()).toEqual({ kind: 'notification', method: 'n', params: { a: [1, null, { b: false }] } })
      })
    })

    test('the peer is told who is there', async () => {
      await withConnection(async (connection, next) => {
        void connection.send(request(1, 'principal'))
        expect(await next()).toMatchObject({ result: { id: setup.principal, authenticated: true } })
      })
    })

    test('MS-FRM-01, MC-MSG-02, D4, D19: text of every kind arrives as it was, well-formed', async () => {
      const texts = ['読み🎉é', 'a\nb\r\nc', '\u2028\u2029\u0085', '\u0000\u001f\u007f', '\ufeff', '"\\/', '__proto__']
      await withConnection(async (connection, next) => {
        void connection.send(request(1, 'echo', { texts }))
        expect(await next()).toEqual({ kind: 'result', id: 1, result: { texts } })
        void connection.send(request(2, 'echo', { text: 'x\ud83d' }))
        expect(await next()).toEqual({ kind: 'result', id: 2, result: { text: 'x\ufffd' } })
      })
    })

    test.each([100, 70_000, 3_000_000])('a message of %i characters arrives whole', async (size) => {
      await withConnection(async (connection, next) => {
        const text = '読x'.repeat(size / 2)
        void connection.send(request(1, 'echo', { text }))
        expect(await next()).toEqual({ kind: 'result', id: 1, result: { text } })
      })
    })

    test('messages keep their order', async () => {
      await withConnection(async (connection, next) => {
        for (let id = 0; id < 500; id += 1) void connection.send(request(id, 'echo', { id }))
        for (let id = 0; id < 500; id += 1) expect(await next()).toMatchObject({ id })
      })
    })

    test('D16: a slow answer holds nothing up', async () => {
      await withConnection(async (connection, next) => {
        void connection.send(request('slow', 'later', { ms: 300 }))
        void connection.send(request('quick', 'echo'))
        expect(await next()).toMatchObject({ id: 'quick' })
        expect(await next()).toMatchObject({ id: 'slow' })
      })
    })

    test('a sender is told to wait for a reader that does not read, and nothing is lost', async () => {
      await withConnection(async (connection, next) => {
        const count = 300
        void connection.send(request('end', 'flood', { count, size: 64 * 1024 }))
        await new Promise((resolve) => {
          setTimeout(resolve, 300)
        })
        for (let index = 0; index < count; index += 1) {
          const message = await next()
          expect(message?.kind === 'notification' && toObject(message.params ?? {})['index']).toBe(index)
        }
        expect(await next()).toEqual({ kind: 'result', id: 'end', result: { waited: true } })
      })
    })

    test('both sides can send much at once', async () => {
      await withConnection(async (connection, next) => {
        const text = 'y'.repeat(200_000)
        for (let id = 0; id < 40; id += 1) void connection.send(request(id, 'echo', { text }))
        for (let id = 0; id < 40; id += 1) expect(await next()).toMatchObject({ kind: 'result', id })
      })
    })

    test('a peer that leaves ends the iteration, and what is sent then is refused', async () => {
      await withConnection(async (connection, next) => {
        void connection.send(request(1, 'leave'))
        const end = await next().catch((error: unknown) => error)
        expect(end === undefined || (TransportError.is(end) && end.kind === 'closed')).toBe(true)
        await expect(refusal(connection)).resolves.toMatchObject({ kind: 'closed' })
      })
    })

    test('break closes the connection and the peer notices', async () => {
      const connection = await setup.open()
      void connection.send(request(1, 'echo'))
      for await (const _batch of connection.inbound) break
      await expect(connection.send(request(2, 'echo'))).rejects.toMatchObject({ kind: 'closed' })
      await setup.allGone()
    })

    test('dispose ends a waiting reader in order, and may be called again', async () => {
      const connection = await setup.open()
      const waiting = nextOf(connection)()
      await connection[Symbol.asyncDispose]()
      await connection[Symbol.asyncDispose]()
      expect(await waiting).toBeUndefined()
      await setup.allGone()
    })

    test('there is one reader', async () => {
      await withConnection(async (connection) => {
        expect(() => connection.inbound[Symbol.asyncIterator]()).toThrow(TypeError)
        await Promise.resolve()
      })
    })
  })
}

type Next = () => Promise<RpcMessage | RpcReject | undefined>

/** One message after another; `undefined` at the end. */
function nextOf(connection: Connection): Next {
  const iterator = connection.inbound[Symbol.asyncIterator]()
  const held: (RpcMessage | RpcReject)[] = []
  return async () => {
    if (held.length === 0) {
      const step = await iterator.next()
      if (step.done === true) return undefined
      held.push(...step.value.map(({ message }) => message))
    }
    return held.shift()
  }
}

/** Sends until it is refused: a carrier may learn only from a write that its peer has left. */
async function refusal(connection: Connection): Promise<unknown> {
  for (let id = 0; id < 500; id += 1) {
    try {
      await connection.send(request(id, 'echo'))
    } catch (error) {
      return error
    }
    await new Promise((resolve) => {
      setTimeout(resolve, 10)
    })
  }
  return undefined
}

function request(id: RpcRequest['id'], method: string, params?: RpcRequest['params']): RpcRequest {
  return { kind: 'request', id, method, params }
}
