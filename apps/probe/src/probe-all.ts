import { type ProbeOptions, probe } from './probe.ts'
import type { Progress } from './progress.ts'
import type { ProbeTarget, Report } from './report.ts'

/** Enough that a whole configuration takes little longer than its slowest server, and few enough that none is slow because of the others. */
const atOnce = 4

/**
 * Probes all targets, a few at a time, and gives their reports in the order of the targets. When one throws, which only the
 * signal makes it do, the others have ended too before this rejects.
 */
export async function probeAll(
  targets: readonly ProbeTarget[],
  options: ProbeOptions,
  progress: Progress,
): Promise<readonly Report[]> {
  const reports: Report[] = []
  const waiting = targets.entries()
  const work = async (): Promise<void> => {
    for (const [index, target] of waiting) {
      const onProgress = progress.begin(target)
      try {
        reports[index] = await probe(target, options, onProgress)
      } finally {
        progress.end(target)
      }
    }
  }
  const workers = Array.from({ length: Math.min(atOnce, targets.length) }, work)
  await Promise.allSettled(workers)
  await Promise.all(workers)
  return reports
}
