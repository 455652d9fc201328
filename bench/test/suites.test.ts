import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, test, vi } from 'vitest'
import { allTargets, targetsOf } from '../src/all-targets.ts'
import type { Measurement } from '../src/run.ts'
import { suites } from '../src/suites/index.ts'
import type { Suite } from '../src/suites/suite.ts'
import { eras } from '../src/targets.ts'

// Half of their time they wait for processes.
vi.setConfig({ maxConcurrency: 2 })

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'atenea-bench-'))
afterAll(() => rmSync(folder, { recursive: true }))

// Servers and proxies of others are heavy, so they take part once in each kind of suite: proxies of others in one of each route, servers where
// it is not the same with more tools, connections or streams.
const ownTargets = ['bare', 'ours', 'ours-crossed']
const withOthers = (suite: Suite): boolean =>
  suite.carrier === 'proxy' ? suite.name.endsWith('-start') : !suites.some((other) => isMoreOf(suite, other))

function isMoreOf(suite: Suite, other: Suite): boolean {
  const [kind, size] = sizeIn(suite)
  const [otherKind, otherSize] = sizeIn(other)
  // One at a time is another thing than several.
  return kind === otherKind && otherSize > 1 && otherSize < size
}

function sizeIn({ name }: Suite): readonly [kind: string, size: number] {
  const [, kind = name, size = '0'] = /^(.*-)(\d+)$/.exec(name) ?? []
  return [kind, Number(size)]
}

// How fast it is depends on the machine and is never judged here; that every answer is right does not.
test.concurrent.for(suites.map((suite) => [suite.name, suite] as const))(
  'suite %s: every target answers everything rightly',
  { timeout: 150_000 },
  async ([name, suite], { expect }) => {
    const out = join(folder, name)
    const args = [main, '--suite', name, '--scale', '0.01', '--rounds', '1', '--repeats', '0', '--out', out]
    const targets = allTargets.filter((target) => withOthers(suite) || ownTargets.includes(target.name))
    const chosen = targets.flatMap((target) => ['--target', target.name])
    await promisify(execFile)(process.execPath, [...args, ...chosen], { timeout: 120_000, maxBuffer: 1e8 })

    const { measurements } = JSON.parse(readFileSync(join(out, `${suite.carrier ?? 'stdio'}.json`), 'utf8')) as {
      measurements: Measurement[]
    }
    const measured = measurements.map(({ suite: own, target, era }) => `${own} ${target} ${era}`)
    const expected = eras.flatMap((era) =>
      targetsOf(suite, era, targets).map((target) => `${name} ${target.name} ${era}`),
    )
    expect(measured).toEqual(expected)
    expect(readFileSync(join(out, `${suite.carrier ?? 'stdio'}.md`), 'utf8')).toContain(`### ${suite.title}`)
  },
)
