import { legacyRevision, modernRevision } from '@atenea/mcpcompat'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import type { ProbeTarget } from '../src/report.ts'
import { deadUrl } from './_util/hosts.ts'
import { flawedCommand, probed } from './_util/probing.ts'

vi.setConfig({ testTimeout: 60_000 })

/** Servers that the transports are tested with; none holds code of ours. */
const fixtures = join(import.meta.dirname, '../../../packages/testkit/fixtures/servers')

function fixture(name: string, ...args: string[]): ProbeTarget {
  return { kind: 'command', command: process.execPath, args: ['--no-warnings', join(fixtures, `${name}.ts`), ...args] }
}

function script(text: string): ProbeTarget {
  return { kind: 'command', command: process.execPath, args: ['-e', text] }
}

/** Whether a process of this id lives. One that has ended and waits for its parent to notice does not. */
function lives(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return process.platform !== 'linux' || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

test.concurrent('S13: a command that there is not', async () => {
  const report = await probed({ kind: 'command', command: 'atenea-no-such-command', args: [] })
  expect(report).toMatchObject({
    outcome: 'unreachable',
    modern: { verdict: 'not-tried' },
    legacy: { verdict: 'not-tried' },
  })
  expect(report.verdict.cause).toMatch(/^Cannot start server "atenea-no-such-command": no such command/)
  expect(report.verdict.repair).toMatch(/PATH/)
})

test.concurrent('a command that ends at once is told with its exit code and its telling last words', async () => {
  const report = await probed(
    script('console.error("at x"); console.error("Error: API_KEY is missing"); process.exit(3)'),
  )
  expect(report).toMatchObject({ outcome: 'unreachable' })
  expect(report.verdict.cause).toBe(
    'The command ends with exit code 3 (stderr: Error: API_KEY is missing) before it answers anything.',
  )
  expect(report.stderr).toContain('Error: API_KEY is missing')
})

test.concurrent('D7: Content-Length framing is named', async () => {
  const report = await probed(fixture('content-length'))
  expect(report.verdict.cause).toMatch(/Content-Length/)
  expect(report.outcome).toBe('unreachable')
})

test.concurrent('a command that prints what is no MCP', async () => {
  const report = await probed(script('setInterval(() => console.log("Listening on port 3000"), 50)'), {
    timeoutMs: 800,
  })
  expect(report.verdict.cause).toMatch(/prints on stdout what is no MCP message \("Listening on port 3000"\)/)
})

test.concurrent('D5: a command that prints without end is told as one, soon, and ended', async () => {
  const started = performance.now()
  const report = await probed({ kind: 'command', command: 'yes', args: [] }, { timeoutMs: 20_000 })
  expect(performance.now() - started).toBeLessThan(15_000)
  expect(report.verdict.cause).toMatch(/^The command prints on stdout without end \("y"\)/)
  expect(report.findings).toMatchObject([{ id: 'stdout-noise', evidence: expect.stringMatching(/^\d{5,} such lines/) }])
})

test.concurrent('D5: a command that sends back what it gets is no server that answers', async () => {
  const report = await probed({ kind: 'command', command: 'cat', args: [] }, { timeoutMs: 20_000 })
  expect(report).toMatchObject({ outcome: 'unreachable', verdict: { era: 'none' } })
  expect(report.verdict.cause).toMatch(/^The command sends back what it gets/)
})

test.concurrent('D5: a server behind a terminal, which echoes, is used, and the echo reported', async () => {
  const file = join(import.meta.dirname, 'flawed/stdio.ts')
  const words = ['--no-warnings', file, 'none', modernRevision, legacyRevision]
  const echoing = `
    const child = require('node:child_process').spawn(process.execPath, ${JSON.stringify(words)}, { stdio: ['pipe', 'inherit', 'inherit'] })
    process.stdin.on('data', (chunk) => { process.stdout.write(chunk.toString().replaceAll('\\n', '\\r\\n')); child.stdin.write(chunk) })
    process.stdin.on('end', () => child.stdin.end())
  `
  const report = await probed(script(echoing))
  expect(report.verdict.era).toBe('dual')
  expect(report.findings.map(({ id }) => id)).toEqual(['stdout-noise'])
  expect(report.findings[0]?.evidence).toMatch(/what was sent comes back/)
})

test.concurrent('a server for HTTP that was given as a command is told with its URL, also where only one can listen', async () => {
  const text = `
    const server = require('node:http').createServer()
    server.on('error', (error) => { console.error(error.message); process.exit(1) })
    server.listen(Number(process.argv[1]), '127.0.0.1', () => console.error('Listening on http://localhost:' + process.argv[1]))
  `
  const { port } = new URL(await deadUrl())
  const report = await probed(
    { kind: 'command', command: process.execPath, args: ['-e', text, port] },
    { timeoutMs: 4_000 },
  )
  expect(report.verdict.cause).toMatch(`serves HTTP, by what it prints (http://localhost:${port}/mcp)`)
  expect(report.verdict.repair).toContain(`atenea-probe http://localhost:${port}/mcp`)
})

/** The fixture without a flaw, with what it writes changed by an expression over `line`, which has no line end. */
function changed(expression: string): ProbeTarget {
  const words = ['--no-warnings', join(import.meta.dirname, 'flawed/stdio.ts'), 'none', modernRevision, legacyRevision]
  return script(`
    const child = require('node:child_process').spawn(process.execPath, ${JSON.stringify(words)}, { stdio: ['pipe', 'pipe', 'inherit'] })
    process.stdin.pipe(child.stdin)
    let isFirst = true
    require('node:readline').createInterface({ input: child.stdout }).on('line', (line) => {
      process.stdout.write(${expression})
      isFirst = false
    })
  `)
}

test.concurrent.each([
  ['MC-MSG-04: every response twice', 'line + "\\n" + line + "\\n"', ['response-unasked']],
  ['MS-FRM-02: a byte order mark', '(isFirst ? "\\ufeff" : "") + line + "\\n"', ['stdout-noise']],
  ['MS-FRM-01: lines that end with CRLF', 'line + "\\r\\n"', []],
  ['MS-FRM-01: blank lines', '"\\n" + line + "\\n\\n"', []],
])('%s', async (_, expression, ids) => {
  const report = await probed(changed(expression))
  expect(report.verdict.era).toBe('dual')
  expect([...new Set(report.findings.map(({ id }) => id))]).toEqual(ids)
})

test.concurrent.each([
  ['MS-FRM-01: messages over several lines', 'JSON.stringify(JSON.parse(line), null, 2) + "\\n"', /over several lines/],
  ['MS-FRM-01: messages without a line feed', 'line', /does not end the line/],
])('%s are told as the cause', async (_, expression, cause) => {
  const report = await probed(changed(expression), { timeoutMs: 1_500 })
  expect(report).toMatchObject({ outcome: 'unreachable', verdict: { era: 'none' } })
  expect(report.verdict.cause).toMatch(cause)
})

test.concurrent('S11, A-22: what a slow server answers late is not taken for the answer to something else', async () => {
  const file = join(import.meta.dirname, 'flawed/stdio.ts')
  const words = ['--no-warnings', file, 'none', modernRevision, legacyRevision]
  const slow = `
    const child = require('node:child_process').spawn(process.execPath, ${JSON.stringify(words)}, { stdio: ['pipe', 'pipe', 'inherit'] })
    process.stdin.pipe(child.stdin)
    child.stdout.on('data', (chunk) => setTimeout(() => process.stdout.write(chunk), 900))
  `
  const call = { name: 'add', args: { a: 1, b: 2 } }
  const report = await probed(script(slow), { call, protocol: 'modern', timeoutMs: 10_000 })
  expect(report.findings).toEqual([])
  expect(report).toMatchObject({ outcome: 'fine', call: { ok: true } })
})

test.concurrent('S11: a silent command ends within bounds, and nothing of it is left', async () => {
  const started = performance.now()
  const report = await probed(script('setInterval(() => undefined, 1000); process.on("SIGTERM", () => undefined)'), {
    timeoutMs: 600,
  })
  expect(report.verdict.cause).toMatch(/runs, but says nothing within 600 ms/)
  expect(performance.now() - started).toBeLessThan(10_000)
})

test.concurrent('A2, S12: a legacy server that dies of the modern probe is started again for the legacy one', async () => {
  const report = await probed(fixture('dies-on-probe'))
  expect(report).toMatchObject({
    verdict: { era: 'legacy' },
    modern: { verdict: 'not-spoken' },
    legacy: { counts: { tools: 1 } },
  })
  expect(report.modern.reason).toMatch(/ends with exit code 1 \(stderr: unexpected server\/discover\)/)
  expect(report.findings.map(({ id }) => id)).toContain('probe-fatal')
  expect(report.steps.filter(({ name }) => name === 'spawn')).toHaveLength(2)
})

test.concurrent('S11: a server that is silent about the probe is greeted beside it after three seconds', async () => {
  const started = performance.now()
  const report = await probed(fixture('silent-on-probe'), { timeoutMs: 20_000 })
  expect(performance.now() - started).toBeLessThan(15_000)
  expect(report).toMatchObject({ verdict: { era: 'legacy' }, modern: { verdict: 'not-spoken' } })
  expect(report.findings.map(({ id }) => id)).toContain('probe-silent')
})

test.concurrent('a server of which every process starts slowly is not taken for a silent one', async () => {
  const server = join(import.meta.dirname, 'flawed/stdio.ts')
  const slow = `setTimeout(() => import(${JSON.stringify(server)}), 3300)`
  const report = await probed(
    {
      kind: 'command',
      command: process.execPath,
      args: ['--no-warnings', '-e', slow, '-', 'none', modernRevision, legacyRevision],
    },
    { timeoutMs: 20_000 },
  )
  expect(report).toMatchObject({ verdict: { era: 'dual' }, modern: { verdict: 'works' }, legacy: { verdict: 'works' } })
  expect(report.findings.map(({ id }) => id)).not.toContain('probe-silent')
  expect(report.findings.map(({ id }) => id)).not.toContain('connection-broken')
})

test.concurrent('A10: a legacy server that runs modern requests is a silent downgrade, and not modern', async () => {
  const report = await probed(fixture('legacy'))
  expect(report).toMatchObject({ verdict: { era: 'legacy' }, modern: { verdict: 'silent-downgrade' } })
  expect(report.modern.observed).toBeUndefined()
})

test.concurrent('LG-LIFE-08: a server that answers initialize with another revision is a downgrade, requested and observed apart', async () => {
  const report = await probed(flawedCommand('legacy-version-other'))
  expect(report.legacy).toMatchObject({
    verdict: 'silent-downgrade',
    requested: legacyRevision,
    observed: '2024-11-05',
  })
  expect(report.verdict).toMatchObject({
    era: 'dual',
    summary: 'Modern clients work; legacy clients are downgraded silently.',
  })
})

test.concurrent('a modern-only server is modern, and the probe says what a legacy client would read', async () => {
  const report = await probed(flawedCommand('legacy-refusal-unnamed'), { protocol: 'both' })
  expect(report).toMatchObject({ verdict: { era: 'modern' }, legacy: { verdict: 'not-spoken' } })
})

test.concurrent.each([
  ['modern', 'legacy'],
  ['legacy', 'modern'],
] as const)('--protocol %s leaves the other era alone', async (protocol, other) => {
  const report = await probed(flawedCommand('none'), { protocol })
  expect(report.verdict.era).toBe(protocol)
  expect(report[other]).toMatchObject({ verdict: 'not-tried', reason: `left out by --protocol ${protocol}` })
  expect(report.steps.filter(({ name }) => name === 'spawn')).toHaveLength(1)
})

test.concurrent('no tool is called unless one is named, and then with its arguments', async () => {
  const call = { name: 'add', args: { a: 1, b: 2, region: 'north' } }
  const report = await probed(flawedCommand('none'), { call })
  expect(report).toMatchObject({
    outcome: 'fine',
    call: { name: 'add', era: 'modern', ok: true, answer: { structuredContent: {} } },
  })
})

test.concurrent('a tool that reports a failure is one', async () => {
  const report = await probed(flawedCommand('none'), { call: { name: 'mul', args: {} } })
  expect(report).toMatchObject({
    outcome: 'tool-failed',
    call: { ok: false, detail: 'the tool reports a failure: no' },
  })
})

test.concurrent('D5: noise between messages is reported, and the server used', async () => {
  const report = await probed(fixture('noisy'))
  expect(report.findings.map(({ id }) => id)).toContain('stdout-noise')
  expect(report.verdict.era).toBe('legacy')
})

test.concurrent('MC-DISC-10, S03: discovery that offers no revision is no modern server for anybody', async () => {
  const report = await probed(fixture('modern', '2099-01-01'))
  expect(report).toMatchObject({ outcome: 'fine', verdict: { era: 'none' }, modern: { verdict: 'refuses' } })
  expect(report.verdict.cause).toMatch(/No revision in common/)
})

test.concurrent('D13: an aborted probe throws its reason, and stops what it started', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'atenea-probe-'))
  try {
    const file = join(folder, 'pid')
    const text = 'require("node:fs").writeFileSync(process.argv[1], String(process.pid)); setInterval(() => {}, 1000)'
    const target = { kind: 'command', command: process.execPath, args: ['-e', text, file] } as const
    const abort = new AbortController()
    const running = probed(target, { signal: abort.signal, timeoutMs: 30_000 })
    setTimeout(() => abort.abort(new Error('enough')), 1_000)
    await expect(running).rejects.toThrow('enough')
    expect(lives(Number(readFileSync(file, 'utf8')))).toBe(false)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test.concurrent('D13: the processes of a probe are gone when it returns, grandchildren too', async () => {
  const report = await probed(
    script(
      'const { spawn } = require("node:child_process"); const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]); console.error("pids", process.pid, child.pid); setInterval(() => {}, 1000)',
    ),
    { timeoutMs: 700 },
  )
  const pids = (report.stderr ?? '').match(/\d+/g)?.map(Number) ?? []
  expect(pids).toHaveLength(2)
  await vi.waitFor(() => expect(pids.filter(lives)).toEqual([]), { timeout: 10_000 })
})
