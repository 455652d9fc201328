import type { Machine } from '../machine.ts'

export interface BlobFigures {
  readonly hashingShare: number
  readonly cachedReadRatio: number
  readonly downloadsPeakMebibytes: number
}

export interface BlobsTableOptions {
  readonly machine: Machine
  readonly started: Date
  readonly scale: number
}

/** The figures with their goals; bold where one is missed. */
export function blobsTable(figures: BlobFigures, { machine, started, scale }: BlobsTableOptions): string {
  const { hashingShare, cachedReadRatio, downloadsPeakMebibytes } = figures
  const rows: readonly (readonly [what: string, figure: string, goal: string, met: boolean])[] = [
    ['hashing while streaming, share of the bare hash', hashingShare.toFixed(2), '≥ 0.9', hashingShare >= 0.9],
    [
      'verified read of a cached 1 MiB, times an unverified one',
      cachedReadRatio.toFixed(2),
      '≤ 1.3',
      cachedReadRatio <= 1.3,
    ],
    [
      '100 downloads of 5 MiB at once, peak MiB resident',
      downloadsPeakMebibytes.toFixed(0),
      '< 250',
      downloadsPeakMebibytes < 250,
    ],
  ]
  const { node, kernel, processor, processors } = machine
  return `# Blobs

Measured on ${started.toISOString().slice(0, 10)}: Node ${node}, Linux ${kernel}, ${processors} × ${processor}, scale ${scale}.

|  | measured | goal |
| :-- | --: | --: |
${rows.map(([what, figure, goal, met]) => `| ${what} | ${met ? figure : `**${figure}**`} | ${goal} |\n`).join('')}`
}
