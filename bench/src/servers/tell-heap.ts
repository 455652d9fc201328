/**
 * On SIGUSR2 collects all garbage and tells on stderr how much heap is left. Needs `--expose-gc`. Signals, so that no request stands in
 * between.
 */
export function tellHeapOnSignal(): void {
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
