import { maxTimerMs } from './clock.ts'

/** A signal that follows several sources and can be aborted by hand. Dispose it, or it stays attached to its sources. */
export interface LinkedSignal extends Disposable {
  readonly signal: AbortSignal
  /** Aborts by hand, with this reason as it is. Does nothing when the signal is aborted already. */
  abort(reason?: unknown): void
}

export interface LinkSignalsOptions {
  /**
   * Milliseconds after which the signal aborts with a `DOMException` named `TimeoutError`. No limit when undefined or
   * `Infinity`; a limit beyond 24 days acts as 24 days.
   */
  readonly timeoutMs?: number | undefined
}

/**
 * A signal that aborts as soon as one of its sources does, with the reason of that source unchanged. Sources may be missing.
 *
 * `AbortSignal.any` keeps about a kilobyte for each call as long as a source lives, and each listener on a source costs a
 * walk over all others; here a source gets one listener however many follow it, and none after the last was disposed.
 */
export function linkSignals(sources: readonly (AbortSignal | undefined)[], options?: LinkSignalsOptions): LinkedSignal {
  return new Link(sources, options?.timeoutMs)
}

class Link implements LinkedSignal {
  readonly #controller = new AbortController()
  readonly #hubs: Hub[] = []
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(sources: readonly (AbortSignal | undefined)[], timeoutMs: number | undefined) {
    for (const source of sources) {
      if (source === undefined) continue
      if (source.aborted) {
        this.abort(source.reason)
        return
      }
      this.#hubs.push(joinHub(source, this))
    }
    if (timeoutMs !== undefined && timeoutMs !== Number.POSITIVE_INFINITY) {
      this.#timer = setTimeout(
        () => {
          this.abort(new DOMException(`no end within ${timeoutMs} ms`, 'TimeoutError'))
        },
        Math.min(timeoutMs, maxTimerMs),
      )
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  abort(reason?: unknown): void {
    this[Symbol.dispose]()
    this.#controller.abort(reason)
  }

  [Symbol.dispose](): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer)
    this.#timer = undefined
    for (const hub of this.#hubs) hub.leave(this)
    this.#hubs.length = 0
  }
}

/** The one listener on a source, and all links that follow it. */
class Hub {
  readonly #source: AbortSignal
  readonly #links = new Set<Link>()
  readonly #onAbort = (): void => {
    hubs.delete(this.#source)
    for (const link of this.#links) link.abort(this.#source.reason)
  }

  constructor(source: AbortSignal) {
    this.#source = source
    source.addEventListener('abort', this.#onAbort, { once: true })
  }

  add(link: Link): void {
    this.#links.add(link)
  }

  leave(link: Link): void {
    this.#links.delete(link)
    if (this.#links.size > 0) return
    this.#source.removeEventListener('abort', this.#onAbort)
    hubs.delete(this.#source)
  }
}

const hubs = new WeakMap<AbortSignal, Hub>()

function joinHub(source: AbortSignal, link: Link): Hub {
  let hub = hubs.get(source)
  if (hub === undefined) {
    hub = new Hub(source)
    hubs.set(source, hub)
  }
  hub.add(link)
  return hub
}
