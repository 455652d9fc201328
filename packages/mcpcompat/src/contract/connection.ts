import type { RpcId, RpcMessage, RpcReject } from '../jsonrpc/message.ts'
import type { Principal, WireHints } from './context.ts'

/** One message as it arrived, or why it is none. */
export interface Inbound {
  readonly message: RpcMessage | RpcReject
  readonly hints: WireHints
  readonly principal: Principal
}

export interface SendOptions {
  /** The request to which this message belongs. Carriers with several streams put it on the stream of that request. */
  readonly relatedTo?: RpcId
}

/**
 * A duplex carrier: framing, no correlation, no meaning. One consumer iterates `inbound`; ending the iteration (`break`, an
 * exception, `asyncDispose`) closes the connection, and its end means that teardown is finished. A connection that broke
 * throws a `TransportError` from the iteration; one that ended in order just ends.
 */
export interface Connection extends AsyncDisposable {
  /** One batch for each chunk read, never empty. Reading goes on while handlers run. */
  readonly inbound: AsyncIterable<readonly Inbound[]>
  /**
   * Hands a message over; those of one tick go out together. Returns a promise only when the peer reads too slowly: wait for
   * it before sending much more; it settles at the latest when the connection closes. Rejects with a `TransportError` of kind
   * `closed` when the message cannot leave any more.
   */
  send(message: RpcMessage, options?: SendOptions): void | Promise<void>
}
