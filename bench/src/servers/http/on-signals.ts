import { tellHeapOnSignal } from '../tell-heap.ts'

/**
 * What the streams suites ask for by signals: SIGUSR2 tells the heap, SIGHUP announces a change of the list of tools. Only there when
 * the generator wants it.
 */
export function onSignals(announce: () => void): void {
  if (process.env['BENCH_STREAMS'] === undefined) return
  process.on('SIGHUP', announce)
  tellHeapOnSignal()
}
