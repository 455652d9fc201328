import { type JsonObject, TransportError } from '@atenea/mcpcompat'
import { channel, type Connection, encodeMessage, type Inbound, parseMessage } from '@atenea/mcpcompat/transport'

/** One message as it went over the wire. */
export interface Line {
  readonly text: string
  readonly value: Message
}

export interface Message extends JsonObject {
  readonly id?: number | string
  readonly method?: string
  readonly params?: JsonObject
  readonly result?: JsonObject
  readonly error?: JsonObject & { readonly code: number; readonly message: string }
}

/** The far end of a connection, in raw lines: what no SDK can send, and exactly what was written. */
export interface Wire {
  /** The end that the code under test holds. Payloads come as text, as for everybody who relays. */
  readonly connection: Connection
  /** Hands lines over as one chunk. Objects are written as JSON. */
  write(...lines: readonly (JsonObject | string)[]): void
  /** The first line that fits and was not taken yet; waits for it. */
  next(fits?: (message: Message) => boolean): Promise<Line>
  /** Gives a line back that was taken. */
  unread(line: Line): void
  /** What was written and not taken, after all that is due has run. */
  rest(): Promise<readonly Message[]>
  /** The peer ends the connection. */
  end(): void
  break(): void
  /** Nothing can be written to the peer any more, though it has not ended its side. */
  refuseWrites(): void
  readonly closed: boolean
  /** Ids of subscriptions that were acknowledged by themselves; for tests to end. */
  readonly acknowledged: (number | string)[]
}

const local = { id: 'local', authenticated: true }

export function createWire(principal: { id: string; authenticated: boolean } = local): Wire {
  const unread: Line[] = []
  const readers = new Set<() => void>()
  let closed = false
  let refusing = false
  const inbound = channel<readonly Inbound[]>({
    waitAtBytes: Number.MAX_SAFE_INTEGER,
    maxBytes: Number.MAX_SAFE_INTEGER,
    onStop: () => {
      closed = true
    },
  })
  const connection: Connection = {
    inbound,
    send(message) {
      if (closed || refusing) return Promise.reject(new TransportError('closed', 'closed'))
      const text = encodeMessage(message)
      unread.push({ text, value: JSON.parse(text) as Message })
      for (const reader of readers) reader()
    },
    [Symbol.asyncDispose]() {
      closed = true
      inbound.end()
      return Promise.resolve()
    },
  }
  const take = (fits: (message: Message) => boolean): Line | undefined => {
    const index = unread.findIndex(({ value }) => fits(value))
    return index < 0 ? undefined : unread.splice(index, 1)[0]
  }
  return {
    connection,
    write(...lines) {
      const batch = lines.map((line) => ({
        message: parseMessage(typeof line === 'string' ? line : JSON.stringify(line), 'text'),
        hints: {},
        principal,
      }))
      void inbound.push(batch, 1)
    },
    next(fits = () => true) {
      const missing = new Error('nothing that fits within 3 s')
      return new Promise((resolve, reject) => {
        const look = (): boolean => {
          const line = take(fits)
          if (line === undefined) return false
          clearTimeout(deadline)
          readers.delete(look)
          resolve(line)
          return true
        }
        const deadline = setTimeout(() => {
          readers.delete(look)
          missing.message += `; there is ${unread.map(({ text }) => text).join('\n')}`
          reject(missing)
        }, 3_000)
        if (!look()) readers.add(look)
      })
    },
    unread(line) {
      unread.unshift(line)
    },
    async rest() {
      await turn()
      return unread.splice(0).map(({ value }) => value)
    },
    end() {
      closed = true
      inbound.end()
    },
    break() {
      closed = true
      inbound.fail(new TransportError('closed', 'the peer is gone'))
    },
    acknowledged: [],
    refuseWrites() {
      refusing = true
    },
    get closed() {
      return closed
    },
  }
}

/** Lets everything run that is due now, promises and their followers included. */
export async function turn(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve))
}
