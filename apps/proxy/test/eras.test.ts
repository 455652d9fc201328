import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { legacyRevision, modernRevision } from '@atenea/mcpcompat'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { privateHome, ProxyProcess } from './_util/proxy-process.ts'
import { stdioServer } from './_util/servers.ts'

vi.setConfig({ testTimeout: 40_000 })

const folder = mkdtempSync(join(tmpdir(), 'atenea-proxy-eras-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Puts a program in front of a server that writes down all that it gets. */
function recorded(log: string, server: readonly string[]): readonly string[] {
  return ['sh', '-c', `tee -a ${log} | "$@"`, 'sh', ...server]
}

function methodsIn(log: string): readonly string[] {
  return readFileSync(log, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { method: string }).method)
}

describe('A-37: what a server speaks is found out once', () => {
  test.each([
    ['sdk-v1', ['server/discover', 'initialize'], ['initialize']],
    ['sdk-v2', ['server/discover'], ['server/discover']],
  ] as const)('%s', async (name, first, later) => {
    const home = privateHome()
    for (const [index, expected] of [first, later].entries()) {
      const log = join(folder, `${name}-${index}.jsonl`)
      // the words that name the server have to be the same, so the place of the log comes by the environment
      const words = ['sh', '-c', 'tee -a "$LOG" | "$@"', 'sh', ...stdioServer(name)]
      await using proxy = new ProxyProcess(['--pass-env', 'LOG', '--', ...words], { ...home.environment, LOG: log })
      expect(await proxy.tool(1, 'echo', { text: 'x' })).toBe('x')
      expect(methodsIn(log).slice(0, expected.length)).toEqual(expected)
    }
    home[Symbol.dispose]()
  })

  test('--verdict-file none remembers nothing', async () => {
    const home = privateHome()
    for (const index of [0, 1]) {
      const log = join(folder, `none-${index}.jsonl`)
      const words = ['sh', '-c', 'tee -a "$LOG" | "$@"', 'sh', ...stdioServer('sdk-v1')]
      const flags = ['--verdict-file', 'none', '--pass-env', 'LOG', '--']
      await using proxy = new ProxyProcess([...flags, ...words], { ...home.environment, LOG: log })
      expect(await proxy.tool(1, 'echo', { text: 'x' })).toBe('x')
      expect(methodsIn(log)[0]).toBe('server/discover')
    }
    home[Symbol.dispose]()
  })
})

describe('pins', () => {
  test('legacy never probes', async () => {
    const log = join(folder, 'pin.jsonl')
    await using proxy = new ProxyProcess([
      '--backend-protocol',
      'legacy',
      '--',
      ...recorded(log, stdioServer('sdk-v2')),
    ])
    expect(await proxy.tool(1, 'echo', { text: 'x' })).toBe('x')
    expect(methodsIn(log)[0]).toBe('initialize')
    await proxy.says(`observed=${legacyRevision}`)
  })

  test('modern holds, or is an error that says what to do', async () => {
    await using good = new ProxyProcess(['--backend-protocol', 'modern', '--', ...stdioServer('sdk-v2')])
    expect(await good.tool(1, 'echo', { text: 'x' })).toBe('x')
    await good.says(`observed=${modernRevision}`)
    const log = join(folder, 'modern.jsonl')
    await using bad = new ProxyProcess(['--backend-protocol', 'modern', '--', ...recorded(log, stdioServer('sdk-v1'))])
    expect((await bad.ask(1, 'tools/list')).error?.code).toBe(-32_603)
    expect(methodsIn(log)).not.toContain('initialize')
  })

  test('a server of the configuration can have its own', async () => {
    const [command, ...args] = stdioServer('sdk-v2')
    const file = join(folder, 'mcp.json')
    writeFileSync(file, JSON.stringify({ mcpServers: { files: { command, args, protocol: 'legacy' } } }))
    await using proxy = new ProxyProcess(['--config', file])
    expect(await proxy.tool(1, 'echo', { text: 'x' })).toBe('x')
    await proxy.says(`observed=${legacyRevision}`)
  })
})

test('A-06, S11: a server that says nothing to a probe gets a second look after three seconds, and people are told to wait', async () => {
  const silent = join(import.meta.dirname, '../../../packages/testkit/fixtures/servers/silent-on-probe.ts')
  await using proxy = new ProxyProcess(['--', process.execPath, '--no-warnings', silent])
  const begun = performance.now()
  expect((await proxy.ask(1, 'tools/list')).result).toBeDefined()
  expect(performance.now() - begun).toBeLessThan(15_000)
  expect(proxy.stderr).toMatch(/still waiting for silent-on-probe, for \d+ s now/)
})
