import type { AbortOptions } from '@atenea/mcpcompat'

/** What a store keeps of a workflow. Times are milliseconds since 1970. */
export interface WorkflowRecord {
  readonly id: string
  /** Id of the principal to whom it belongs. */
  readonly owner: string
  /** What the workflow is for. An id of one kind names nothing in another. */
  readonly kind: string
  /** JSON text. */
  readonly state: string
  /** 1 when created, one more with each change. */
  readonly version: number
  readonly completed: boolean
  readonly createdAt: number
  readonly updatedAt: number
  /** From then on it counts as gone, whether or not it was pruned. */
  readonly expiresAt: number
}

/** Names a workflow. Only all three together find one, so that a foreign id is like an unknown one. */
export type WorkflowKey = Pick<WorkflowRecord, 'id' | 'owner' | 'kind'>

export type WorkflowChange = Pick<WorkflowRecord, 'state' | 'completed' | 'updatedAt' | 'expiresAt'>

/**
 * Where workflows are kept. Every method is atomic, also against other processes on the same store, and once it has
 * resolved, what it did survives the death of the process as far as the store promises that at all. `now` comes from the
 * caller, so that one clock decides.
 */
export interface WorkflowStore extends AsyncDisposable {
  /** Keeps a new record. False, and nothing kept, when its owner has `limit` records already that have not expired. */
  insert(record: WorkflowRecord, limit: number, options?: AbortOptions): Promise<boolean>
  /** The record, or `undefined` when there is none or it has expired. */
  find(key: WorkflowKey, now: number, options?: AbortOptions): Promise<WorkflowRecord | undefined>
  /**
   * Puts a change in the place of exactly this version, which becomes the next one, and returns the new record. `undefined`,
   * and nothing changed, when there is no such record of that version, or it is completed or expired at `updatedAt`.
   */
  replace(
    key: WorkflowKey,
    version: number,
    change: WorkflowChange,
    options?: AbortOptions,
  ): Promise<WorkflowRecord | undefined>
  /** Forgets a record. False when there was none, or it had expired. */
  remove(key: WorkflowKey, now: number, options?: AbortOptions): Promise<boolean>
  /** Forgets what has expired. */
  prune(now: number, options?: AbortOptions): Promise<void>
}
