import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { legacyRevision, modernRevision } from '@atenea/mcpcompat'
import { expect, test, vi } from 'vitest'
import type { Report } from '../src/report.ts'

// Each starts the official suite, which starts a server and the probe.
vi.setConfig({ testTimeout: 120_000 })

/** The servers with which the official suite tests clients; the probe is the client. Gives its report, and whether the suite is content. */
async function probedMock(scenario: string, revision: string): Promise<{ report: Report; isContent: boolean }> {
  const testkit = join(import.meta.dirname, '../../../packages/testkit/package.json')
  const manifest = createRequire(testkit).resolve('@modelcontextprotocol/conformance/package.json')
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: { conformance: string } }
  const folder = mkdtempSync(join(tmpdir(), 'atenea-probe-'))
  try {
    const file = join(folder, 'report.json')
    const client = `${process.execPath} --no-warnings ${join(import.meta.dirname, '_util/suite-client.ts')}`
    const args = ['client', '--command', client, '--scenario', scenario, '--spec-version', revision]
    const suite = spawn(
      process.execPath,
      [join(dirname(manifest), bin.conformance), ...args, '--timeout', '90000', '-o', folder],
      {
        stdio: 'ignore',
        env: { ...process.env, PROBE_REPORT: file },
      },
    )
    const [code] = (await once(suite, 'exit')) as [number | null]
    return { report: JSON.parse(readFileSync(file, 'utf8')) as Report, isContent: code === 0 }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const errorsOf = ({ findings }: Report): readonly string[] =>
  findings
    .filter(({ level }) => level === 'error')
    .map(({ id, subject }) => (subject === undefined ? id : `${id} ${subject}`))

test('LG-LIFE-01: the mock of a handshake is legacy, and the suite finds the handshake of the probe right', async () => {
  const { report, isContent } = await probedMock('initialize', legacyRevision)
  expect(report).toMatchObject({ outcome: 'fine', verdict: { era: 'legacy' }, legacy: { observed: legacyRevision } })
  expect(isContent).toBe(true)
})

test('MC-SCH-05: the mock with a network $ref is told so, and the suite sees that nothing was fetched', async () => {
  const { report, isContent } = await probedMock('json-schema-ref-no-deref', modernRevision)
  expect(report.modern).toMatchObject({ observed: modernRevision, verdict: 'works-with-defects' })
  expect(errorsOf(report)).toContain('schema-ref-network lookup_user')
  expect(isContent).toBe(true)
})

test('MH-XMH-03 to -09: each wrong annotation of the mock is named, and no right one', async () => {
  const { report } = await probedMock('http-invalid-tool-headers', modernRevision)
  const named = report.findings.filter(({ id }) => id === 'param-header')
  expect(named.length).toBeGreaterThan(5)
  expect(named.filter(({ subject }) => subject?.startsWith('invalid_') !== true)).toEqual([])
})

test.each([
  ['modern', modernRevision],
  ['legacy', legacyRevision],
] as const)('the mock with a tool is %s at that revision', async (era, revision) => {
  const { report } = await probedMock('tools_call', revision)
  expect(report).toMatchObject({
    outcome: 'fine',
    verdict: { era },
    [era]: { observed: revision, counts: { tools: 1 } },
  })
})
