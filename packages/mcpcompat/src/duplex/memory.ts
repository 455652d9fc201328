import type { Connection, Inbound } from '../contract/connection.ts'
import type { Principal, WireHints } from '../contract/context.ts'
import { type Channel, channel } from '../contract/streams.ts'
import { encodeMessage } from '../jsonrpc/encode.ts'
import { TransportError } from '../jsonrpc/errors.ts'
import type { RpcMessage } from '../jsonrpc/message.ts'
import { parseMessage } from '../jsonrpc/parse.ts'

export interface CreateMemoryPairOptions {
  /** How payloads come out: `parsed` for those who look into them, `text` for those who relay them. Default `parsed`. */
  readonly payload?: 'parsed' | 'text'
  /** Who both ends take the other one for. Default: `local`, authenticated, as on stdio. */
  readonly principal?: Principal
}

/** Text of one turn that is handed over without waiting for the turn to end. */
const writeAtLength = 64 * 1024
/** Text that may wait for the other end before a sender is told to wait. */
const waitAtBytes = 256 * 1024
const maxBytes = 64 * 1024 * 1024
const local: Principal = Object.freeze({ id: 'local', authenticated: true })
const noHints: WireHints = Object.freeze({})

/**
 * Two connected ends in one process. Every message is written as text and read again, so that what passes here passes on a
 * real carrier: nothing is shared, and what JSON cannot hold fails in `send`. What one end sends in one turn arrives as one
 * batch. An end that is closed delivers what it had sent; then the iteration of the other one ends in order.
 */
export function createMemoryPair(
  options: CreateMemoryPairOptions = {},
): readonly [client: Connection, server: Connection] {
  const client = new MemoryEnd(options)
  const server = new MemoryEnd(options)
  client.connect(server)
  server.connect(client)
  return [client, server]
}

class MemoryEnd implements Connection {
  readonly inbound: Channel<readonly Inbound[]>
  readonly #payload: 'parsed' | 'text'
  readonly #principal: Principal
  #peer: MemoryEnd = this
  #unsent: string[] = []
  #unsentLength = 0
  /** Set while the other end has more waiting than it should. */
  #room: Promise<void> | undefined
  /** Why nothing can be sent any more. */
  #closed: TransportError | undefined

  constructor({ payload = 'parsed', principal = local }: CreateMemoryPairOptions) {
    this.#payload = payload
    this.#principal = principal
    this.inbound = channel({ waitAtBytes, maxBytes, onStop: () => this.#close() })
  }

  connect(peer: MemoryEnd): void {
    this.#peer = peer
  }

  send(message: RpcMessage): void | Promise<void> {
    if (this.#closed !== undefined) {
      // A sender who does not look must not bring the process down because the other end has left.
      const refused = Promise.reject<void>(this.#closed)
      refused.catch(() => undefined)
      return refused
    }
    const text = encodeMessage(message)
    if (this.#unsent.push(text) === 1) queueMicrotask(() => this.#flush())
    this.#unsentLength += text.length
    if (this.#unsentLength >= writeAtLength) this.#flush()
    return this.#room
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#close()
    return Promise.resolve()
  }

  #flush(): void {
    if (this.#unsent.length === 0) return
    const length = this.#unsentLength
    const batch = this.#unsent.map((text) => this.#peer.#read(text))
    this.#unsent = []
    this.#unsentLength = 0
    const room = this.#peer.inbound.push(batch, length)
    this.#room = room ?? undefined
    if (room !== undefined) void room.then(() => this.#roomGiven(room))
    // The push was one too many, and the other end is broken now.
    if (!this.#peer.inbound.open) this.#closed ??= new TransportError('closed', 'the other end does not read')
  }

  #roomGiven(room: Promise<void>): void {
    if (this.#room === room) this.#room = undefined
  }

  #read(text: string): Inbound {
    return { message: parseMessage(text, this.#payload), hints: noHints, principal: this.#principal }
  }

  #close(): void {
    this.#flush()
    this.#closed ??= new TransportError('closed', 'the connection is closed')
    this.inbound.end()
    this.#peer.#closed ??= new TransportError('closed', 'the other end has closed the connection')
    this.#peer.inbound.end()
  }
}
