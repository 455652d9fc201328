/**
 * What the streams suites ask for by signals, so that no request stands in between: SIGUSR2 collects all garbage and tells the
 * heap that is left, SIGHUP announces a change of the list of tools. Only there when the generator wants it.
 */
export function onSignals(announce: () => void): void {
  if (process.env['BENCH_STREAMS'] === undefined) return
  process.on('SIGHUP', announce)
  process.on('SIGUSR2', () => {
    const { gc } = globalThis as { gc?: () => void }
    // what finalizers free is found by a second turn
    gc?.()
    setTimeout(() => {
      gc?.()
      const { heapUsed, external } = process.memoryUsage()
      process.stderr.write(`collected ${heapUsed + external}\n`)
    }, 50)
  })
}
