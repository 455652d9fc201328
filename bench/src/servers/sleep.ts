/** Waits for `ms`. On abort it tells the generator when, by the clock that all processes share, and rejects with the reason. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms, 'slept')
    signal?.addEventListener(
      'abort',
      () => {
        reportAbort()
        clearTimeout(timer)
        reject(signal.reason as Error)
      },
      { once: true },
    )
  })
}

/** Writes the moment at which a handler saw its cancel to stderr. */
export function reportAbort(): void {
  process.stderr.write(`aborted ${process.hrtime.bigint()}\n`)
}
