import { parseArgs } from 'node:util'
import { exitOnSignals } from '../exit-on-signals.ts'
import type { Endurance, Trial } from './trial.ts'
import { trials } from './trials.ts'

const usage = `pnpm soak [options]

  --scenario NAME  only this one; may be repeated: ${trials.map(({ name }) => name).join(', ')}
  --scale X        share of a full soak (1)
`

exitOnSignals()
const { values } = parseArgs({
  options: {
    scenario: { type: 'string', multiple: true },
    scale: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) process.stdout.write(usage)
else await soak(values.scenario, Number(values.scale))

async function soak(wanted: readonly string[] | undefined, scale: number): Promise<void> {
  if (!(scale > 0)) throw new Error('--scale: a number above 0 is needed')
  for (const name of wanted ?? []) {
    if (!trials.some((trial) => trial.name === name)) throw new Error(`--scenario ${name}: there is none`)
  }
  process.stdout.write(
    '| | what happened | s | calls of a bystander | slowest, ms | heap before, MB | heap after, MB | peak memory, MB |\n' +
      '| :-- | :-- | --: | --: | --: | --: | --: | --: |\n',
  )
  for (const trial of trials) {
    if (wanted === undefined || wanted.includes(trial.name)) process.stdout.write(row(trial, await trial.run(scale)))
  }
}

function row({ title }: Trial, { what, seconds, bystander, heapBefore, heapAfter, peakResident }: Endurance): string {
  const megabytes = [heapBefore, heapAfter, peakResident].map((bytes) => (bytes / 1e6).toFixed(1)).join(' | ')
  const others = bystander === undefined ? ' | ' : `${bystander.calls} | ${bystander.slowestMs.toFixed(1)}`
  return `| ${title} | ${what} | ${seconds.toFixed(1)} | ${others} | ${megabytes} |\n`
}
