import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { type ServerConnection, ServerExitError, type SpawnServerOptions, spawnServer } from '../src/index.ts'
import { drain, reader, request } from './_util/connections.ts'
import { isAlive, processesWith, until } from './_util/processes.ts'

// Processes start slowly on a busy machine; these bounds only catch a hang.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const folder = mkdtempSync(join(tmpdir(), 'spawn-'))
afterAll(() => {
  rmSync(folder, { recursive: true })
})

/** The process that watches over ours. */
const guard = `atenea-orphan-guard-of-${process.pid}`

/** In the command line of everything that these tests start. */
const mark = `mark-${process.pid}`

/** Answers each request with the result of an expression over `message`. */
function answering(expression: string): string {
  return `let rest = ''
    process.stdin.setEncoding('utf8').on('data', (text) => {
      const lines = (rest + text).split('\\n')
      rest = lines.pop()
      for (const line of lines) {
        const message = JSON.parse(line)
        console.log(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: ${expression} }))
      }
    })`
}

async function start(script: string, options: Partial<SpawnServerOptions> = {}): Promise<ServerConnection> {
  return await spawnServer({
    command: process.execPath,
    args: ['-e', script, mark],
    stderr: 'ignore',
    closeTimeoutMs: 500,
    termTimeoutMs: 500,
    ...options,
  })
}

afterEach(async () => {
  await until(() => processesWith(mark).length === 0)
})

describe('a server process', () => {
  test('gets what is sent and is heard', async () => {
    await using server = await start(answering('message.params'))
    const next = reader(server)
    void server.send(request(1, { text: '読み\u2028' }))
    expect(await next()).toEqual({ kind: 'result', id: 1, result: { text: '読み\u2028' } })
  })

  test('MS-FRM-03, LG-STDIO-01: its stdin receives whole lines of JSON-RPC and nothing else, to the byte', async () => {
    const lines: string[] = []
    const script = `process.stdin.toArray().then((chunks) => console.error(Buffer.concat(chunks).toString('latin1').replaceAll('\\n', '<LF>')))`
    const server = await start(script, { stderr: (line) => lines.push(line), closeTimeoutMs: 5000 })
    void server.send(request(1, { text: 'a\nb\r\n' }))
    void server.send({ kind: 'notification', method: 'n', params: undefined })
    await server[Symbol.asyncDispose]()
    expect(lines).toEqual([
      String.raw`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"text":"a\nb\r\n"}}<LF>{"jsonrpc":"2.0","method":"n"}<LF>`,
    ])
  })

  test('D4: what it prints byte by byte arrives whole', async () => {
    const script = `const bytes = Buffer.from(JSON.stringify({ jsonrpc: '2.0', method: 'n', params: { text: '読🎉' } }) + '\\n')
      let at = 0
      const timer = setInterval(() => {
        process.stdout.write(bytes.subarray(at, at + 1))
        if (++at === bytes.length) clearInterval(timer)
      }, 2)
      process.stdin.resume()`
    await using server = await start(script)
    expect(await reader(server)()).toEqual({ kind: 'notification', method: 'n', params: { text: '読🎉' } })
  })

  test('gets a minimal environment: the safelist, what is named, and what is added', async () => {
    process.env['ATENEA_SECRET'] = 'zzz'
    process.env['ATENEA_NAMED'] = 'named'
    try {
      await using server = await start(answering('process.env'), {
        inheritEnv: ['ATENEA_NAMED'],
        env: { ADDED: 'added' },
      })
      void server.send(request(1))
      const answer = await reader(server)()
      expect(answer).toMatchObject({ result: { PATH: process.env['PATH'], ATENEA_NAMED: 'named', ADDED: 'added' } })
      expect(answer).not.toHaveProperty('result.ATENEA_SECRET')
    } finally {
      delete process.env['ATENEA_SECRET']
      delete process.env['ATENEA_NAMED']
    }
  })

  test('is not read by a shell', async () => {
    const text = 'a b & calc; $(id) `id` "quoted" %PATH% \'x\''
    await using server = await start(answering('process.argv.slice(1)'), {
      args: ['-e', answering('{ argv: process.argv.slice(1) }'), mark, text],
    })
    void server.send(request(1))
    expect(await reader(server)()).toMatchObject({ result: { argv: [mark, text] } })
  })

  test('MS-FRM-05: its log lines are handed on, and are no sign of failure', async () => {
    const lines: string[] = []
    const script = `process.stderr.write('one\\r\\ntwo\\nthr'); setTimeout(() => process.stderr.write('ee\\n'), 20); ${answering('{}')}`
    await using server = await start(script, { stderr: (line) => lines.push(line) })
    await until(() => lines.length === 3)
    expect(lines).toEqual(['one', 'two', 'three'])
    void server.send(request(1))
    expect(await reader(server)()).toMatchObject({ kind: 'result' })
  })
})

describe('a failed start is an error of kind unreachable that names the command and what to do', () => {
  const script = join(folder, 'not-executable')
  writeFileSync(script, '#!/bin/sh\n', { mode: 0o644 })

  test.each([
    ['no such command', { command: 'atenea-no-such-command' }, /"atenea-no-such-command".*no such command.*PATH/],
    ['a command and its arguments in one', { command: 'npx -y x' }, /no such command.*arguments.*one by one/],
    ['not executable', { command: script }, /not-executable.*not an executable file.*chmod/],
    ['no working directory', { cwd: join(folder, 'none') }, /working directory .*none does not exist.*"cwd"/],
    ['working directory is a file', { cwd: script }, /working directory .* is not a directory/],
    ['a NUL in an argument', { args: ['a\0b'] }, /cannot start server/],
  ])('%s', async (_, options, message) => {
    await expect(start('', options)).rejects.toMatchObject({
      name: 'TransportError',
      kind: 'unreachable',
      message: expect.stringMatching(message),
    })
  })

  test('an aborted start starts nothing', async () => {
    const reason = new Error('no more')
    await expect(start('setInterval(() => {}, 1000)', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(processesWith(mark)).toEqual([])
  })
})

describe('D14: an end that nobody asked for', () => {
  test('throws the exit code and the last log lines, redacted, after what was sent before', async () => {
    const script = `${answering('{}')}.on('data', () => {
      for (let line = 0; line < 30; line++) console.error('line ' + line + ' token=zzz')
      process.exitCode = 7
      process.stdin.destroy()
    })`
    const server = await start(script, { redact: (line) => line.replace('zzz', '***') })
    void server.send(request(1))
    const { messages, error } = await drain(server)
    expect(messages).toMatchObject([{ kind: 'result', id: 1 }])
    expect(error).toBeInstanceOf(ServerExitError)
    expect(error).toMatchObject({
      kind: 'closed',
      exit: { code: 7, signal: null },
      message: expect.stringContaining('code 7'),
    })
    const { stderr, message } = error as ServerExitError
    expect(stderr).toHaveLength(20)
    expect(stderr.at(-1)).toBe('line 29 token=***')
    expect(message + stderr.join()).not.toContain('zzz')
    await server[Symbol.asyncDispose]()
  })

  test('of its last lines the telling one is in the message, not the end of a stack', async () => {
    const server = await start(`require('./no-such-module')`)
    const { error } = await drain(server)
    expect(error).toMatchObject({
      message: expect.stringMatching(/last words: Error: Cannot find module '.*no-such-module'$/),
    })
    await server[Symbol.asyncDispose]()
  })

  test('names the signal', async () => {
    const server = await start('process.stdin.resume()')
    process.kill(server.pid, 'SIGKILL')
    expect((await drain(server)).error).toMatchObject({ exit: { code: null, signal: 'SIGKILL' } })
    await expect(server.send(request(1))).rejects.toMatchObject({ kind: 'closed' })
    await server[Symbol.asyncDispose]()
  })

  test('a process that closes its output but lives is stopped without being waited for', async () => {
    const script = `process.on('SIGTERM', () => {}); require('node:fs').closeSync(1); setInterval(() => {}, 1000)`
    const server = await start(script, { closeTimeoutMs: 5000 })
    const { error } = await drain(server)
    expect(error).toMatchObject({ kind: 'closed', exit: { code: null, signal: null } })
    expect(isAlive(server.pid)).toBe(true)
    process.kill(server.pid, 'SIGKILL')
    await server[Symbol.asyncDispose]()
  })

  test('a grandchild that holds the output open does not hide it', async () => {
    const script = `require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', '${mark}'], { stdio: 'inherit' })
      process.stdin.once('data', () => process.exit(3))`
    const server = await start(script)
    void server.send(request(1))
    expect((await drain(server)).error).toMatchObject({ exit: { code: 3 } })
    await server[Symbol.asyncDispose]()
    await until(() => processesWith(mark).length === 0)
  })
})

describe('D13: nothing is left behind', () => {
  const stubborn = `process.on('SIGTERM', () => {}); process.on('SIGHUP', () => {}); process.stdin.resume(); setInterval(() => {}, 1000)`

  test.each([
    ['one that ends with its input', 'process.stdin.resume()'],
    ['one that ignores the end of its input', 'setInterval(() => {}, 1000)'],
    ['one that ignores SIGTERM too', stubborn],
  ])('MS-LIFE-01: %s is stopped', async (_, script) => {
    const server = await start(script, { closeTimeoutMs: 200, termTimeoutMs: 200 })
    await server[Symbol.asyncDispose]()
    expect(isAlive(server.pid)).toBe(false)
    const { code, signal } = await server.exited
    expect([code, signal]).not.toEqual([null, null])
  })

  test('grandchildren are stopped with it, also when they ignore SIGTERM', async () => {
    const script = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(stubborn)}, '${mark}'])
      ${answering('{}')}`
    const server = await start(script, { closeTimeoutMs: 200, termTimeoutMs: 200 })
    const next = reader(server)
    void server.send(request(1))
    await next()
    await until(() => processesWith(mark).length === 2)
    await server[Symbol.asyncDispose]()
    // It was told to; the kernel may take a moment.
    await until(() => processesWith(mark).length === 0)
    expect(isAlive(server.pid)).toBe(false)
  })

  test('the number of processes returns to its base after many starts', async () => {
    for (let turn = 0; turn < 5; turn += 1) {
      const servers = await Promise.all(Array.from({ length: 4 }, () => start('process.stdin.resume()')))
      await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()))
    }
    expect(processesWith(mark)).toEqual([])
    await until(() => processesWith(guard).length === 0)
  })

  test('whoever starts one and is killed in the same moment leaves nothing behind, however stubborn it is', async () => {
    const options = { command: process.execPath, args: ['-e', stubborn, mark], stderr: 'ignore' }
    const starter = `import { spawnServer } from ${JSON.stringify(join(import.meta.dirname, '../src/index.ts'))}
      void spawnServer(${JSON.stringify(options)})
      process.kill(process.pid, 'SIGKILL')`
    const { signal } = spawnSync(process.execPath, ['--input-type=module', '-e', starter])
    expect(signal).toBe('SIGKILL')
    await until(() => processesWith(mark).length === 0)
  })

  test('two servers share one guard, and each is gone after its own end', async () => {
    const first = await start('process.stdin.resume()')
    const second = await start('process.stdin.resume()')
    expect(processesWith(guard)).toHaveLength(1)
    await first[Symbol.asyncDispose]()
    expect(isAlive(first.pid)).toBe(false)
    expect(isAlive(second.pid)).toBe(true)
    await second[Symbol.asyncDispose]()
  })
})
