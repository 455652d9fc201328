import { spawn, spawnSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { once } from 'node:events'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { legacyRevision } from '@atenea/mcpcompat'
import { afterAll, describe, expect, test } from 'vitest'
import { binPath, modernMeta, ServerProcess } from './_util/server-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'atenea-life-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let sockets = 0
function freshSocket(): string {
  sockets += 1
  return join(folder, `s${sockets}`)
}

async function listening(path: string, ...args: string[]): Promise<ServerProcess> {
  const server = new ServerProcess(['--socket', path, ...args])
  await server.until('it listens', () => (server.stderr.includes('listening') ? true : undefined))
  return server
}

/** One modern call over a new connection to the socket. */
async function callOver(path: string): Promise<string> {
  const socket = createConnection(path)
  socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: modernMeta } })}\n`)
  let text = ''
  for await (const chunk of socket.setEncoding('utf8')) {
    text += String(chunk)
    if (text.includes('\n')) break
  }
  socket.destroy()
  return text
}

/** Whether a process lives. One that has ended counts as gone also where nobody collects its exit code. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return process.platform !== 'linux' || !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

describe('the end of input', () => {
  test('D10: without any input it ends at once, with 0 and an empty stdout', () => {
    const nothing = openSync('/dev/null', 'r')
    const { status, stdout, error } = spawnSync(process.execPath, [binPath], {
      stdio: [nothing, 'pipe', 'pipe'],
      timeout: 5_000,
    })
    closeSync(nothing)
    expect(error).toBeUndefined()
    expect(status).toBe(0)
    expect(stdout.toString()).toBe('')
  })

  test('D10: it ends when its parent is killed', async () => {
    const script = `
      const { spawn } = require('node:child_process')
      const child = spawn(process.execPath, [${JSON.stringify(binPath)}, '--stdio'], { stdio: ['pipe', 'pipe', 'ignore'] })
      child.stdout.once('data', () => { console.log(child.pid); setInterval(() => {}, 1000) })
      child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\\n')`
    const parent = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
    const pid = await new Promise<number>((resolve) => {
      parent.stdout.once('data', (data: Buffer) => resolve(Number(data.toString())))
    })
    parent.kill('SIGKILL')
    const until = Date.now() + 5_000
    while (isRunning(pid) && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 20))
    expect(isRunning(pid)).toBe(false)
  })

  test('D11: requests that came before the end of input are all answered', async () => {
    await using server = new ServerProcess(['--stdio'])
    const record = { text: 'x'.repeat(100_000) }
    const calls = Array.from({ length: 50 }, (_, id) => {
      const params = { name: 'create_record_cid', arguments: { record: { ...record, id } }, _meta: modernMeta }
      return `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params })}\n`
    })
    server.child.stdin?.end(calls.join(''))
    expect(await server.ended).toEqual({ code: 0, signal: null })
    expect(server.messages.map(({ id }) => id).toSorted((a, b) => Number(a) - Number(b))).toEqual([...calls.keys()])
    expect(server.messages.filter(({ result }) => result === undefined)).toEqual([])
  })

  test('D11: a large answer is written whole although the end of input came with its request', async () => {
    const text = 'large '.repeat(1_000_000)
    writeFileSync(join(folder, 'large.txt'), text)
    const file = join(folder, 'large.json')
    writeFileSync(file, JSON.stringify({ resources: [{ uri: 'large:///1', name: 'large', file: 'large.txt' }] }))
    await using server = new ServerProcess(['--config', file])
    const params = { uri: 'large:///1', _meta: modernMeta }
    server.child.stdin?.end(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/read', params })}\n`)
    expect(await server.ended).toEqual({ code: 0, signal: null })
    expect(server.messages[0]?.result).toMatchObject({ contents: [{ text }] })
  })
})

describe('a client that does not read', () => {
  test.each(['the end of its input', 'SIGTERM'] as const)('D10: does not keep the server after %s', async (how) => {
    await using server = new ServerProcess(['--log-level', 'debug'])
    await server.ask('first', 'server/discover')
    server.child.stdout?.pause()
    const request = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: modernMeta } })
    server.send(`${request}\n`.repeat(200))
    await delay(200)
    const exited = once(server.child, 'exit')
    if (how === 'SIGTERM') server.child.kill('SIGTERM')
    else server.endInput()
    expect(await exited).toEqual([0, null])
    server.child.stdout?.resume()
  })
})

describe('signals', () => {
  test.each([
    ['SIGTERM', 0],
    ['SIGINT', 130],
  ] as const)(
    '%s ends in order: open listens get their result, the socket goes, exit code %i',
    async (signal, code) => {
      const path = freshSocket()
      await using server = new ServerProcess(['--stdio', '--socket', path])
      const params = { notifications: { toolsListChanged: true }, _meta: modernMeta }
      server.send({ jsonrpc: '2.0', id: 'listen', method: 'subscriptions/listen', params })
      await server.until('it is acknowledged', () => server.messages[0])
      expect(existsSync(path)).toBe(true)
      server.child.kill(signal)
      expect(await server.ended).toEqual({ code, signal: null })
      expect(server.messages.find((message) => message.id === 'listen')?.result).toMatchObject({
        resultType: 'complete',
      })
      expect(existsSync(path)).toBe(false)
    },
  )

  test('with --stdio and --socket the end of stdin ends both', async () => {
    const path = freshSocket()
    await using server = await listening(path, '--stdio')
    expect(await callOver(path)).toContain('create_record_cid')
    server.endInput()
    expect(await server.ended).toEqual({ code: 0, signal: null })
    expect(existsSync(path)).toBe(false)
  })
})

describe('unix sockets', () => {
  test('F19: only its owner can reach it, and it serves several clients at once', async () => {
    const path = join(folder, 'made', 'for', 'us.sock')
    await using server = await listening(path)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(join(folder, 'made', 'for')).mode & 0o777).toBe(0o700)
    const answers = await Promise.all(Array.from({ length: 8 }, () => callOver(path)))
    expect(answers.filter((answer) => answer.includes('create_record_cid'))).toHaveLength(8)
    expect(server.noise).toEqual([])
  })

  test('F19: a second server on the same path is refused with 4, and the first one goes on', async () => {
    const path = freshSocket()
    await using _first = await listening(path)
    await using second = new ServerProcess(['--socket', path])
    expect(await second.ended).toEqual({ code: 4, signal: null })
    expect(second.stderr).toMatch(/^atenea-server: .*is in use/)
    expect(await callOver(path)).toContain('create_record_cid')
  })

  test('F19: what a killed server left behind is replaced', async () => {
    const path = freshSocket()
    const killed = await listening(path)
    await killed[Symbol.asyncDispose]()
    expect(lstatSync(path).isSocket()).toBe(true)
    await using _server = await listening(path)
    expect(await callOver(path)).toContain('create_record_cid')
  })

  test('F19: a file, a directory, a link or a path that is too long is refused with 4 and left alone', async () => {
    const file = join(folder, 'file')
    writeFileSync(file, 'precious')
    const link = join(folder, 'link')
    symlinkSync(file, link)
    const directory = join(folder, 'directory')
    mkdirSync(directory)
    const cases = [
      [file, 'a file'],
      [link, 'a symbolic link'],
      [directory, 'a directory'],
      [join(folder, 'x'.repeat(120)), 'bytes long'],
    ] as const
    for (const [path, reason] of cases) {
      await using server = new ServerProcess(['--socket', path])
      expect(await server.ended, path).toEqual({ code: 4, signal: null })
      expect(server.stderr, path).toContain(reason)
    }
    expect(statSync(file).size).toBe('precious'.length)
    expect(lstatSync(link).isSymbolicLink()).toBe(true)
  })

  test('when one of two sockets cannot be used, none is left open', async () => {
    const good = freshSocket()
    await using server = new ServerProcess(['--socket', good, '--socket', join(folder, 'directory')])
    expect(await server.ended).toEqual({ code: 4, signal: null })
    expect(existsSync(good)).toBe(false)
  })
})

describe('connect', () => {
  test('carries both eras to the socket and ends with the client', async () => {
    const path = freshSocket()
    await using _server = await listening(path)
    await using client = new ServerProcess(['connect', path])
    expect((await client.initialize(legacyRevision)).result).toMatchObject({ protocolVersion: legacyRevision })
    expect((await client.ask(1, 'tools/list')).result).toMatchObject({ resultType: 'complete' })
    client.send({ jsonrpc: '2.0', id: 2, method: 'tools/list', params: { _meta: modernMeta } })
    client.endInput()
    expect(await client.ended).toEqual({ code: 0, signal: null })
    expect(client.messages.find(({ id }) => id === 2)?.result).toBeDefined()
  })

  test('ends when the server does', async () => {
    const path = freshSocket()
    await using server = await listening(path)
    await using client = new ServerProcess(['connect', path])
    await client.askLegacy(1, 'ping')
    server.child.kill('SIGTERM')
    expect(await client.ended).toEqual({ code: 0, signal: null })
  })

  test.each(['the end of its input', 'SIGTERM'] as const)(
    'D10: does not wait for ever after %s when its client does not read',
    async (how) => {
      const path = freshSocket()
      await using _server = await listening(path)
      await using client = new ServerProcess(['connect', path])
      await client.askLegacy(1, 'ping')
      client.child.stdout?.pause()
      const request = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: modernMeta } })
      client.send(`${request}\n`.repeat(200))
      await delay(200)
      const exited = once(client.child, 'exit')
      if (how === 'SIGTERM') client.child.kill('SIGTERM')
      else client.endInput()
      expect(await exited).toEqual([0, null])
      client.child.stdout?.resume()
    },
  )

  test('says with 4 that nobody answers, and what to do', async () => {
    await using client = new ServerProcess(['connect', join(folder, 'nobody')])
    expect(await client.ended).toEqual({ code: 4, signal: null })
    expect(client.stderr).toMatch(/^atenea-server: no server answers at .*nobody.* Start one with/)
    expect(client.stdout).toBe('')
  })
})

describe('logs', () => {
  test('F16: secrets of the environment and whatever looks like one never reach stderr, in no format', async () => {
    const secret = 'hunter2-zebra-crossing'
    const leaks = [
      secret,
      secret.slice(0, 8),
      Buffer.from(secret).toString('hex').slice(0, 14),
      Buffer.from(secret).toString('base64').slice(0, 10),
    ]
    for (const format of ['text', 'json']) {
      await using server = new ServerProcess(['--stdio', '--log-level', 'debug', '--log-format', format], {
        ATPROTO_APP_PASSWORD: secret,
      })
      server.send(`not json: Authorization: Bearer ${secret}\n`)
      server.send(`{"jsonrpc":"1.0","id":"${secret}","method":"https://user:${secret}@example.com/?key=${secret}"}\n`)
      server.send({ jsonrpc: '2.0', id: 1, method: secret, params: { _meta: { ...modernMeta, token: secret } } })
      server.send({ jsonrpc: '2.0', id: 2, result: { requestState: secret } })
      await server.ask(3, 'tools/call', { name: 'create_record_cid', arguments: { record: { $link: secret } } })
      server.endInput()
      await server.ended
      expect(server.stderr).not.toBe('')
      for (const leak of leaks) expect(server.stderr, leak).not.toContain(leak)
    }
  })

  test('json logs are one object a line', async () => {
    const path = freshSocket()
    await using server = new ServerProcess(['--socket', path, '--log-format', 'json'])
    await server.until('it listens', () => (server.stderr.includes('listening') ? true : undefined))
    server.child.kill('SIGTERM')
    await server.ended
    const records = server.stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(records[0]).toMatchObject({ level: 'info', name: 'atenea-server', message: 'listening', socket: path })
    expect(server.stdout).toBe('')
  })
})
