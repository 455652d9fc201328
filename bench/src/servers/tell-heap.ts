/**
 * On SIGUSR2 collects all garbage and tells on stderr how much heap is left. Needs `--expose-gc`. Signals, so that no request stands in
 * between.
 */
export function tellHeapOnSignal(): void {
  process.on('SIGUSR2', () => {
    const { gc } = globalThis as { gc?: (how?: object) => void }
    // what finalizers free is found by a second turn
    gc?.()
    setTimeout(() => {
      // as V8 does in a server at rest, which gives back what it had for objects that die young
      gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
      const { heapUsed, external } = process.memoryUsage()
      process.stderr.write(`collected ${heapUsed + external}\n`)
    }, 50)
  })
}
