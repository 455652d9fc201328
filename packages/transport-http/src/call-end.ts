import type { AbortWatcher, CallContext, RpcId } from '@atenea/mcpcompat'
import { type LinkedSignal, maxTimerMs } from '@atenea/mcpcompat/transport'
import type { Ending } from './send.ts'

/**
 * What ends one request: its caller, a time limit, or whoever holds it. Made for every call, so an `AbortSignal` is made only where somebody
 * asks for one. Dispose it, or it stays attached to its caller.
 */
export class CallEnd implements LinkedSignal, Ending, AbortWatcher {
  isAborted = false
  reason: unknown
  /** Neighbours among the requests that are open; set by `OpenRequests`. */
  before: CallEnd | undefined
  after: CallEnd | undefined
  /** Of the request, where it is to be found by it. */
  readonly id: RpcId | undefined
  #controller: AbortController | undefined
  #watcher: AbortWatcher | undefined
  #caller: CallContext | undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(id?: RpcId) {
    this.id = id
  }

  /** Ends when the caller gives up. To be called once, before anything is begun. */
  follow(caller: CallContext): this {
    if (hasEnded(caller)) {
      this.abort(caller.signal.reason)
      return this
    }
    this.#caller = caller
    if (caller.watch === undefined) caller.signal.addEventListener('abort', this, { once: true })
    else caller.watch(this)
    return this
  }

  /** Ends with a `TimeoutError` after so many milliseconds; never for `undefined` and `Infinity`. */
  limit(timeoutMs: number | undefined): this {
    if (timeoutMs === undefined || timeoutMs === Number.POSITIVE_INFINITY || this.isAborted) return this
    const late = (): void => this.abort(new DOMException(`no end within ${timeoutMs} ms`, 'TimeoutError'))
    this.#timer = setTimeout(late, Math.min(timeoutMs, maxTimerMs))
    return this
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.isAborted) this.#controller.abort(this.reason)
    }
    return this.#controller.signal
  }

  watch(watcher: AbortWatcher): void {
    this.#watcher = watcher
  }

  unwatch(watcher: AbortWatcher): void {
    if (this.#watcher === watcher) this.#watcher = undefined
  }

  /** The caller has given up. */
  aborted(reason: unknown): void {
    this.abort(reason)
  }

  abort(reason: unknown = new DOMException('The call was given up', 'AbortError')): void {
    if (this.isAborted) return
    this.isAborted = true
    this.reason = reason
    this[Symbol.dispose]()
    this.#controller?.abort(reason)
    const watcher = this.#watcher
    this.#watcher = undefined
    watcher?.aborted(reason)
  }

  [Symbol.dispose](): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer)
    this.#timer = undefined
    const caller = this.#caller
    if (caller === undefined) return
    this.#caller = undefined
    if (caller.watch === undefined) caller.signal.removeEventListener('abort', this)
    else caller.unwatch?.(this)
  }

  /** What listens to a caller that has nothing but a signal. */
  handleEvent(): void {
    this.abort(this.#caller?.signal.reason)
  }
}

/** The ends of requests that are open. A chain, since a set of what comes and goes keeps much of it alive until a full collection. */
export class OpenRequests {
  #first: CallEnd | undefined

  add(end: CallEnd): void {
    const first = this.#first
    end.after = first
    if (first !== undefined) first.before = end
    this.#first = end
  }

  delete(end: CallEnd): void {
    const { before, after } = end
    if (before !== undefined) before.after = after
    else if (this.#first === end) this.#first = after
    else return
    if (after !== undefined) after.before = before
    end.before = undefined
    end.after = undefined
  }

  find(id: RpcId): CallEnd | undefined {
    let end = this.#first
    while (end !== undefined && end.id !== id) end = end.after
    return end
  }

  /** Ends all of them. */
  abort(reason: unknown): void {
    for (let end = this.#first; end !== undefined; end = this.#first) {
      this.delete(end)
      end.abort(reason)
    }
  }
}

/** Whether a caller has given up, without a signal being made for the question. */
export function hasEnded(caller: CallContext): boolean {
  return caller.isAborted ?? caller.signal.aborted
}
