import type { Dispatcher, Principal, ServerView, Viewer } from '@atenea/mcpcompat'
import type { BackendStatus } from './status.ts'

/** Whose connection to a backend is meant: that of a caller, or of somebody who looks at what is offered. A `CallContext` is one. */
export interface BackendClient extends Viewer {
  readonly principal: Principal
}

/**
 * One backend as merging sees it: always there, connected when needed, of no era. Everything is in the words of the neutral model, with the
 * backend's own names.
 *
 * - `call` is made on the connection of its caller. Failures are `RpcError`s that may go to the caller as they are. A listen stays open
 *   over lost connections: it is acknowledged once, and after a gap tells what may have been missed (BR-131, BR-235).
 * - `notify` reaches the backend only where it keeps a session for that client.
 * - `view` connects when it must, and rejects with an `RpcError` when it cannot. It is there at once when it is known.
 * - `drain` ends listens with their result and refuses new ones.
 */
export interface BackendPort extends Dispatcher {
  readonly name: string
  /** What it offered last to anybody; `undefined` before the first connection. Never connects. */
  readonly lastView: ServerView | undefined
  /**
   * Names the connection that this client gets. What was listed on one connection holds for the others of the same partition and for no
   * others. Never connects; the name may be another one once the backend has shown whether it keeps sessions.
   */
  partitionOf(client: BackendClient): string
  status(): BackendStatus
}
