import type { Implementation } from '@atenea/mcpcompat'

/**
 * `idle`: nobody has needed it yet. `waiting`: the last try failed or its connection was lost, and the next try may come at `retryAt`.
 * `failing`: what stands for a connection is there, as over HTTP, but the last call could not reach the backend.
 */
export type BackendState = 'idle' | 'connecting' | 'ready' | 'failing' | 'waiting' | 'closed'

/** The truth about one backend, for `/readyz` and `status`. Times are milliseconds since 1970. */
export interface BackendStatus {
  readonly name: string
  readonly state: BackendState
  /** Since when it is in this state. */
  readonly since: number
  /** The revision that was asked for, and the one that the backend has shown; `undefined` before the first connection. */
  readonly requested: string | undefined
  readonly observed: string | undefined
  /** The row of the decisions' tables that told its era, where something had to be found out. */
  readonly row: string | undefined
  readonly info: Implementation | undefined
  /** Connections that are open: one, or one for each client where the backend keeps sessions. */
  readonly connections: number
  readonly openCalls: number
  /** Connections that were made after an earlier one was lost. */
  readonly restarts: number
  /** What went wrong last; kept after it has been made good, with its time. Holds no secret. */
  readonly lastError: { readonly message: string; readonly at: number } | undefined
  readonly retryAt: number | undefined
  /** URIs of the roots that it is told of where no client has any; none of one that keeps no sessions, since it asks only in calls. */
  readonly roots: readonly string[]
}

export interface PassthroughStatus {
  readonly backends: readonly BackendStatus[]
}
