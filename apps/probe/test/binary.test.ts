import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test, type TestContext } from 'vitest'
import type { Report } from '../src/report.ts'
import { deadUrl } from './_util/hosts.ts'
import { httpServer, isAlive, probePath, runProbe, serverPath, startProbe } from './_util/run-probe.ts'

const folder = mkdtempSync(join(tmpdir(), 'atenea-probe-binary-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const { execPath } = process
const ours = [execPath, serverPath]
const path = (name: string): string => join(folder, name)

function config(servers: object): string {
  writeFileSync(path('mcp.json'), JSON.stringify({ mcpServers: servers }))
  return path('mcp.json')
}

describe('one server', () => {
  test('our own is fine over stdio: 0, and all on stdout', async () => {
    const { code, stdout, stderr } = await runProbe(['--', ...ours])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^✓ /)
    expect(stdout).toMatch(/legacy +✓ works/)
    expect(stdout).toMatch(/modern +✓ works/)
    expect(stdout).toContain('Findings: none')
  })

  test('nothing listens: 4, with cause and repair in the first three lines', async () => {
    const { code, stdout } = await runProbe(['http://127.0.0.1:9/mcp'])
    expect(code).toBe(4)
    expect(stdout.split('\n').slice(0, 3)).toEqual([
      expect.stringMatching(/^✗ /),
      expect.stringMatching(/^ {2}Cause: +.*127\.0\.0\.1:9/),
      expect.stringMatching(/^ {2}Repair: +\S/),
    ])
  })

  test('a login is wanted: 3, and with the token of a file all is well and the token is nowhere to be seen', async () => {
    const token = 'a-token-that-nobody-may-see'
    writeFileSync(path('tokens.txt'), `${token}\n`)
    writeFileSync(path('headers.txt'), `Authorization: Bearer ${token}\n`)
    await using server = await httpServer('--bearer-token-file', path('tokens.txt'))
    const refused = await runProbe([server.url])
    expect(refused.code).toBe(3)
    expect(refused.stdout).toMatch(/Authentication\n {2}status: +401\n {2}scheme: +Bearer/i)
    const known = ['--header-file', path('headers.txt'), '--format', 'json', '--html', path('page.html'), server.url]
    const { code, stdout, stderr } = await runProbe(known)
    expect([code, stderr]).toEqual([0, ''])
    expect(`${stdout}${readFileSync(path('page.html'), 'utf8')}`).not.toContain(token)
  })

  test('a tool is called only when it is named: its answer is shown, and 5 when it fails', async () => {
    const called = await runProbe([
      '--call',
      'create_record_cid',
      '--args',
      '{"record":{"$type":"x.y.z"}}',
      '--',
      ...ours,
    ])
    expect(called.code).toBe(0)
    expect(called.stdout).toMatch(/Call of create_record_cid .*✓ answered/)
    expect(called.stdout).toContain('bafyrei')
    const failed = await runProbe(['--call', 'create_record_cid', '--args', '{}', '--', ...ours])
    expect(failed.code).toBe(5)
    expect(failed.stdout).toMatch(/Call of create_record_cid .*✗ failed/)
  })

  test.runIf(process.platform === 'linux')('a result that finds no room is no success', async () => {
    const child = spawn(process.execPath, [probePath, '--timeout-ms', '500', await deadUrl()], {
      stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
    })
    let said = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text))
    const [code] = (await once(child, 'close')) as [number]
    expect([code, said]).toEqual([2, expect.stringMatching(/^atenea-probe: cannot write the result: ENOSPC/)])
  })

  test('one era can be asked for alone', async () => {
    const { code, stdout } = await runProbe(['--protocol', 'legacy', '--format', 'json', '--', ...ours])
    const { legacy, modern, verdict } = JSON.parse(stdout) as Report
    expect([code, legacy.verdict, modern.verdict, verdict.era]).toEqual([0, 'works', 'not-tried', 'legacy'])
  })

  test('a server that repeats a secret of its configuration does not bring it to light', async () => {
    const secret = 'not-to-be-repeated-1234'
    const echo = `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  const { TEA_TOKEN } = process.env
  const tool = { name: 'brew', description: TEA_TOKEN, inputSchema: { type: 'object', properties: { [TEA_TOKEN]: {} } } }
  const results = {
    initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, instructions: TEA_TOKEN, serverInfo: { name: TEA_TOKEN, version: '1' } },
    'tools/list': { tools: [tool] },
  }
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] ?? { text: TEA_TOKEN } }))
  process.stderr.write(TEA_TOKEN)
})`
    const file = config({ tea: { command: execPath, args: ['-e', echo], env: { TEA_TOKEN: secret } } })
    const args = ['--protocol', 'legacy', '--config', file, '--html', path('page.html')]
    for (const format of ['text', 'json', 'junit', 'sarif']) {
      const { stdout, stderr } = await runProbe([...args, '--format', format])
      expect(stdout.length).toBeGreaterThan(100)
      expect(`${stdout}${stderr}${readFileSync(path('page.html'), 'utf8')}`).not.toContain(secret)
    }
    const { stdout } = await runProbe([...args, '--format', 'json'])
    expect(JSON.parse(stdout)).toMatchObject({
      reports: [{ legacy: { lists: { tools: [{ name: 'brew', description: '[redacted]' }] } } }],
    })
  })

  test('JUnit, SARIF and a page are written to files, and stdout is left alone', async () => {
    for (const [format, beginning] of [
      ['junit', '<?xml'],
      ['sarif', '{'],
      ['json', '{'],
      ['text', '✗'],
    ] as const) {
      const args = ['--format', format, '--output', path(format), '--html', path('page.html'), 'http://127.0.0.1:9']
      expect(await runProbe(args)).toEqual({ code: 4, stdout: '', stderr: '' })
      expect(readFileSync(path(format), 'utf8').startsWith(beginning)).toBe(true)
      expect(readFileSync(path('page.html'), 'utf8')).toMatch(/^<!doctype html>/)
    }
  })
})

describe('the servers of a configuration', () => {
  test('side by side, each with its line in one table, and the worst decides', async () => {
    await using server = await httpServer()
    const file = config({
      near: { command: execPath, args: [serverPath] },
      web: { type: 'http', url: server.url },
      down: { url: 'http://127.0.0.1:9/mcp' },
      off: { command: 'nothing', disabled: true },
    })
    const { code, stdout, stderr } = await runProbe(['--config', file])
    expect([code, stderr]).toEqual([4, ''])
    const rows = stdout.trimEnd().split('\n').slice(-5)
    expect(rows).toEqual([
      expect.stringMatching(/^ {2}server +legacy +modern +findings +time$/),
      expect.stringMatching(/^✓ near +works +works +none/),
      expect.stringMatching(/^✓ web +works +works +none/),
      expect.stringMatching(/^✗ down +unreachable/),
      expect.stringMatching(/^· off +disabled$/),
    ])
    const chosen = await runProbe(['--config', file, '--format', 'json', 'web'])
    expect(chosen.code).toBe(0)
    expect(JSON.parse(chosen.stdout)).toMatchObject({
      format: 'atenea-probe-reports',
      reports: [{ target: { name: 'web' } }],
    })
  })

  test('what one lacks is told with its place, the others are probed all the same, and it exits with 2', async () => {
    const file = config({
      broken: { command: 'x', env: { KEY: `\${ATENEA_NOT_SET}` } },
      down: { url: 'http://127.0.0.1:9/mcp', headrs: {} },
    })
    const { code, stdout, stderr } = await runProbe(['--config', file])
    expect(code).toBe(2)
    expect(stdout).toMatch(/✗ broken +wrong in the configuration/)
    expect(stdout).toMatch(/✗ down +unreachable/)
    expect(stdout).toContain('the variable ATENEA_NOT_SET is not set')
    expect(stderr).toContain('the key "headrs" is not understood; did you mean "headers"?')
  })
})

describe('diff', () => {
  test('a saved report, a server and a name in a configuration; 0 when they are alike, 1 when B loses something', async () => {
    await using server = await httpServer()
    const saved = path('saved.json')
    expect((await runProbe(['--format', 'json', '--output', saved, '--', ...ours])).code).toBe(0)
    const same = await runProbe(['diff', saved, server.url])
    expect([same.code, same.stdout.split('\n')[0]]).toEqual([0, '✓ A and B are the same'])
    const file = config({ less: { command: execPath, args: [serverPath, '--deny-tool', 'get_blob'] } })
    const less = await runProbe(['diff', '--config', file, server.url, 'less'])
    expect(less.code).toBe(1)
    expect(less.stdout).toContain('B loses\n  - tool get_blob\n')
    const more = await runProbe(['diff', '--config', file, '--format', 'json', 'less', saved])
    expect(more.code).toBe(0)
    expect(JSON.parse(more.stdout)).toMatchObject({
      format: 'atenea-probe-diff',
      same: true,
      differences: [{ kind: 'added', area: 'tools', era: 'both', subject: 'get_blob' }],
    })
  })

  test('a side that is down is no equal: 4', async () => {
    const down = ['--format', 'json', '--output', path('down.json'), 'http://127.0.0.1:9/mcp']
    expect((await runProbe(down)).code).toBe(4)
    expect((await runProbe(['diff', path('down.json'), path('down.json')])).code).toBe(4)
  })
})

describe('ends well', () => {
  /** A server that does not react to anything, and says which process it is. */
  const hung = (file: string): string[] => [
    execPath,
    '-e',
    `for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(name, () => {}); process.stdin.resume(); setInterval(() => {}, 1000); require('fs').writeFileSync(${JSON.stringify(file)}, String(process.pid))`,
  ]
  const pidOf = async (file: string): Promise<number> => {
    while (!existsSync(file) || readFileSync(file, 'utf8') === '')
      await new Promise((resolve) => setTimeout(resolve, 20))
    return Number(readFileSync(file, 'utf8'))
  }

  test.each(['SIGINT', 'SIGTERM'] as const)(
    '%s: 130, nothing on stdout, and the process of the server is gone',
    async (signal) => {
      const file = path(`${signal}.pid`)
      const { child, ended } = startProbe(['--timeout-ms', '60000', '--', ...hung(file)])
      const pid = await pidOf(file)
      expect(isAlive(pid)).toBe(true)
      child.kill(signal)
      expect(await ended).toEqual({ code: 130, stdout: '', stderr: '' })
      expect(isAlive(pid)).toBe(false)
    },
  )

  test('a server that hangs is told, and no process of it is left', async () => {
    const file = path('hung.pid')
    const { code, stdout, stderr } = await runProbe(['--timeout-ms', '300', '--', ...hung(file)])
    expect([code, stderr]).toEqual([4, ''])
    expect(stdout).toMatch(/^✗ .*\n {2}Cause: /)
    expect(isAlive(await pidOf(file))).toBe(false)
  })

  test('| head -1 gets one line, and the probe ends as if somebody had read on', async () => {
    const command = `{ ${[execPath, probePath, '--', ...ours].join(' ')}; echo "code $?" >&2; } | head -1`
    const child = spawn('sh', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe'] })
    const shown = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        shown[name] += text
      })
    }
    await once(child, 'close')
    expect(shown.stdout).toMatch(/^✓ [^\n]*\n$/)
    expect(shown.stderr).toBe('code 0\n')
  })

  /** What the program shows where stdout and stderr are a terminal. */
  const onTerminal = async (
    context: TestContext,
    words: string,
    env: Readonly<Record<string, string | undefined>> = {},
  ): Promise<string> => {
    const script = `${execPath} ${probePath} ${words}`
    const child = spawn('script', ['-qec', script, '/dev/null'], {
      env: { ...process.env, TERM: 'xterm', NO_COLOR: undefined, CI: undefined, ...env },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let shown = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text
    })
    const failed = await Promise.race([once(child, 'error').then(() => true), once(child, 'close').then(() => false)])
    context.skip(failed, 'needs script')
    return shown
  }

  test('colours: none into a pipe, none with NO_COLOR, and on a terminal they are there', async (context) => {
    const mark = '\u001b[31m'
    expect(await onTerminal(context, 'http://127.0.0.1:9')).toContain(mark)
    expect(await onTerminal(context, 'http://127.0.0.1:9', { NO_COLOR: '1' })).not.toContain(mark)
    expect((await runProbe(['http://127.0.0.1:9'])).stdout).not.toContain('\u001b')
  })

  test('what goes on is shown on a terminal in a line that goes away, unless silence is asked for', async (context) => {
    const server = `-- ${ours.join(' ')}`
    const clear = '\r\u001b[K'
    const shown = await onTerminal(context, server)
    expect(shown).toContain(`${clear}${execPath}: `)
    expect(shown.split(clear).at(-1)).toContain('✓ ')
    expect(await onTerminal(context, `--log-level silent ${server}`)).not.toContain(clear)
    expect(await onTerminal(context, server, { TERM: 'dumb' })).not.toContain(clear)
  })
})
