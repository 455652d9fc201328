import type { Connection, Inbound } from '../../src/contract/connection.ts'
import type { Principal } from '../../src/contract/context.ts'
import { type Channel, channel } from '../../src/contract/streams.ts'
import { withResolvers } from '../../src/contract/with-resolvers.ts'
import { encodeMessage } from '../../src/jsonrpc/encode.ts'
import { TransportError } from '../../src/jsonrpc/errors.ts'
import type { JsonObject } from '../../src/jsonrpc/json.ts'
import { parseMessage } from '../../src/jsonrpc/parse.ts'

/** The other end of a connection, in raw lines: what SDKs cannot send, and exactly what was written. */
export interface RawPeer {
  /** The end that the code under test holds. */
  readonly connection: Connection
  /** Hands lines over as one chunk. Objects are written as JSON. */
  write(...lines: readonly (JsonObject | string | readonly unknown[])[]): void
  /** The next message that was sent to this peer; waits for it. */
  read(): Promise<JsonObject>
  /** Everything that was sent so far and not read, after all that is due in this turn has run. */
  rest(): Promise<readonly JsonObject[]>
  /** Text of everything that was ever sent, one message a line. */
  readonly written: readonly string[]
  /** This peer writes no more; it still reads. */
  end(): void
  /** The connection breaks. */
  break(reason?: TransportError): void
  /** Makes `send` wait until `drink` is called. */
  stopReading(): void
  drink(): void
  readonly closed: boolean
  /** Hears of each message in the moment in which it is sent. */
  onSend: ((message: JsonObject) => void) | undefined
}

const local: Principal = { id: 'local', authenticated: true }

export function createRawPeer(principal: Principal = local, payload: 'parsed' | 'text' = 'parsed'): RawPeer {
  const written: string[] = []
  const unread: JsonObject[] = []
  let reader: ((message: JsonObject) => void) | undefined
  let closed = false
  let pressure: { readonly promise: Promise<void>; readonly release: () => void } | undefined
  const inbound: Channel<readonly Inbound[]> = channel({
    waitAtBytes: Number.MAX_SAFE_INTEGER,
    maxBytes: Number.MAX_SAFE_INTEGER,
    onStop: () => {
      closed = true
    },
  })
  const connection: Connection = {
    inbound,
    send(message) {
      if (closed) return Promise.reject(new TransportError('closed', 'closed'))
      const line = encodeMessage(message)
      written.push(line)
      const value = JSON.parse(line) as JsonObject
      peer.onSend?.(value)
      if (reader === undefined) unread.push(value)
      else {
        const deliver = reader
        reader = undefined
        deliver(value)
      }
      return pressure?.promise
    },
    [Symbol.asyncDispose]() {
      closed = true
      pressure?.release()
      inbound.end()
      return Promise.resolve()
    },
  }
  const peer: RawPeer = {
    connection,
    written,
    onSend: undefined,
    write(...lines) {
      const batch = lines.map((line) => ({
        message: parseMessage(typeof line === 'string' ? line : JSON.stringify(line), payload),
        hints: {},
        principal,
      }))
      void inbound.push(batch, 1)
    },
    read() {
      const next = unread.shift()
      if (next !== undefined) return Promise.resolve(next)
      return new Promise((resolve, reject) => {
        const deadline = setTimeout(() => {
          reader = undefined
          reject(new Error('nothing was sent within 2 s'))
        }, 2_000)
        reader = (message) => {
          clearTimeout(deadline)
          resolve(message)
        }
      })
    },
    async rest() {
      await turn()
      return unread.splice(0)
    },
    end: () => inbound.end(),
    break: (reason = new TransportError('closed', 'broken')) => inbound.fail(reason),
    stopReading() {
      const { promise, resolve } = withResolvers<void>()
      pressure = { promise, release: resolve }
    },
    drink() {
      pressure?.release()
      pressure = undefined
    },
    get closed() {
      return closed
    },
  }
  return peer
}

/** Lets everything run that is due now, promises and their followers included. */
export async function turn(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve))
}
