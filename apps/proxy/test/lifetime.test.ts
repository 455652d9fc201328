import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { ProxyProcess, servingHttp } from './_util/proxy-process.ts'
import { isAlive, stdioServer } from './_util/servers.ts'

vi.setConfig({ testTimeout: 30_000 })

const ended = { code: 0, signal: null }

async function pidOf(proxy: ProxyProcess, id = 'pid'): Promise<number> {
  return Number(await proxy.tool(id, 'pid'))
}

describe.each(['sdk-v1', 'sdk-v2'] as const)('in front of a child of %s', (name) => {
  test('D10: when the client closes stdin the child ends with the proxy, and nothing is left', async () => {
    await using proxy = new ProxyProcess(['--', ...stdioServer(name)])
    const pid = await pidOf(proxy)
    expect(isAlive(pid)).toBe(true)
    proxy.endInput()
    expect(await proxy.ended).toEqual(ended)
    expect(isAlive(pid)).toBe(false)
  })

  test('D11: what was asked before stdin closed is answered first', async () => {
    await using proxy = new ProxyProcess(['--', ...stdioServer(name)])
    await pidOf(proxy)
    const answer = proxy.tool('slow', 'slow', { ms: 500 })
    proxy.endInput()
    expect(await answer).toBe('done')
    expect(await proxy.ended).toEqual(ended)
  })

  test.each([
    ['SIGTERM', 0],
    ['SIGINT', 130],
  ] as const)('%s ends in order, with a call in flight', async (signal, code) => {
    await using proxy = new ProxyProcess(['--', ...stdioServer(name)])
    const pid = await pidOf(proxy)
    const answer = proxy.tool('slow', 'slow', { ms: 700 })
    // sent before the signal, since the same pipe carries both
    await proxy.ask('between', 'tools/list')
    proxy.child.kill(signal)
    expect(await answer).toBe('done')
    expect(await proxy.ended).toEqual({ code, signal: null })
    expect(isAlive(pid)).toBe(false)
  })

  test('D13: a proxy that is killed leaves no child', async () => {
    await using proxy = new ProxyProcess(['--', ...stdioServer(name)])
    const pid = await pidOf(proxy)
    proxy.child.kill('SIGKILL')
    await proxy.ended
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false), { timeout: 10_000 })
  })

  test('D14: a child that dies fails its calls at once, and the next call starts another', async () => {
    await using proxy = new ProxyProcess(['--', ...stdioServer(name)])
    const first = await pidOf(proxy)
    const waiting = proxy.ask('waiting', 'tools/call', { name: 'slow', arguments: { ms: 20_000 } })
    const crashed = await proxy.ask('crash', 'tools/call', { name: 'crash', arguments: {} })
    expect(crashed.error?.code).toBe(-32_603)
    expect((await waiting).error?.code).toBe(-32_603)
    await proxy.says('exited with code 7')
    const second = await vi.waitFor(async () => await pidOf(proxy, `pid ${Math.random()}`), { timeout: 10_000 })
    expect(second).not.toBe(first)
  })
})

test('D13: 20 calls over HTTP, half of them given up, leave one child', async () => {
  const { proxy, url } = await servingHttp('--', ...stdioServer('sdk-v2'))
  await using _proxy = proxy
  const { Client, StreamableHTTPClientTransport: Http } = await import('@modelcontextprotocol/client')
  const client = new Client({ name: 'c', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(new Http(new URL(url)))
  const text = async (): Promise<string> => {
    const { content } = await client.callTool({ name: 'pid', arguments: {} })
    return (content as { text: string }[])[0]?.text ?? ''
  }
  const pid = await text()
  const calls = Array.from({ length: 20 }, async (_, index) => {
    const call = client.callTool(
      { name: 'slow', arguments: { ms: 300 } },
      { signal: AbortSignal.timeout(index % 2 === 0 ? 50 : 20_000) },
    )
    return await call.then(
      () => 'done',
      () => 'given up',
    )
  })
  expect(new Set(await Promise.all(calls))).toEqual(new Set(['done', 'given up']))
  expect(await text()).toBe(pid)
  await client.close()
  proxy.child.kill('SIGTERM')
  expect(await proxy.ended).toEqual(ended)
  expect(isAlive(Number(pid))).toBe(false)
})

test('BR-307, D13: each session of a client has a legacy child of its own, which ends with it; who keeps none shares one', async () => {
  const { proxy, url } = await servingHttp('--stdio', '--', ...stdioServer('sdk-v1'))
  await using _proxy = proxy
  const clients = await Promise.all(
    [1, 2].map(async () => {
      const transport = new StreamableHTTPClientTransport(new URL(url))
      const client = new LegacyClient({ name: 'c', version: '1' })
      await client.connect(transport)
      const { content } = await client.callTool({ name: 'pid', arguments: {} })
      return { client, transport, pid: Number((content as { text: string }[])[0]?.text) }
    }),
  )
  const pids = [...clients.map(({ pid }) => pid), await pidOf(proxy, 'a'), await pidOf(proxy, 'b')]
  expect(new Set(pids).size).toBe(3)
  expect(pids.map(isAlive)).toEqual([true, true, true, true])
  const [first, second] = clients
  await first?.transport.terminateSession()
  await first?.client.close()
  await vi.waitFor(() => expect(isAlive(first?.pid ?? 0)).toBe(false), { timeout: 10_000 })
  expect([second?.pid ?? 0, await pidOf(proxy, 'c')].map(isAlive)).toEqual([true, true])
  await second?.client.close()
  proxy.endInput()
  expect(await proxy.ended).toEqual(ended)
  expect(pids.map(isAlive)).toEqual([false, false, false, false])
})

test('a server that is still starting ends with the proxy', async () => {
  await using proxy = new ProxyProcess(['--', 'sh', '-c', 'echo pid $$ >&2; exec sleep 1000'])
  const answer = proxy.ask(1, 'tools/list').catch((error: unknown) => error)
  const [, pid] = (await proxy.says(/\[sh\] pid (\d+)/)) as RegExpExecArray
  proxy.child.kill('SIGTERM')
  const begun = performance.now()
  expect(await proxy.ended).toEqual(ended)
  expect(performance.now() - begun).toBeLessThan(8_000)
  await answer
  expect(isAlive(Number(pid))).toBe(false)
})

test('a server that heeds neither the end of its input nor SIGTERM is killed, with what it has started', async () => {
  const stubborn = 'trap "" TERM; sleep 1000 & echo pids $$ $! >&2; while true; do sleep 0.1; done'
  await using proxy = new ProxyProcess(['--backend-protocol', 'modern', '--', 'sh', '-c', stubborn])
  const answer = proxy.ask(1, 'tools/list').catch((error: unknown) => error)
  const [, ...pids] = (await proxy.says(/\[sh\] pids (\d+) (\d+)/)) as RegExpExecArray
  proxy.endInput()
  expect(await proxy.ended).toEqual(ended)
  await answer
  expect(pids.map((pid) => isAlive(Number(pid)))).toEqual([false, false])
})

test('all fronts share one child, which ends with the proxy', async () => {
  const { proxy, url } = await servingHttp('--stdio', '--', ...stdioServer('sdk-v2'))
  await using _proxy = proxy
  const pid = await pidOf(proxy)
  const { Client, StreamableHTTPClientTransport: Http } = await import('@modelcontextprotocol/client')
  const client = new Client({ name: 'c', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(new Http(new URL(url)))
  const { content } = await client.callTool({ name: 'pid', arguments: {} })
  expect(content).toEqual([{ type: 'text', text: String(pid) }])
  await client.close()
  proxy.endInput()
  expect(await proxy.ended).toEqual(ended)
  expect(isAlive(pid)).toBe(false)
})

describe('the one command of the command line is started at once', () => {
  const shell = (script: string): readonly string[] => ['--', 'sh', '-c', `echo "pid $$" >&2; ${script}`]
  const isServer = `exec ${stdioServer('sdk-v1')
    .map((word) => `'${word}'`)
    .join(' ')}`
  const pidsIn = (text: string): readonly number[] =>
    [...text.matchAll(/\[sh\] pid (\d+)/g)].map(([, pid]) => Number(pid))

  test('and is the one that the first client gets', async () => {
    await using proxy = new ProxyProcess(shell(isServer))
    await proxy.says(/pid \d+/)
    const pid = await pidOf(proxy)
    expect(pidsIn(proxy.stderr)).toEqual([pid])
    proxy.endInput()
    expect(await proxy.ended).toEqual(ended)
    expect(isAlive(pid)).toBe(false)
  })

  test('BR-307: so over HTTP, where the first session of a legacy client gets it', async () => {
    const { proxy, url } = await servingHttp(...shell(isServer))
    await using _proxy = proxy
    await proxy.says(/pid \d+/)
    const client = new LegacyClient({ name: 'c', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL(url)))
    const { content } = await client.callTool({ name: 'pid', arguments: {} })
    expect(content).toEqual([{ type: 'text', text: String(pidsIn(proxy.stderr)[0]) }])
    expect(pidsIn(proxy.stderr)).toHaveLength(1)
    await client.close()
    proxy.child.kill('SIGTERM')
    expect(await proxy.ended).toEqual(ended)
  })

  test('D10: and ends with a client that leaves at once, without a word', async () => {
    for (let count = 0; count < 5; count++) {
      await using proxy = new ProxyProcess(shell('exec cat'))
      proxy.endInput()
      expect(await proxy.ended).toEqual(ended)
      expect(pidsIn(proxy.stderr).filter(isAlive)).toEqual([])
    }
  })

  test('and once more where it has ended before somebody asks', async () => {
    await using proxy = new ProxyProcess(shell(`if mkdir "$HOME/seen" 2>/dev/null; then exit 3; fi; ${isServer}`), {
      HOME: mkdtempSync(join(tmpdir(), 'atenea-proxy-home-')),
    })
    const [, first] = (await proxy.says(/pid (\d+)/)) as RegExpExecArray
    await vi.waitFor(() => expect(isAlive(Number(first))).toBe(false))
    expect(await pidOf(proxy)).not.toBe(Number(first))
  })

  test('and is told about when somebody asks, where that is not possible', async () => {
    const { proxy } = await servingHttp('--', '/no/such/program')
    await using _proxy = proxy
    await proxy.says('listening')
    expect(proxy.stderr).not.toContain('no such')
    proxy.child.kill('SIGTERM')
    expect(await proxy.ended).toEqual(ended)
  })
})

test('no server of a configuration is started before somebody asks for it', async () => {
  const config = join(mkdtempSync(join(tmpdir(), 'atenea-proxy-config-')), '.mcp.json')
  const server = { command: 'sh', args: ['-c', 'echo started >&2; exec sleep 1000'] }
  writeFileSync(config, JSON.stringify({ mcpServers: { server } }))
  const { proxy, url } = await servingHttp('--config', config)
  await using _proxy = proxy
  expect((await fetch(new URL('/healthz', url))).status).toBe(200)
  expect(proxy.stderr).not.toContain('started')
  proxy.child.kill('SIGTERM')
  expect(await proxy.ended).toEqual(ended)
})

test('a server that cannot be started is told to the client and on stderr, with what to do', async () => {
  await using proxy = new ProxyProcess(['--', 'no-such-program-here'])
  const { error } = await proxy.ask(1, 'tools/list')
  expect(error?.code).toBe(-32_603)
  expect(error?.message).toContain('no-such-program-here')
  await proxy.says('no such command. Install it')
  proxy.endInput()
  expect(await proxy.ended).toEqual(ended)
})
