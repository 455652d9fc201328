/** Time as a dependency, so that waiting can be tested without waiting. */
export interface Clock {
  /** Milliseconds that only ever grow; the starting point means nothing. */
  now(): number
  /** Runs `run` once after `delayMs`, unless the handle is disposed before. Never keeps a process alive by itself. */
  after(delayMs: number, run: () => void): Disposable
}

/** The clock of the platform. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(delayMs, run) {
    const timer: unknown = setTimeout(run, delayMs)
    if (hasUnref(timer)) timer.unref()
    return { [Symbol.dispose]: () => clearTimeout(timer as number) }
  },
}

/** Node gives objects, browsers give numbers. */
function hasUnref(timer: unknown): timer is { unref(): void } {
  return typeof timer === 'object' && timer !== null && 'unref' in timer
}
