import type { Clock } from './clock.ts'

/**
 * Waits for a promise, but no longer than a time. True when it settled in time; it is not cancelled otherwise. Holds the
 * process for that time, since whoever waits has something left to do.
 */
export async function within(promise: Promise<unknown>, timeoutMs: number, clock: Clock): Promise<boolean> {
  let timer: Disposable | undefined
  const timeout = new Promise<boolean>((resolve) => {
    timer = clock.after(timeoutMs, () => resolve(false), { holdsProcess: true })
  })
  try {
    return await Promise.race([promise.then(() => true), timeout])
  } finally {
    timer?.[Symbol.dispose]()
  }
}
