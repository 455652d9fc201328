import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { fixture, mark } from './_util/fixtures.ts'
import { processesWith, until } from './_util/processes.ts'

// Processes start slowly on a busy machine; these bounds only catch a hang.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const request = (id: number, method: string, params: object = {}): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`

const children: ChildProcessWithoutNullStreams[] = []

function start(name: string, ...args: readonly string[]): ChildProcessWithoutNullStreams {
  const { command, args: all = [] } = fixture(name, ...args)
  const child = spawn(command, all)
  children.push(child)
  return child
}

async function run(name: string, input: string): Promise<{ stdout: string; stderr: string; code: unknown }> {
  const child = start(name)
  child.stdin.end(input)
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { stdout, stderr, code }
}

afterEach(async () => {
  // Those of a test that failed; the others have left by themselves.
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await until(() => processesWith(mark).length === 0)
})

describe('stdout', () => {
  test('MS-FRM-02: carries protocol only while the connection is open; what is written to it goes to stderr', async () => {
    const { stdout, stderr, code } = await run('chatty', request(1, 'echo', { a: 1 }))
    expect(stdout.split('\n')).toEqual([
      '{"before":true}',
      '{"jsonrpc":"2.0","id":1,"result":{"a":1}}',
      '{"after":true}',
      '',
    ])
    expect(stderr).toBe('stray log\nstray write\n')
    expect(code).toBe(0)
  })

  test('a client that closes it ends the server without a crash', async () => {
    const child = start('echo')
    child.stdin.write(request(1, 'echo'))
    await once(child.stdout, 'data')
    child.stdout.destroy()
    child.stdin.write(request(2, 'flood', { count: 100, size: 10_000 }))
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
    expect(stderr).toBe('')
    expect(code).toBe(0)
  })
})

describe('the end of stdin', () => {
  test('MS-LIFE-02, D10: is noticed at once when there never was any input', async () => {
    const { command, args = [] } = fixture('holds-loop')
    const child = spawn(command, args, { stdio: [openSync('/dev/null', 'r'), 'pipe', 'pipe'] })
    const started = performance.now()
    const [code] = (await once(child, 'exit')) as [number]
    expect(code).toBe(0)
    // It takes a few hundred milliseconds to load; the bound only catches a process that stays.
    expect(performance.now() - started).toBeLessThan(10_000)
  })

  test('D10: lets a server that has nothing else to do go', async () => {
    expect(await run('echo', '')).toEqual({ stdout: '', stderr: '', code: 0 })
  })

  test('D10: lets a server go that holds handles and exits when it has served', async () => {
    expect(await run('holds-loop', request(1, 'echo'))).toEqual({
      stdout: '{"jsonrpc":"2.0","id":1,"result":{}}\n',
      stderr: '',
      code: 0,
    })
  })

  test('a connection that the server closes does not keep it alive, though stdin stays open', async () => {
    const child = start('closes-itself')
    const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
    expect(stdout).toBe('{"jsonrpc":"2.0","method":"bye"}\n')
    expect(code).toBe(0)
  })
})

describe('D10, D13: a parent that is killed with SIGKILL', () => {
  test('leaves no child behind, also none that ignores the end of its input and SIGTERM', async () => {
    const parent = start('parent')
    await once(parent.stdout, 'data')
    expect(processesWith(mark)).toHaveLength(2)
    parent.kill('SIGKILL')
    await until(() => processesWith(mark).length === 0)
    await until(() => processesWith(`atenea-orphan-guard-of-${parent.pid}`).length === 0)
    expect(processesWith(mark)).toEqual([])
  })

  test('leaves no child behind that only heeds the end of its input, long before the guard steps in', async () => {
    const child = start('legacy')
    child.stdin.write(request(1, 'ping'))
    await once(child.stdout, 'data')
    child.stdin.destroy()
    const [code] = (await once(child, 'exit')) as [number]
    expect(code).toBe(0)
  })
})

describe('framing on a real pipe', () => {
  test('D2, D4, D5: a byte order mark, bytes one at a time and a garbage line', async () => {
    const child = start('echo')
    const bytes = Buffer.concat([
      Buffer.from([0xef, 0xbb, 0xbf]),
      Buffer.from(request(1, 'echo', { text: '読🎉' })),
      Buffer.from('{"jsonrpc":"2.0","method":"x","params":\n'),
      Buffer.from(request(2, 'echo')),
    ])
    for (const byte of bytes) {
      child.stdin.write(Buffer.from([byte]))
      await new Promise((resolve) => {
        setImmediate(resolve)
      })
    }
    child.stdin.end()
    expect(await text(child.stdout)).toBe(
      '{"jsonrpc":"2.0","id":1,"result":{"text":"読🎉"}}\n{"jsonrpc":"2.0","id":2,"result":{}}\n',
    )
  })

  test('D1: we end lines with a bare LF, whatever the client does', async () => {
    const { stdout } = await run('echo', `${request(1, 'echo').trim()}\r\n\r\n${request(2, 'echo').trim()}\r\n`)
    expect(stdout).toBe('{"jsonrpc":"2.0","id":1,"result":{}}\n{"jsonrpc":"2.0","id":2,"result":{}}\n')
  })

  test('D8: 300 MB without a newline leave the memory of the server as it was, and it goes on', async () => {
    const child = start('echo')
    const chunk = Buffer.alloc(1024 * 1024, 'x')
    let peakKb = 0
    for (let sent = 0; sent < 300; sent += 1) {
      if (!child.stdin.write(chunk)) await once(child.stdin, 'drain')
      if (sent % 10 === 0) peakKb = Math.max(peakKb, residentKb(child.pid))
    }
    child.stdin.end(`\n${request(1, 'echo')}`)
    expect(await text(child.stdout)).toBe('{"jsonrpc":"2.0","id":1,"result":{}}\n')
    expect(peakKb).toBeGreaterThan(0)
    expect(peakKb).toBeLessThan(250_000)
  })
})

test('a server loads what it needs to serve, and nothing to start processes, to listen or to speak HTTP', async () => {
  const { stdout } = await run('lists-modules', request(1, 'ping'))
  const loaded = stdout
    .trim()
    .split('\n')
    .map((line) => line.replace('NativeModule ', ''))
  expect(loaded).toContain('net')
  for (const costly of [
    'child_process',
    'http',
    'https',
    'tls',
    'crypto',
    'dns',
    'internal/deps/undici/undici',
    'zlib',
  ]) {
    expect(loaded).not.toContain(costly)
  }
})

function residentKb(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1])
}
