import { parseArgs } from 'node:util'
import { allTargets } from './all-targets.ts'
import { suites } from './suites/index.ts'
import type { Suite } from './suites/suite.ts'
import { type Carrier, carriers, type Era, eras, type Target } from './targets.ts'

/** What the command line asked for. */
export interface Options {
  readonly suites: readonly Suite[]
  readonly targets: readonly Target[]
  readonly eras: readonly Era[]
  readonly rounds: number
  readonly scale: number
  readonly repeats: number
  /** Folder into which `stdio.md`, `stdio.json` and the like are written, by carrier; they are only printed when undefined. */
  readonly out: string | undefined
}

/** Shown by `--help`. */
export const usage: string = `pnpm bench [options]

  --suite NAME     only this suite, or all whose name begins with NAME-; may be repeated: ${suites.map(({ name }) => name).join(', ')}
  --carrier NAME   only the suites of this carrier: ${carriers.join(', ')}
  --target NAME    only this target; may be repeated: ${[...new Set(allTargets.map(({ name }) => name))].join(', ')}
  --era NAME       only this era: ${eras.join(', ')}
  --rounds N       how often all targets come in turn (5)
  --scale X        share of the repetitions of a full measurement (1)
  --repeats N      how often a measurement that other work disturbed is repeated (5)
  --out DIR        write the tables and figures of each carrier there, as stdio.md, stdio.json, http.md, http.json,
                   proxy.md, proxy.json
`

/** Reads the command line. Throws an error for people when it cannot be followed. */
export function parseOptions(args: readonly string[]): Options | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      suite: { type: 'string', multiple: true },
      carrier: { type: 'string', multiple: true },
      target: { type: 'string', multiple: true },
      era: { type: 'string', multiple: true },
      rounds: { type: 'string', default: '5' },
      scale: { type: 'string', default: '1' },
      repeats: { type: 'string', default: '5' },
      out: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return 'help'
  const wanted: readonly Carrier[] = choose('carrier', carriers, values.carrier, (name, one) => name === one)
  return {
    suites: choose('suite', suites, values.suite, ({ name }, one) => name === one || name.startsWith(`${one}-`)).filter(
      ({ carrier = 'stdio' }) => wanted.includes(carrier),
    ),
    targets: choose('target', allTargets, values.target, ({ name }, wanted) => name === wanted),
    eras: choose('era', eras, values.era, (name, wanted) => name === wanted),
    rounds: positive('rounds', values.rounds),
    scale: positive('scale', values.scale),
    repeats: Number(values.repeats),
    out: values.out,
  }
}

function choose<T>(
  flag: string,
  all: readonly T[],
  wanted: readonly string[] | undefined,
  matches: (one: T, name: string) => boolean,
): readonly T[] {
  if (wanted === undefined) return all
  for (const name of wanted) {
    if (!all.some((one) => matches(one, name))) throw new Error(`--${flag} ${name}: there is none of that name`)
  }
  return all.filter((one) => wanted.some((name) => matches(one, name)))
}

function positive(flag: string, text: string): number {
  const value = Number(text)
  if (!(value > 0)) throw new Error(`--${flag} ${text}: a number above 0 is needed`)
  return value
}
