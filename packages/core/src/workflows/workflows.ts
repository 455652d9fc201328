import { type AbortOptions, type JsonValue, type Principal, toText } from '@atenea/mcpcompat'
import { ToolError } from '../tool-error.ts'
import type { WorkflowKey, WorkflowRecord, WorkflowStore } from './store.ts'

/** Durable state of the application under an explicit identifier, which the caller passes with each call. */
export interface Workflow {
  /** Opaque, 160 random bits. Knowing it is not enough: it works for its owner only. */
  readonly id: string
  readonly state: JsonValue
  /** 1 when created, one more with each change. Pass it on to be sure that nothing came between. */
  readonly version: number
  /** A completed workflow can be read until it expires, and not changed any more. */
  readonly completed: boolean
  /** Milliseconds since 1970, as the two that follow. */
  readonly createdAt: number
  readonly updatedAt: number
  readonly expiresAt: number
}

export interface CreateWorkflowsOptions {
  /** Owned by whoever made it: it is not closed with the workflows. */
  readonly store: WorkflowStore
  /** Milliseconds that a workflow lives after its last change. Default one day. */
  readonly ttlMs?: number | undefined
  /** Bytes of JSON text that a state may have. Default 1 MiB. */
  readonly maxStateBytes?: number | undefined
  /** Live workflows that one owner may have, completed ones included. Default 1,000. */
  readonly maxPerOwner?: number | undefined
  /** Milliseconds since 1970. Default `Date.now`. */
  readonly now?: (() => number) | undefined
}

export interface WorkflowOptions extends AbortOptions {
  /** Milliseconds that it lives from now on. Default that of `createWorkflows`. */
  readonly ttlMs?: number | undefined
}

/** All workflows of one application. */
export interface Workflows {
  /**
   * Those of one owner and one kind. Handlers should get this and not `Workflows`, so that they can name nobody else's. All
   * that share a listener without authentication are one principal and share their workflows.
   */
  of(principal: Principal, kind: string): OwnedWorkflows
}

/**
 * The workflows of one owner and one kind. An id that is unknown, foreign, expired or of another kind is one and the same
 * `WorkflowNotFoundError`.
 */
export interface OwnedWorkflows {
  /** A `WorkflowLimitError` when the owner has too many. */
  create(state: JsonValue, options?: WorkflowOptions): Promise<Workflow>
  load(id: string, options?: AbortOptions): Promise<Workflow>
  /** Changes the version that the caller has seen. A `WorkflowConflictError` when it is not the newest, or completed. */
  update(seen: SeenWorkflow, state: JsonValue, options?: WorkflowOptions): Promise<Workflow>
  /**
   * Loads, lets `change` make the next state, and updates, over again as long as somebody else was faster. `change` may thus
   * run several times and must do nothing else. What it throws ends it, with nothing changed.
   */
  modify(
    id: string,
    change: (state: JsonValue) => JsonValue | Promise<JsonValue>,
    options?: WorkflowOptions,
  ): Promise<Workflow>
  /** The last change. `state` is what callers that come again are answered from until it expires. */
  complete(seen: SeenWorkflow, state: JsonValue, options?: WorkflowOptions): Promise<Workflow>
  /** Ends it now, in whatever state it is. Its id is unknown from then on. */
  expire(id: string, options?: AbortOptions): Promise<void>
}

export type SeenWorkflow = Pick<Workflow, 'id' | 'version'>

// These three are for the model to read, so a handler may let them pass.

/** No workflow of that kind belongs to that owner under that id, or not any more. Says the same whichever it is. */
export class WorkflowNotFoundError extends ToolError {
  override readonly name: string = 'WorkflowNotFoundError'

  constructor() {
    super('There is no such workflow. It may have expired; start a new one.')
  }
}

/** Somebody else changed the workflow, or completed it. Load it again and decide anew. */
export class WorkflowConflictError extends ToolError {
  override readonly name: string = 'WorkflowConflictError'
  readonly completed: boolean

  constructor(completed: boolean) {
    super(
      completed ? 'The workflow is completed and cannot be changed any more.' : 'The workflow was changed meanwhile.',
    )
    this.completed = completed
  }
}

/** More than the limits allow: too many workflows of one owner, or too large a state. */
export class WorkflowLimitError extends ToolError {
  override readonly name: string = 'WorkflowLimitError'
}

const dayMs = 86_400_000
const pruneEveryMs = 60_000
/** Each lost race means that somebody else got ahead, so this is far above what a working application sees. */
const maxAttempts = 1_000

/** Makes workflows on a store. */
export function createWorkflows(options: CreateWorkflowsOptions): Workflows {
  const context: WorkflowContext = {
    store: options.store,
    ttlMs: options.ttlMs ?? dayMs,
    maxStateBytes: options.maxStateBytes ?? 1_048_576,
    maxPerOwner: options.maxPerOwner ?? 1_000,
    now: options.now ?? Date.now,
    prunedAt: 0,
  }
  return { of: (principal, kind) => new StoredWorkflows(context, principal.id, kind) }
}

interface WorkflowContext {
  readonly store: WorkflowStore
  readonly ttlMs: number
  readonly maxStateBytes: number
  readonly maxPerOwner: number
  readonly now: () => number
  /** When the store was last told to forget what has expired. */
  prunedAt: number
}

class StoredWorkflows implements OwnedWorkflows {
  readonly #context: WorkflowContext
  readonly #owner: string
  readonly #kind: string

  constructor(context: WorkflowContext, owner: string, kind: string) {
    this.#context = context
    this.#owner = owner
    this.#kind = kind
  }

  async create(state: JsonValue, options: WorkflowOptions = {}): Promise<Workflow> {
    const { store, maxPerOwner, now } = this.#context
    const createdAt = now()
    if (createdAt - this.#context.prunedAt >= pruneEveryMs) {
      this.#context.prunedAt = createdAt
      await store.prune(createdAt, options)
    }
    const record: WorkflowRecord = {
      ...this.#key(newId()),
      state: this.#text(state),
      version: 1,
      completed: false,
      createdAt,
      updatedAt: createdAt,
      expiresAt: this.#expiry(createdAt, options),
    }
    if (!(await store.insert(record, maxPerOwner, options))) {
      throw new WorkflowLimitError(
        `There are ${maxPerOwner} workflows already. Finish some, or wait until they expire.`,
      )
    }
    return toWorkflow(record)
  }

  async load(id: string, options: AbortOptions = {}): Promise<Workflow> {
    const record = await this.#context.store.find(this.#key(id), this.#context.now(), options)
    if (record === undefined) throw new WorkflowNotFoundError()
    return toWorkflow(record)
  }

  async update(seen: SeenWorkflow, state: JsonValue, options: WorkflowOptions = {}): Promise<Workflow> {
    return await this.#replace(seen, state, false, options)
  }

  async complete(seen: SeenWorkflow, state: JsonValue, options: WorkflowOptions = {}): Promise<Workflow> {
    return await this.#replace(seen, state, true, options)
  }

  async modify(
    id: string,
    change: (state: JsonValue) => JsonValue | Promise<JsonValue>,
    options: WorkflowOptions = {},
  ): Promise<Workflow> {
    for (let attempt = 1; ; attempt++) {
      options.signal?.throwIfAborted()
      const seen = await this.load(id, options)
      if (seen.completed) throw new WorkflowConflictError(true)
      const state = await change(seen.state)
      try {
        return await this.update(seen, state, options)
      } catch (error) {
        if (!(error instanceof WorkflowConflictError) || error.completed || attempt === maxAttempts) throw error
      }
    }
  }

  async expire(id: string, options: AbortOptions = {}): Promise<void> {
    const removed = await this.#context.store.remove(this.#key(id), this.#context.now(), options)
    if (!removed) throw new WorkflowNotFoundError()
  }

  async #replace(
    seen: SeenWorkflow,
    state: JsonValue,
    completed: boolean,
    options: WorkflowOptions,
  ): Promise<Workflow> {
    const { store, now } = this.#context
    const key = this.#key(seen.id)
    const updatedAt = now()
    const change = { state: this.#text(state), completed, updatedAt, expiresAt: this.#expiry(updatedAt, options) }
    const replaced = await store.replace(key, seen.version, change, options)
    if (replaced !== undefined) return toWorkflow(replaced)
    const current = await store.find(key, updatedAt, options)
    throw current === undefined ? new WorkflowNotFoundError() : new WorkflowConflictError(current.completed)
  }

  #key(id: string): WorkflowKey {
    return { id, owner: this.#owner, kind: this.#kind }
  }

  #text(state: JsonValue): string {
    const text = toText(state)
    const { maxStateBytes } = this.#context
    // No character takes more than three bytes, so most texts need not be counted.
    if (text.length * 3 > maxStateBytes && new TextEncoder().encode(text).length > maxStateBytes) {
      throw new WorkflowLimitError(`The state of a workflow may have ${maxStateBytes} bytes.`)
    }
    return text
  }

  #expiry(now: number, { ttlMs = this.#context.ttlMs }: WorkflowOptions): number {
    if (!(ttlMs > 0 && ttlMs < Number.MAX_SAFE_INTEGER - now)) throw new RangeError(`${ttlMs} ms is no time to live`)
    return Math.ceil(now + ttlMs)
  }
}

function toWorkflow(record: WorkflowRecord): Workflow {
  const { id, version, completed, createdAt, updatedAt, expiresAt } = record
  return { id, state: JSON.parse(record.state) as JsonValue, version, completed, createdAt, updatedAt, expiresAt }
}

function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(20))
  return `wf_${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
