import { BlobError } from './blob-error.ts'

/** Ends an exchange that takes too long or is not wanted any more. Whatever is going on is told through `onEnd`. */
export interface Deadline {
  /** Why the exchange was ended from outside, if it was. */
  readonly ended: { readonly reason: unknown } | undefined
  /** What to tear down when it is ended; each call replaces the one before. */
  onEnd(tearDown: (reason: unknown) => void): void
  /** Something came or went: the wait for the next begins now. */
  progress(): void
  /** Nothing is being waited for: the consumer takes its time. */
  pause(): void
  /** The exchange is over. */
  clear(): void
}

export interface DeadlineOptions {
  readonly signal: AbortSignal | undefined
  /** Milliseconds for all of it. */
  readonly timeoutMs: number
  /** Milliseconds between two signs of life. */
  readonly idleMs: number
  /** What is waited for, for the message of the error. */
  readonly what: string
}

/** Timers hold their delay in 31 bits; anything longer would fire at once. */
const maxTimerMs = 2 ** 31 - 1

/** Starts the clocks of an exchange. The signal is not aborted yet. */
export function startDeadline({ signal, timeoutMs, idleMs, what }: DeadlineOptions): Deadline {
  let ended: { readonly reason: unknown } | undefined
  let tearDown: (reason: unknown) => void = () => undefined
  let idle: ReturnType<typeof setTimeout> | undefined

  function end(reason: unknown): void {
    if (ended !== undefined) return
    ended = { reason }
    clear()
    tearDown(reason)
  }

  function timeout(ms: number, why: string): ReturnType<typeof setTimeout> {
    const error = (): BlobError => new BlobError('timeout', `${what}: ${why} ${ms} ms`, { retryable: true })
    return setTimeout(() => end(error()), Math.min(ms, maxTimerMs))
  }

  function pause(): void {
    clearTimeout(idle)
    idle = undefined
  }

  function clear(): void {
    pause()
    clearTimeout(whole)
    signal?.removeEventListener('abort', aborted)
  }

  const whole = timeout(timeoutMs, 'not finished within')
  const aborted = (): void => end(signal?.reason)
  signal?.addEventListener('abort', aborted, { once: true })

  return {
    get ended() {
      return ended
    },
    onEnd(next) {
      tearDown = next
      if (ended !== undefined) next(ended.reason)
    },
    progress() {
      pause()
      if (ended === undefined) idle = timeout(idleMs, 'nothing came for')
    },
    pause,
    clear,
  }
}
