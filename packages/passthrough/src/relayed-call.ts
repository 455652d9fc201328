import { type AbortWatcher, type Call, type CallContext, notice as noticeName, type Peer } from '@atenea/mcpcompat'
import { DelegatedContext } from '@atenea/mcpcompat/transport'
import type { Lease } from './asking-pool.ts'
import type { Limited } from './deadlines.ts'

/** How long a call may take, in milliseconds. */
export interface CallLimits {
  /** Without an answer or progress. */
  readonly callTimeoutMs: number
  /** Whatever progress it makes. */
  readonly maxCallMs: number
}

export interface RelayedCallOptions {
  readonly call: Call
  /** The context of the caller. */
  readonly origin: CallContext
  /** How the caller is shown to the backend, where that is not as it is. */
  readonly shownAs: ((peer: Peer) => Peer) | undefined
  readonly limits: CallLimits
  readonly now: () => number
}

/**
 * The context with which a call goes to a backend: that of its caller, which also ends when the backend takes too long. Progress gives it
 * more time, up to a ceiling. Made for every call, so nothing in it is made before it is needed.
 */
export class RelayedCall extends DelegatedContext implements AbortWatcher, Limited {
  readonly call: Call
  dueAt: number
  before: Limited | undefined
  after: Limited | undefined
  /** The connection that the call has to itself, where it has one. */
  lease: Lease | undefined
  /** Set when the backend took too long: how long it had been given. */
  expiredAfterMs: number | undefined
  readonly #shownAs: RelayedCallOptions['shownAs']
  readonly #limits: CallLimits
  readonly #startedAt: number
  readonly #now: () => number
  #abort: AbortController | undefined
  #watcher: AbortWatcher | undefined
  #isAttached = false

  constructor({ call, origin, shownAs, limits, now }: RelayedCallOptions) {
    super(origin)
    this.call = call
    this.#shownAs = shownAs
    this.#limits = limits
    this.#now = now
    this.#startedAt = now()
    this.dueAt = this.#startedAt + Math.min(limits.callTimeoutMs, limits.maxCallMs)
  }

  override get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController()
      if (isAborted(this.origin)) this.#abort.abort(this.origin.signal.reason)
      else this.#attach()
    }
    return this.#abort.signal
  }

  get isAborted(): boolean {
    return this.expiredAfterMs !== undefined || isAborted(this.origin)
  }

  watch(watcher: AbortWatcher): void {
    this.#watcher = watcher
    this.#attach()
  }

  unwatch(watcher: AbortWatcher): void {
    if (this.#watcher === watcher) this.#watcher = undefined
  }

  /** The caller has given up, or time is. */
  aborted(reason: unknown): void {
    this.#abort?.abort(reason)
    const watcher = this.#watcher
    this.#watcher = undefined
    watcher?.aborted(reason)
  }

  override get peer(): Peer {
    const { peer } = this.origin
    return this.#shownAs === undefined ? peer : this.#shownAs(peer)
  }

  /** A caller that is shown as somebody else cannot be passed on as it came. */
  get source(): CallContext['source'] {
    return this.#shownAs === undefined ? this.origin.source : undefined
  }

  override emit(notice: Call): void | Promise<void> {
    if (notice.method === noticeName.progress) {
      this.dueAt = Math.min(this.#startedAt + this.#limits.maxCallMs, this.#now() + this.#limits.callTimeoutMs)
    }
    return this.origin.emit(notice)
  }

  expire(): void {
    this.expiredAfterMs = Math.round(this.#now() - this.#startedAt)
    this.aborted(new DOMException(`no answer within ${this.expiredAfterMs} ms`, 'TimeoutError'))
  }

  /** The call is over: nothing stays attached to its caller. */
  end(): void {
    if (!this.#isAttached) return
    if (this.origin.unwatch === undefined) this.origin.signal.removeEventListener('abort', this.#onSignal)
    else this.origin.unwatch(this)
  }

  #attach(): void {
    if (this.#isAttached) return
    this.#isAttached = true
    if (this.origin.watch === undefined) this.origin.signal.addEventListener('abort', this.#onSignal, { once: true })
    else this.origin.watch(this)
  }

  get #onSignal(): () => void {
    this.#listener ??= () => this.aborted(this.origin.signal.reason)
    return this.#listener
  }

  #listener: (() => void) | undefined
}

/** Whether a caller has given up, without making a signal to find out. */
export function isAborted(context: CallContext): boolean {
  return context.isAborted ?? context.signal.aborted
}
