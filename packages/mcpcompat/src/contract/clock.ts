/** Time as a dependency, so that waiting can be tested without waiting. */
export interface Clock {
  /** Milliseconds that only ever grow; the starting point means nothing. */
  now(): number
  /** Runs `run` once after `delayMs`, unless the handle is disposed before. */
  after(delayMs: number, run: () => void, options?: AfterOptions): Disposable
}

export interface AfterOptions {
  /** Whether a process with nothing else to do waits for it: for steps on which an answer depends, not for time limits. Default no. */
  readonly holdsProcess?: boolean
}

/** Timers hold their delay in 31 bits; anything longer would fire at once. */
export const maxTimerMs: number = 2 ** 31 - 1

/** The global of Node. Its `performance`, which is the same clock, is loaded on first use, and that takes 1 ms of a start. */
declare const process: { hrtime?(): readonly [seconds: number, nanoseconds: number] } | undefined

/** The clock of the platform. It waits for 24 days at the most, also when more is asked for. */
export const systemClock: Clock = {
  now() {
    if (typeof process === 'undefined' || process.hrtime === undefined) return performance.now()
    const [seconds, nanoseconds] = process.hrtime()
    return seconds * 1000 + nanoseconds / 1e6
  },
  after(delayMs, run, options) {
    const timer: unknown = setTimeout(run, Math.min(delayMs, maxTimerMs))
    if (options?.holdsProcess !== true && hasUnref(timer)) timer.unref()
    return { [Symbol.dispose]: () => clearTimeout(timer as number) }
  },
}

/** Node gives objects, browsers give numbers. */
function hasUnref(timer: unknown): timer is { unref(): void } {
  return typeof timer === 'object' && timer !== null && 'unref' in timer
}
