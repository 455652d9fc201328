import type { RpcMessage, RpcReject } from '../jsonrpc/message.ts'
import type { SendOptions } from './connection.ts'
import type { WireHints } from './context.ts'
import type { Clock } from './clock.ts'
import type { Dispatcher } from './dispatcher.ts'

/** The way to one peer, as sessions and clients need it: a hand-off for messages, and time. */
export interface PeerPort {
  /** Hands a message over, as `Connection.send` does. */
  send(message: RpcMessage, options?: SendOptions): void | Promise<void>
  /** The platform's clock when absent. */
  readonly clock?: Clock | undefined
  /**
   * Whether what the peer sends by itself arrives here, outside of answers to requests. A carrier without a way for that says `false`;
   * where it has yet to show, a promise that never rejects. Absent: it arrives.
   */
  hearsUnasked?(): boolean | Promise<boolean>
  /** Whether the peer would hear now what belongs to none of its requests. Absent: it would. */
  readonly isReachable?: boolean
}

/**
 * A client of one peer: a `Dispatcher` that is fed what the peer sends. Whoever owns the carrier reads it and hands every
 * message to `receive`, in order and without waiting; that one reader is also how an era is found out before a client exists.
 */
export interface ClientPeer extends Dispatcher {
  /** Takes one message, or the note that something came which is none. Never throws for what a peer sent. */
  receive(message: RpcMessage | RpcReject, hints?: WireHints): void
  /** We are about to end the carrier: the peer is told that nobody waits for its answers any more, so that it can stop its work. */
  abandon(): void
  /**
   * The carrier has ended. Every open call fails at once with a `TransportError`: of kind `unknown-outcome` when its request
   * was handed over, of kind `closed` otherwise and for all later calls.
   */
  closed(cause?: unknown): void
  /** How many calls and listens are waiting for their outcome. */
  readonly openCalls: number
}
