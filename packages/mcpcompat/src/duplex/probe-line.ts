import type { Connection } from '../contract/connection.ts'
import { createIds } from '../contract/ids.ts'
import type { WireHints } from '../contract/context.ts'
import type { ClientPeer, PeerPort } from '../contract/peer-port.ts'
import type { Clock } from '../contract/clock.ts'
import type { RpcId, RpcMessage, RpcReject } from '../jsonrpc/message.ts'

/** Takes what a peer sends, in order, without waiting. */
export type Receive = (message: RpcMessage | RpcReject, hints: WireHints) => void

/** How a connection ended: in order, or with an error. */
export interface LineEnd {
  readonly error: unknown
}

/**
 * One connection to a peer whose messages go to one receiver after another: first the probe, then the handshake, then the client. What
 * comes while there is no receiver waits for the next one, so nothing is lost in between.
 */
export class ProbeLine {
  readonly port: PeerPort
  /** Resolves when the peer or we have ended the connection. Never rejects. */
  readonly ended: Promise<LineEnd>
  readonly #connection: Connection
  readonly #ids = createIds()
  #lastId: RpcId | undefined
  #receive: Receive | undefined
  #waiting: (readonly [message: RpcMessage | RpcReject, hints: WireHints])[] = []

  constructor(connection: Connection, clock: Clock | undefined) {
    this.#connection = connection
    this.port = { send: (message, options) => connection.send(message, options), clock }
    this.ended = this.#read()
  }

  /** An id that no other request on this connection has: the probe, the handshake and the client all take theirs here (MC-ID-02). */
  readonly nextId = (): RpcId => (this.#lastId = this.#ids())

  /** The id that was given last. */
  get lastId(): RpcId | undefined {
    return this.#lastId
  }

  /** From now on this one gets what comes, beginning with what has waited. `undefined`: let it wait. */
  handTo(receive: Receive | undefined): void {
    this.#receive = receive
    const waiting = this.#waiting
    this.#waiting = []
    for (const [message, hints] of waiting) this.#take(message, hints)
  }

  /** From now on a client gets what comes, and learns of the end. */
  attach(client: ClientPeer, receive: Receive = (message, hints) => client.receive(message, hints)): void {
    void this.ended.then(({ error }) => client.closed(error))
    this.handTo(receive)
  }

  /** Keeps a message for the receiver after the present one. */
  keep(message: RpcMessage | RpcReject, hints: WireHints): void {
    this.#waiting.push([message, hints])
  }

  /** Ends the connection, and resolves when that is done. */
  async close(): Promise<void> {
    await this.#connection[Symbol.asyncDispose]()
  }

  #take(message: RpcMessage | RpcReject, hints: WireHints): void {
    if (this.#receive === undefined) this.#waiting.push([message, hints])
    else this.#receive(message, hints)
  }

  async #read(): Promise<LineEnd> {
    try {
      for await (const batch of this.#connection.inbound) {
        for (const { message, hints } of batch) this.#take(message, hints)
      }
      return { error: undefined }
    } catch (error) {
      return { error }
    }
  }
}
