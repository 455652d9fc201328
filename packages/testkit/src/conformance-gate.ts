import { spawn, spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Excused, type Judgement, judgeChecks, type SuiteCheck } from './conformance-judge.ts'

/** One side at one revision. */
export interface ConformanceLeg {
  readonly side: 'server' | 'client'
  /** The URL of the server under test, or the command of the client, to which the suite adds the URL of its own server. */
  readonly target: string
  readonly revision: string
  /** `requirements`: the frozen set of the revision. `spec-version`: every scenario that applies to it. Or scenarios by name. */
  readonly selection: 'requirements' | 'spec-version' | readonly string[]
  /** Scenarios that a set runs without scoring them, which are judged all the same. */
  readonly also?: readonly string[] | undefined
  readonly excused?: Excused | undefined
  /** After this time the suite and everything that it started is killed, in milliseconds. Default 5 minutes. */
  readonly limitMs?: number | undefined
}

export interface LegResult extends Judgement {
  /** Scenarios that are scored. */
  readonly total: number
  /** What the suite printed; for people who look into a failure. */
  readonly log: string
}

interface Suite {
  readonly root: string
  readonly cli: string
  readonly parseYaml: (text: string) => unknown
}

/** Runs the official suite against a server or a client and judges what it recorded. */
export async function runConformance(leg: ConformanceLeg): Promise<LegResult> {
  const suite = findSuite()
  const scored = scenariosOf(suite, leg)
  const out = mkdtempSync(join(tmpdir(), 'conformance-'))
  try {
    // All clients of a leg run at the same time, which takes a while on a small machine.
    const limit = ['--timeout', '90000']
    const target = [leg.side, leg.side === 'server' ? '--url' : '--command', leg.target, ...limit]
    const logFile = join(out, 'suite.log')
    let timedOut = false
    for (const selection of selectionsOf(leg)) {
      const args = [...target, ...selection, '-o', out]
      timedOut = (await runSuite(suite, args, logFile, leg.limitMs ?? 300_000)) || timedOut
    }
    const { clean, passes, problems } = judgeChecks(
      [...scored, ...(leg.also ?? [])],
      readResults(out, leg.side),
      leg.excused,
    )
    return {
      clean,
      passes,
      problems: timedOut ? ['the suite did not end in time and was killed', ...problems] : problems,
      total: scored.length,
      log: readFileSync(logFile, 'utf8'),
    }
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
}

function findSuite(): Suite {
  const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: { conformance: string } }
  const root = dirname(manifest)
  // a dependency of the suite, so it is resolved from there
  const { parse } = createRequire(manifest)('yaml') as { parse: (text: string) => unknown }
  return { root, cli: join(root, bin.conformance), parseYaml: parse }
}

/** The arguments of each run of the suite: it takes one scenario, or a whole set. */
function selectionsOf({ selection, revision }: ConformanceLeg): readonly (readonly string[])[] {
  if (selection === 'requirements') return [['--requirements', revision]]
  if (selection === 'spec-version') return [['--suite', 'all', '--spec-version', revision]]
  return selection.map((scenario) => ['--scenario', scenario, '--spec-version', revision])
}

/** The scenarios that must pass. */
function scenariosOf(suite: Suite, { side, revision, selection }: ConformanceLeg): readonly string[] {
  if (typeof selection !== 'string') return selection
  if (selection === 'requirements') {
    const file = join(suite.root, 'requirements', `${revision}.yaml`)
    return (suite.parseYaml(readFileSync(file, 'utf8')) as Record<string, string[]>)[side] ?? []
  }
  const args = [suite.cli, 'list', `--${side}`, '--spec-version', revision]
  const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  return [...stdout.matchAll(/^ {2}- (\S+)/gm)].map((match) => match[1] as string)
}

/** In a process group of its own, so that nothing that it started can outlive it. Resolves with whether it had to be killed. */
async function runSuite(suite: Suite, args: readonly string[], logFile: string, limitMs: number): Promise<boolean> {
  const log = openSync(logFile, 'a')
  const child = spawn(process.execPath, [suite.cli, ...args], {
    stdio: ['ignore', log, log],
    detached: true,
    env: { ...process.env, NO_COLOR: '1' },
  })
  let timedOut = false
  const timer = setTimeout(() => {
    timedOut = true
    killGroup(child.pid)
  }, limitMs)
  await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', resolve)
  })
  clearTimeout(timer)
  killGroup(child.pid)
  closeSync(log)
  return timedOut
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // the group is gone
  }
}

/** Checks by scenario. The suite writes `[server-]NAME-TIME/checks.json`, and the name may hold a slash. */
function readResults(folder: string, side: string, prefix = ''): Map<string, readonly SuiteCheck[]> {
  const results = new Map<string, readonly SuiteCheck[]>()
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue
    const path = join(folder, entry.name)
    if (readdirSync(path).includes('checks.json')) {
      const name = prefix + entry.name.replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '')
      const checks = JSON.parse(readFileSync(join(path, 'checks.json'), 'utf8')) as SuiteCheck[]
      results.set(side === 'server' ? name.replace(/^server-/, '') : name, checks)
    } else {
      for (const [name, checks] of readResults(path, side, `${prefix}${entry.name}/`)) results.set(name, checks)
    }
  }
  return results
}
