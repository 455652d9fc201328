import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  linkSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { type Server, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Connection } from '@atenea/mcpcompat/transport'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type SocketListener, dialSocket, listenSocket, maxSocketPathBytes } from '../src/index.ts'
import { prepareSocketFolder } from '../src/socket-folder.ts'
import { drain, echo, reader, request } from './_util/connections.ts'
import { until } from './_util/processes.ts'

// Processes start slowly on a busy machine; these bounds only catch a hang.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

let folder = ''
const open: AsyncDisposable[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'socket-'))
})

afterEach(async () => {
  for (const owner of open.splice(0).reverse()) await owner[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

function at(name: string): string {
  return join(folder, name)
}

async function listen(
  path: string,
  serve: (connection: Connection) => Promise<void> = echo,
  options: Parameters<typeof listenSocket>[2] = {},
): Promise<SocketListener> {
  const listener = await listenSocket(path, serve, options)
  open.push(listener)
  return listener
}

async function dial(path: string): Promise<Connection> {
  const connection = await dialSocket(path)
  open.push(connection)
  return connection
}

async function answersAt(path: string): Promise<boolean> {
  const connection = await dialSocket(path)
  void connection.send(request(1))
  const answer = await reader(connection)()
  await connection[Symbol.asyncDispose]()
  return answer?.kind === 'result'
}

/** A socket whose owner was killed: it refuses connections. */
async function leaveStaleSocket(path: string): Promise<void> {
  const script = `require('node:net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`
  await once(spawn(process.execPath, ['-e', script, path]), 'exit')
  expect(lstatSync(path).isSocket()).toBe(true)
}

describe('a connection', () => {
  test('MS-FRM-06, MT-03, LG-STDIO-03: same framing and messages, both ways; the principal is the owner of the socket', async () => {
    const principals: string[] = []
    await listen(at('a.sock'), async (connection) => {
      for await (const batch of connection.inbound) {
        for (const { message, principal } of batch) {
          principals.push(principal.id)
          if (message.kind === 'request')
            void connection.send({ kind: 'result', id: message.id, result: message.params ?? {} })
        }
      }
    })
    const connection = await dial(at('a.sock'))
    void connection.send(request('x', { text: '読\u2028' }))
    expect(await reader(connection)()).toEqual({ kind: 'result', id: 'x', result: { text: '読\u2028' } })
    expect(principals).toEqual([`uid:${process.getuid?.()}`])
  })

  test('many at once, each its own', async () => {
    await listen(at('a.sock'))
    const answers = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const connection = await dial(at('a.sock'))
        void connection.send(request(1, { index }))
        return await reader(connection)()
      }),
    )
    expect(answers.map((answer) => (answer?.kind === 'result' ? answer.result : answer))).toEqual(
      Array.from({ length: 50 }, (_, index) => ({ index })),
    )
  })

  test('D11: a client that ends its output still gets its answers', async () => {
    await listen(at('a.sock'), async (connection) => {
      for await (const batch of connection.inbound) {
        for (const { message } of batch) {
          if (message.kind === 'request')
            setTimeout(() => void connection.send({ kind: 'result', id: message.id, result: {} }), 50)
        }
      }
      await new Promise((resolve) => {
        setTimeout(resolve, 100)
      })
    })
    const socket = connect({ path: at('a.sock'), allowHalfOpen: true })
    socket.end('{"jsonrpc":"2.0","id":1,"method":"m"}\n')
    const chunks = await socket.toArray()
    expect(String(Buffer.concat(chunks as Buffer[]))).toBe('{"jsonrpc":"2.0","id":1,"result":{}}\n')
  })

  test('a client that vanishes ends its connection in order, and only its own', async () => {
    const ended: unknown[] = []
    await listen(at('a.sock'), async (connection) => {
      ended.push((await drain(connection)).error)
    })
    const stays = await dial(at('a.sock'))
    const vanishes = connect(at('a.sock'))
    await once(vanishes, 'connect')
    vanishes.destroy()
    await until(() => ended.length > 0)
    expect(ended).toEqual([undefined])
    expect(stays.send(request(1))).toBeUndefined()
  })

  test('what a handler throws is reported and ends its connection only', async () => {
    const reported: string[] = []
    const serve = async (connection: Connection): Promise<void> => {
      for await (const _batch of connection.inbound) throw new Error('handler')
    }
    await listen(at('a.sock'), serve, { onDiagnostic: ({ code }) => reported.push(code) })
    const first = await dial(at('a.sock'))
    const second = await dial(at('a.sock'))
    void first.send(request(1))
    expect(await drain(first)).toEqual({ messages: [], error: undefined })
    expect(reported).toContain('connection-failed')
    expect(second.send(request(1))).toBeUndefined()
  })
})

describe('closing', () => {
  test('lets connections finish what they accepted, then takes its own path away', async () => {
    let release: () => void = () => undefined
    const finished = new Promise<void>((resolve) => {
      release = resolve
    })
    const listener = await listen(at('a.sock'), async (connection) => {
      const { messages } = await drain(connection)
      await finished
      for (const message of messages) {
        if (message.kind === 'request') await connection.send({ kind: 'result', id: message.id, result: {} })
      }
    })
    const connection = await dial(at('a.sock'))
    void connection.send(request(1))
    await new Promise((resolve) => {
      setTimeout(resolve, 50)
    })
    const closed = listener.close()
    expect(existsSync(at('a.sock'))).toBe(false)
    release()
    expect((await drain(connection)).messages).toEqual([{ kind: 'result', id: 1, result: {} }])
    await closed
  })

  test('does not wait for ever', async () => {
    const listener = await listen(at('a.sock'), () => new Promise(() => undefined), { closeTimeoutMs: 50 })
    const connection = await dial(at('a.sock'))
    await listener.close()
    expect(await drain(connection)).toEqual({ messages: [], error: undefined })
  })

  test('F19: leaves the socket of somebody else at its path alone', async () => {
    const first = await listen(at('a.sock'))
    rmSync(at('a.sock'))
    await listen(at('a.sock'))
    await first.close()
    expect(await answersAt(at('a.sock'))).toBe(true)
  })
})

describe('F19: the path', () => {
  test('0600 in a 0700 directory that is made for it, with nothing else in it', async () => {
    const path = at('new/deep/a.sock')
    await listen(path)
    expect(lstatSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(at('new/deep')).mode & 0o777).toBe(0o700)
    expect(statSync(at('new')).mode & 0o777).toBe(0o700)
    expect(readdirSync(at('new/deep'))).toEqual(['a.sock'])
  })

  test('is 0600 whatever the umask', async () => {
    const before = process.umask(0)
    try {
      await listen(at('a.sock'))
      expect(lstatSync(at('a.sock')).mode & 0o777).toBe(0o600)
    } finally {
      process.umask(before)
    }
  })

  test('a stale socket is taken away, after kill -9', async () => {
    await leaveStaleSocket(at('a.sock'))
    await listen(at('a.sock'))
    expect(await answersAt(at('a.sock'))).toBe(true)
    expect(readdirSync(folder)).toEqual(['a.sock'])
  })

  test('a live socket is left alone', async () => {
    await listen(at('a.sock'))
    await expect(listenSocket(at('a.sock'), echo)).rejects.toMatchObject({
      kind: 'unreachable',
      message: expect.stringMatching(/a\.sock is in use/) as string,
    })
    expect(await answersAt(at('a.sock'))).toBe(true)
    expect(readdirSync(folder)).toEqual(['a.sock'])
  })

  test.each([
    ['a file', (path: string) => writeFileSync(path, 'precious')],
    ['a directory', (path: string) => mkdirSync(path)],
    ['a symbolic link', (path: string) => symlinkSync('/nowhere', path)],
  ])('%s is left alone', async (what, make) => {
    make(at('a.sock'))
    await expect(listenSocket(at('a.sock'), echo)).rejects.toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining(`is ${what}, which is left alone`),
    })
    expect(readdirSync(folder)).toEqual(['a.sock'])
  })

  test('a symbolic link to a stale socket is left alone too', async () => {
    await leaveStaleSocket(at('stale.sock'))
    symlinkSync(at('stale.sock'), at('a.sock'))
    await expect(listenSocket(at('a.sock'), echo)).rejects.toThrow('symbolic link')
    expect(readdirSync(folder).sort()).toEqual(['a.sock', 'stale.sock'])
  })

  test.each([
    ['a free path', false],
    ['a stale socket', true],
  ])('of many that start at once at %s exactly one wins', async (_, stale) => {
    for (let round = 0; round < 5; round += 1) {
      const path = at(`${round}.sock`)
      if (stale) await leaveStaleSocket(path)
      const started = await Promise.allSettled(Array.from({ length: 8 }, () => listen(path)))
      expect(started.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      const losers = started.flatMap((outcome) => (outcome.status === 'rejected' ? [String(outcome.reason)] : []))
      expect(losers).toEqual(
        Array(7).fill(
          `TransportError: ${path} is in use: a running process accepts connections there. Stop it, or use another path.`,
        ),
      )
      expect(await answersAt(path)).toBe(true)
    }
    expect(readdirSync(folder).sort()).toEqual(['0.sock', '1.sock', '2.sock', '3.sock', '4.sock'])
  })

  test('what a starter left behind that was killed between two steps is cleared', async () => {
    await leaveStaleSocket(at('a.sock'))
    const claim = `${at('a.sock')}.${lstatSync(at('a.sock')).ino.toString(36)}`
    linkSync(at('a.sock'), claim)
    await listen(at('a.sock'))
    expect(await answersAt(at('a.sock'))).toBe(true)
    expect(readdirSync(folder)).toEqual(['a.sock'])
  })

  test('as long as the system allows works, one byte more is an error with the limit', async () => {
    const inFolder = maxSocketPathBytes - Buffer.byteLength(folder) - 1
    await listen(at('x'.repeat(inFolder)))
    expect(await answersAt(at('x'.repeat(inFolder)))).toBe(true)
    await expect(listenSocket(at('x'.repeat(inFolder + 1)), echo)).rejects.toThrow(`allows ${maxSocketPathBytes}`)
    await expect(dialSocket(at('x'.repeat(inFolder + 1)))).rejects.toThrow(`allows ${maxSocketPathBytes}`)
  })

  test('as long as the system allows works with a short name in a long directory', async () => {
    const deep = join(folder, 'd'.repeat(maxSocketPathBytes - Buffer.byteLength(folder) - 3))
    await listen(join(deep, 's'))
    expect(await answersAt(join(deep, 's'))).toBe(true)
    expect(readdirSync(deep)).toEqual(['s'])
  })

  test('a directory that others can write to is refused, with what to do', async () => {
    mkdirSync(at('open'))
    chmodSync(at('open'), 0o777)
    await expect(listenSocket(at('open/a.sock'), echo)).rejects.toMatchObject({
      kind: 'unreachable',
      message: expect.stringMatching(/mode 0777.*chmod 700/) as string,
    })
  })

  test.each([
    ['others can look into', 0o755],
    ['is shared with a sticky bit', 0o1777],
  ])('a directory that %s gives a warning', async (_, mode) => {
    mkdirSync(at('open'))
    chmodSync(at('open'), mode)
    const reported: string[] = []
    await listen(at('open/a.sock'), echo, { onDiagnostic: ({ code }) => reported.push(code) })
    expect(reported).toEqual(['open-directory'])
  })

  test('a directory of somebody else is refused', () => {
    mkdirSync(at('foreign'))
    const uid = process.getuid?.() ?? 0
    // Only root can give one away; to everybody else it becomes foreign by asking for another user.
    if (uid === 0) chownSync(at('foreign'), 12_345, 12_345)
    const owner = uid === 0 ? 12_345 : uid
    const asking = uid === 0 ? 0 : uid + 1
    expect(() => prepareSocketFolder(at('foreign'), asking, undefined)).toThrow(`belongs to uid ${owner}`)
  })

  test('a path below a file is a clear error', async () => {
    writeFileSync(at('file'), '')
    await expect(listenSocket(at('file/a.sock'), echo)).rejects.toMatchObject({
      kind: 'unreachable',
      message: expect.stringMatching(/no directory/) as string,
    })
  })

  // Nobody can make anything in /proc, not even root.
  test.runIf(process.platform === 'linux').each(['/proc/x.sock', '/proc/new/folder/x.sock'])(
    'F19: where nothing can be made is a clear error (%s)',
    async (path) => {
      await expect(listenSocket(path, echo)).rejects.toMatchObject({
        name: 'TransportError',
        kind: 'unreachable',
        message: expect.stringMatching(/^the socket.* cannot be made: /) as string,
      })
    },
  )
})

describe('dialing', () => {
  const servers: Server[] = []
  afterEach(() => {
    for (const server of servers.splice(0)) server.close()
  })

  test.each([
    ['nothing', () => Promise.resolve(), /there is no socket/],
    ['a stale socket', leaveStaleSocket, /nobody listens/],
    ['a file', (path: string) => writeFile(path, ''), /cannot connect/],
  ])('%s is an error of kind unreachable that says so', async (_, make, message) => {
    await make(at('a.sock'))
    await expect(dialSocket(at('a.sock'))).rejects.toMatchObject({
      kind: 'unreachable',
      message: expect.stringMatching(message) as string,
    })
  })

  test('can be aborted', async () => {
    const reason = new Error('no more')
    await expect(dialSocket(at('a.sock'), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  })

  test('a server that breaks off throws from the iteration or ends it, and refuses what is sent', async () => {
    const server = createServer((socket) => socket.destroy()).listen(at('a.sock'))
    servers.push(server)
    await once(server, 'listening')
    const connection = await dial(at('a.sock'))
    await drain(connection)
    await until(() => connection.send(request(1)) instanceof Promise)
    await expect(connection.send(request(1))).rejects.toMatchObject({ kind: 'closed' })
  })
})
