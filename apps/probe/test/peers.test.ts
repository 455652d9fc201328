import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { legacyRevision, modernRevision } from '@atenea/mcpcompat'
import { describe, expect, test, vi } from 'vitest'
import type { EraVerdict, FindingLevel, Report } from '../src/report.ts'
import { deadUrl } from './_util/hosts.ts'
import {
  everythingCommand,
  everythingUrl,
  fixtureCommand,
  fixtureUrl,
  isListening,
  ownCommand,
  ownServer,
  type Peer,
} from './_util/peers.ts'
import { probed } from './_util/probing.ts'

// Servers start slowly on a busy machine; this only catches a hang.
vi.setConfig({ testTimeout: 90_000 })

const timeoutMs = 20_000

const idsOf = ({ findings }: Report, level: FindingLevel): readonly string[] =>
  findings.filter((finding) => finding.level === level).map(({ id }) => id)

function expectClean(report: Report): void {
  expect([...idsOf(report, 'error'), ...idsOf(report, 'warning')]).toEqual([])
  expect(report).toMatchObject({
    outcome: 'fine',
    verdict: { era: 'dual', summary: 'Modern clients work; legacy clients work.' },
    modern: { observed: modernRevision, server: { name: 'atenea-server' }, counts: { tools: 11, prompts: 3 } },
    legacy: { observed: legacyRevision, server: { name: 'atenea-server' }, counts: { tools: 11, prompts: 3 } },
  })
}

describe('our own server has neither an error nor a warning', () => {
  test('as a command', async () => {
    expectClean(await probed(ownCommand(), { timeoutMs }))
  })

  test('at a URL, with the way there step by step', async () => {
    const port = Number(new URL(await deadUrl()).port)
    await using _server = await ownServer(['--http', String(port)], async () => await isListening({ port }))
    const report = await probed({ kind: 'url', url: `http://localhost:${port}/mcp` }, { timeoutMs })
    expectClean(report)
    const steps = report.steps.filter(({ ok }) => ok).map(({ name }) => name)
    expect(steps).toEqual(
      expect.arrayContaining(['dns', 'tcp', 'http', 'first-byte', 'discover', 'initialize', 'tools']),
    )
  })

  test('at a unix socket', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'atenea-probe-'))
    try {
      const path = join(folder, 'server.sock')
      await using _server = await ownServer(['--socket', path], async () => await isListening({ path }))
      const report = await probed({ kind: 'socket', path }, { timeoutMs })
      expectClean(report)
      expect(report.target.text).toBe(`unix:${path}`)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test.each([
    ['modern', modernRevision],
    ['legacy', legacyRevision],
  ] as const)('restricted to %s, it is that and nothing else', async (protocol, revision) => {
    const report = await probed(ownCommand('--protocol', protocol), { timeoutMs })
    expect(report.verdict.era).toBe(protocol)
    expect(report[protocol]).toMatchObject({ verdict: 'works', observed: revision })
    expect([...idsOf(report, 'error'), ...idsOf(report, 'warning')]).toEqual([])
  })
})

test('a socket that nobody listens at', async () => {
  const report = await probed({ kind: 'socket', path: '/tmp/atenea-no-such.sock' })
  expect(report).toMatchObject({ outcome: 'unreachable', verdict: { era: 'none' } })
  expect(report.verdict.cause).toMatch(/there is no socket/)
})

interface Known {
  readonly era: Report['verdict']['era']
  readonly modern: EraVerdict
  /** What the probe finds wrong, all of it. */
  readonly errors: readonly string[]
}

/** Servers of others at a URL, and what is known to be wrong with them in their defaults. */
const atUrls: Readonly<Record<string, Known & { readonly start: () => Promise<Peer> }>> = {
  'the official SDK 1.32': {
    start: async () => await fixtureUrl('http-sdk-v1'),
    era: 'legacy',
    modern: 'not-spoken',
    errors: ['origin-unchecked'],
  },
  'the official SDK 2.4': {
    start: async () => await fixtureUrl('http-sdk-v2'),
    era: 'dual',
    modern: 'works-with-defects',
    errors: ['id-rounded', 'origin-unchecked'],
  },
  'the official SDK 2.4, modern alone': {
    start: async () => await fixtureUrl('http-sdk-v2', 'modern'),
    era: 'modern',
    modern: 'works-with-defects',
    errors: ['id-rounded', 'origin-unchecked'],
  },
  tmcp: {
    start: async () => await fixtureUrl('http-tmcp'),
    era: 'dual',
    modern: 'works-with-defects',
    errors: [
      'id-rounded',
      'legacy-version-header',
      'meta-refusal-status',
      'origin-unchecked',
      'session-unknown-served',
    ],
  },
  fastmcp: {
    start: async () => await fixtureUrl('http-fastmcp'),
    era: 'legacy',
    modern: 'not-spoken',
    errors: ['origin-unchecked'],
  },
  'server-everything': {
    start: everythingUrl,
    era: 'legacy',
    modern: 'not-spoken',
    errors: ['origin-unchecked', 'session-unknown-served'],
  },
}

describe('servers of others at a URL', () => {
  test.each(Object.entries(atUrls))('%s', async (_, { start, era, modern, errors }) => {
    await using peer = await start()
    const report = await probed({ kind: 'url', url: peer.url }, { timeoutMs })
    expect(report).toMatchObject({ outcome: 'fine', verdict: { era }, modern: { verdict: modern } })
    expect([...new Set(idsOf(report, 'error'))].sort()).toEqual(errors)
  })

  test('LG-HTTP-12, MH-ERA-09: one of the deprecated HTTP+SSE transport is named as such', async () => {
    await using peer = await fixtureUrl('http-sse-sdk-v1')
    const report = await probed({ kind: 'url', url: peer.url }, { timeoutMs })
    expect(report).toMatchObject({ outcome: 'unreachable', verdict: { era: 'none' } })
    expect(report.verdict.cause).toMatch(/deprecated HTTP\+SSE transport/)
  })
})

const asCommands: Readonly<Record<string, Known & { readonly args: Parameters<typeof probed>[0] }>> = {
  'the official SDK 1.32': { args: fixtureCommand('sdk-v1'), era: 'legacy', modern: 'silent-downgrade', errors: [] },
  'the official SDK 2.4': {
    args: fixtureCommand('sdk-v2'),
    era: 'dual',
    modern: 'works-with-defects',
    errors: ['version-unrefused'],
  },
  'the official SDK 2.4, modern alone': {
    args: fixtureCommand('sdk-v2', 'modern'),
    era: 'modern',
    modern: 'works-with-defects',
    errors: ['version-unrefused'],
  },
  tmcp: { args: fixtureCommand('tmcp'), era: 'dual', modern: 'works-with-defects', errors: ['id-rounded'] },
  'server-everything': {
    args: { kind: 'command', command: process.execPath, args: everythingCommand() },
    era: 'legacy',
    modern: 'silent-downgrade',
    errors: [],
  },
}

describe('servers of others as commands', () => {
  test.each(Object.entries(asCommands))('%s', async (_, { args, era, modern, errors }) => {
    const report = await probed(args, { timeoutMs })
    expect(report).toMatchObject({ outcome: 'fine', verdict: { era }, modern: { verdict: modern } })
    expect([...new Set(idsOf(report, 'error'))].sort()).toEqual(errors)
  })
})
