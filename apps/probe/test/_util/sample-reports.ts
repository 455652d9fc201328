import { legacyRevision, modernRevision } from '@atenea/mcpcompat'
import { catalog } from '../../src/findings/catalog.ts'
import type { EraReport, Finding, Report } from '../../src/report.ts'
import type { Run } from '../../src/run.ts'

const ids = Object.keys(catalog) as (keyof typeof catalog)[]

/** A finding of this place in the catalogue, as the probe would report it. */
function sampleFinding(index: number, extra: Partial<Finding> = {}): Finding {
  const id = ids[index % ids.length]
  if (id === undefined) throw new Error('the catalogue is empty')
  const { level, requirements, title, repair } = catalog[id]
  return { id, level, requirements, title, repair, evidence: 'HTTP 200 {"jsonrpc":"2.0"}', ...extra }
}

/** A finding of a level. */
export function findingOf(level: Finding['level'], extra: Partial<Finding> = {}): Finding {
  return sampleFinding(
    ids.findIndex((id) => catalog[id].level === level),
    { level, ...extra },
  )
}

export const noEra: EraReport = { verdict: 'not-spoken', reason: 'it answered 404', counts: {}, lists: {} }

export const goodEra: EraReport = {
  verdict: 'works',
  reason: 'it answered as asked',
  requested: modernRevision,
  observed: modernRevision,
  supportedVersions: [modernRevision, legacyRevision],
  server: { name: 'tea', version: '1.2.3', title: 'Tea house' },
  instructions: 'Ask for tea.',
  capabilities: { tools: { listChanged: true }, prompts: {}, resources: {} },
  counts: { tools: 2, prompts: 1, resources: 1, templates: 0 },
  lists: {
    tools: [
      {
        name: 'brew',
        description: 'Brews tea.',
        inputSchema: { type: 'object', properties: { leaf: { type: 'string' } } },
      },
      { name: 'pour', inputSchema: { type: 'object' } },
    ],
    prompts: [{ name: 'toast' }],
    resources: [{ uri: 'tea:///menu', name: 'menu' }],
    templates: [],
  },
}

/** A report of a server that does well in both eras, with whatever is to be unlike it. */
export function sampleReport(extra: Partial<Report> = {}): Report {
  return {
    format: 'atenea-probe-report',
    version: 1,
    probe: { name: 'atenea-probe', version: '0.0.0' },
    target: { kind: 'url', text: 'http://127.0.0.1:3000/mcp' },
    started: '2026-11-30T20:00:00.000Z',
    durationMs: 431.5,
    outcome: 'fine',
    verdict: { era: 'dual', summary: 'works for clients of both eras' },
    steps: [
      { name: 'tcp', startMs: 0, durationMs: 1.2, ok: true, detail: '127.0.0.1:3000' },
      { name: 'first-byte', startMs: 1.2, durationMs: 12, ok: true, detail: 'HTTP 200' },
      { name: 'discover', era: 'modern', startMs: 14, durationMs: 35, ok: true },
      { name: 'tools', era: 'modern', startMs: 50, durationMs: 120, ok: true },
      { name: 'initialize', era: 'legacy', startMs: 180, durationMs: 41, ok: true },
      { name: 'tools', era: 'legacy', startMs: 230, durationMs: 60, ok: true },
      { name: 'checks', startMs: 300, durationMs: 130, ok: true },
    ],
    modern: goodEra,
    legacy: { ...goodEra, requested: legacyRevision, observed: legacyRevision, supportedVersions: undefined },
    findings: [],
    ...extra,
  }
}

export function unreachableReport(extra: Partial<Report> = {}): Report {
  return sampleReport({
    outcome: 'unreachable',
    verdict: {
      era: 'none',
      summary: 'cannot be reached',
      cause: 'Nothing listens at 127.0.0.1:9 (ECONNREFUSED).',
      repair: 'Start the server, or mend host and port of the URL.',
    },
    steps: [{ name: 'tcp', startMs: 0, durationMs: 3, ok: false, detail: 'ECONNREFUSED' }],
    modern: { ...noEra, verdict: 'not-tried', reason: 'the server was not reached' },
    legacy: { ...noEra, verdict: 'not-tried', reason: 'the server was not reached' },
    ...extra,
  })
}

export function lockedReport(extra: Partial<Report> = {}): Report {
  return unreachableReport({
    outcome: 'auth-required',
    verdict: {
      era: 'none',
      summary: 'wants credentials',
      cause: 'HTTP 401',
      repair: 'Pass a token with --header-file.',
    },
    auth: {
      status: 401,
      scheme: 'Bearer',
      parameters: { realm: 'tea', error: 'invalid_token' },
      resourceMetadata: 'https://tea.example/.well-known/oauth-protected-resource',
      signedIn: false,
      authorization: {
        documents: [
          {
            document: 'resource',
            url: 'https://tea.example/.well-known/oauth-protected-resource',
            status: 200,
            outcome: 'used',
          },
          {
            document: 'issuer',
            url: 'https://login.example/.well-known/oauth-authorization-server',
            outcome: 'absent',
          },
        ],
        resource: 'https://tea.example/mcp',
        issuers: ['https://login.example'],
        scopes: ['brew'],
        registration: ['dynamic'],
        flows: ['browser', 'device'],
      },
    },
    ...extra,
  })
}

/** What a server could call itself to break out of whatever it is shown in. */
const hostileText =
  '</pre><script>alert(1)</script>"\'>&amp;<img src=x onerror=alert(1)>]]>\u001b[2J\u202eevil\u0000\ud800'

export function hostileReport(): Report {
  const era: EraReport = {
    ...goodEra,
    reason: hostileText,
    server: { name: hostileText, version: hostileText, title: hostileText },
    instructions: hostileText,
    capabilities: { [hostileText]: { [hostileText]: true } },
    supportedVersions: [hostileText],
    observed: hostileText,
    lists: {
      tools: [{ name: hostileText, description: hostileText }, 7, null, [hostileText]],
      resources: [{ uri: hostileText, name: hostileText }],
    },
  }
  return sampleReport({
    target: { kind: 'command', text: `node ${hostileText}`, name: hostileText },
    outcome: 'tool-failed',
    verdict: { era: 'dual', summary: hostileText, cause: hostileText, repair: hostileText },
    modern: era,
    legacy: era,
    findings: [
      findingOf('error', { evidence: hostileText, subject: hostileText }),
      findingOf('note', { evidence: hostileText }),
    ],
    steps: [{ name: 'spawn', startMs: 0, durationMs: 5, ok: false, detail: hostileText }],
    auth: {
      status: 401,
      scheme: hostileText,
      parameters: { [hostileText]: hostileText },
      resourceMetadata: hostileText,
    },
    call: {
      name: hostileText,
      era: 'modern',
      ok: false,
      durationMs: 3,
      answer: { text: hostileText },
      detail: hostileText,
    },
    stderr: `${hostileText}\nsecond line`,
  })
}

export function runOf(...reports: readonly Report[]): Run {
  return { reports, notProbed: [], config: undefined }
}

export function listOf(...reports: readonly Report[]): Run {
  return {
    reports,
    notProbed: [
      { name: 'off', reason: 'disabled', detail: 'switched off in the configuration' },
      { name: 'broken', reason: 'configuration', detail: 'mcp.json:3:5: the variable KEY is not set' },
    ],
    config: 'folder/mcp.json',
  }
}
