import { describe, expect, test, vi } from 'vitest'
import { catalog, type FindingId, kindOf } from '../src/findings/catalog.ts'
import type { FindingKind } from '../src/findings/kind.ts'
import type { Report } from '../src/report.ts'
import { flawedCommand, probed, setupOf } from './_util/probing.ts'
import { serveFlawed } from './flawed/http.ts'

// Many processes on a small machine; this only catches a hang.
vi.setConfig({ testTimeout: 60_000 })

/** Flaws that only a process can have. */
const ofProcesses: readonly FindingId[] = [
  'eof-drops-answers',
  'exit-at-eof',
  'exit-code',
  'garbage-fatal',
  'line-too-long',
  'listen-after-cancel',
  'not-utf8',
  'notification-answered',
  'probe-fatal',
  'probe-silent',
  'stdout-content-length',
  'stdout-noise',
]

/** Flaws of messages, some of each kind, that show over lines as they do over HTTP. */
const alsoOverLines: readonly FindingId[] = [
  'connection-broken',
  'discover-versions',
  'id-changed',
  'id-null',
  'id-rounded',
  'initialize-server-info',
  'listen-ended',
  'listen-id',
  'listen-no-acknowledgement',
  'listen-order',
  'log-unasked',
  'page-cursor-repeated',
  'request-unanswered',
  'response-malformed',
  'response-unasked',
  'result-type-missing',
  'server-request',
  'unknown-method-code',
  'version-unrefused',
]

/** Those of an authorization server have tests of their own. */
const overHttp = (Object.keys(catalog) as FindingId[]).filter(
  (id) => !ofProcesses.includes(id) && !id.startsWith('auth-'),
)
const titled = (ids: readonly FindingId[]): (readonly [FindingId, string])[] =>
  ids.map((id) => [id, kindOf(id).requirements.join(', ')])

/** The findings as their ids, each once. */
function idsOf({ findings }: Report): readonly string[] {
  return [...new Set(findings.map(({ id }) => id))]
}

/** An error makes some era work worse than well; anything less does not. */
function expectVerdict({ modern, legacy }: Report, id: FindingId): void {
  const isHurt = [modern, legacy].some(({ verdict }) => verdict === 'works-with-defects' || verdict === 'refuses')
  expect(isHurt).toBe(kindOf(id).level === 'error' || id === 'probe-server-error')
}

describe('a server that does everything right', () => {
  test('has no findings over HTTP, and both eras work', async () => {
    await using server = await serveFlawed(setupOf('none'))
    const report = await probed({ kind: 'url', url: server.url })
    expect(report.findings).toEqual([])
    expect(report).toMatchObject({ outcome: 'fine', verdict: { era: 'dual' }, modern: { counts: { tools: 3 } } })
  })

  test('has no findings as a command', async () => {
    const report = await probed(flawedCommand('none'))
    expect(report.findings).toEqual([])
    expect(report).toMatchObject({
      outcome: 'fine',
      verdict: { era: 'dual' },
      legacy: { counts: { tools: 3, templates: 1 } },
    })
  })
})

describe.concurrent('one flaw over HTTP is found, by its name, and nothing else', () => {
  test.each(titled(overHttp))('%s (%s)', async (id) => {
    // an address of this machine that does not count as loopback for the one flaw that is about others
    await using server = await serveFlawed(setupOf(id), id === 'origin-open' ? '127.0.0.2' : '127.0.0.1')
    // slowness is a matter of the time that is given
    const budgetMs = id === 'checks-cut-short' ? 1 : 30_000
    const report = await probed({ kind: 'url', url: server.url }, { timeoutMs: 2_000, budgetMs })
    expect(idsOf(report)).toEqual([id])
    expectVerdict(report, id)
  })
})

describe.concurrent('one flaw of a command is found, by its name, and nothing else', () => {
  test.each(titled([...ofProcesses, ...alsoOverLines]))('%s (%s)', async (id) => {
    const report = await probed(flawedCommand(id))
    expect(idsOf(report)).toEqual([id])
  })
})

test('every finding of the catalogue says what to do, in a sentence', () => {
  const poor = Object.entries(catalog as Readonly<Record<string, FindingKind>>).filter(
    ([id, { title, repair, requirements }]) =>
      !/^[a-z]+(?:-[a-z0-9]+)*$/.test(id) || title.endsWith('.') || !repair.endsWith('.') || requirements.length === 0,
  )
  expect(poor).toEqual([])
})
