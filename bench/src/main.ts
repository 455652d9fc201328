import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { exitOnSignals } from './exit-on-signals.ts'
import { describeMachine } from './machine.ts'
import { toMarkdown } from './markdown.ts'
import { type Options, parseOptions, usage } from './options.ts'
import { revisionOf } from './revision-of.ts'
import { type Measurement, runPlan } from './run.ts'
import { summarise } from './summary.ts'
import { type Carrier, carriers } from './targets.ts'
import { createWire } from './wire.ts'

const titles: Readonly<Record<Carrier, string>> = { stdio: 'stdio', http: 'Streamable HTTP', proxy: 'Proxies' }

exitOnSignals()
const options = parseOptions(process.argv.slice(2))
if (options === 'help') process.stdout.write(usage)
else await bench(options)

async function bench({ suites, targets, eras, rounds, scale, repeats, out }: Options): Promise<void> {
  const started = new Date()
  const wires = eras.map((era) => createWire(era, revisionOf(era)))
  const measurements = await runPlan({ suites, targets, wires, rounds, scale, repeats }, (measurement) => {
    const { suite, round, target, era, figures, otherWork } = measurement
    const texts = Object.entries(figures).map(([key, value]) => `${key} ${value?.toFixed(3) ?? 'never'}`)
    const others = otherWork.toFixed(2)
    process.stderr.write(`${suite} ${round}/${rounds} ${target} ${era}: ${texts.join(', ')} (other work ${others})\n`)
  })
  const seconds = Math.round((Date.now() - started.getTime()) / 1_000)
  for (const carrier of carriers) {
    const own = suites.filter((suite) => (suite.carrier ?? 'stdio') === carrier)
    if (own.length > 0) report({ carrier, suites: own, measurements, started, seconds, rounds, scale, out })
  }
}

interface Report extends Pick<Options, 'suites' | 'rounds' | 'scale' | 'out'> {
  readonly carrier: Carrier
  readonly measurements: readonly Measurement[]
  readonly started: Date
  readonly seconds: number
}

/** Prints the tables of one carrier, and writes them and all figures into the folder that was asked for. */
function report({ carrier, suites, measurements, started, seconds, rounds, scale, out }: Report): void {
  const machine = describeMachine()
  const head = [
    `# ${titles[carrier]}`,
    '',
    `Measured on ${started.toISOString().slice(0, 10)} in ${seconds} s: Node ${machine.node}, Linux ${machine.kernel}, ` +
      `${machine.processors} × ${machine.processor}, ${rounds} rounds, scale ${scale}.`,
    `${Object.entries(machine.versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', ')}.`,
    '',
    `Medians over the rounds; in brackets how many times worse than the bare ${carrier === 'proxy' ? 'relay for clients' : 'echo'} of the same era in the same round; bold ` +
      'where a goal is missed; noise is (max − min) / median of the first figure.',
    '',
    '',
  ].join('\n')
  const markdown = head + toMarkdown(suites, measurements)
  process.stdout.write(markdown)
  if (out === undefined) return
  mkdirSync(out, { recursive: true })
  writeFileSync(join(out, `${carrier}.md`), markdown)
  const summary = suites.flatMap((suite) => summarise(suite, measurements))
  const names = suites.map(({ name }) => name)
  const own = measurements.filter(({ suite }) => names.includes(suite))
  const json = { started: started.toISOString(), seconds, rounds, scale, machine, summary, measurements: own }
  writeFileSync(join(out, `${carrier}.json`), `${JSON.stringify(json, undefined, 1)}\n`)
}
