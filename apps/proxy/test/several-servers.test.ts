import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { ProxyProcess } from './_util/proxy-process.ts'
import { stdioServer } from './_util/servers.ts'

vi.setConfig({ testTimeout: 30_000 })

const folder = mkdtempSync(join(tmpdir(), 'atenea-proxy-several-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const [command, ...oldServer] = stdioServer('sdk-v1')
const [, ...newServer] = stdioServer('sdk-v2')
const old = { command, args: oldServer }
const modern = { command, args: newServer }

function configFile(content: object): string {
  const file = join(folder, `${Math.random()}.json`)
  writeFileSync(file, JSON.stringify(content))
  return file
}

describe('the servers of a configuration as one', () => {
  test('F13: servers of both eras, each tool under the name of its server', async () => {
    const file = configFile({ mcpServers: { old, modern } })
    await using proxy = new ProxyProcess(['--config', file])
    expect(await proxy.toolNames('list')).toEqual(expect.arrayContaining(['old__echo', 'modern__echo', 'old__crash']))
    const pids = [await proxy.tool(1, 'old__pid'), await proxy.tool(2, 'modern__pid')]
    expect(new Set(pids).size).toBe(2)
    expect(await proxy.tool(3, 'modern__echo', { text: 'x' })).toBe('x')
    expect((await proxy.ask(4, 'tools/call', { name: 'echo', arguments: { text: 'x' } })).error?.code).toBe(-32_602)
  })

  test('another separator, and tools with names of their own', async () => {
    const renames = { echo: 'say' }
    const file = configFile({
      mcpServers: { old: { ...old, atenea: { renames } }, modern },
      atenea: { separator: '-' },
    })
    await using proxy = new ProxyProcess(['--config', file, '--rename', 'modern:echo=repeat'])
    const names = await proxy.toolNames('list')
    expect(names).toEqual(expect.arrayContaining(['say', 'repeat', 'old-pid', 'modern-pid']))
    expect(names.filter((name) => name.includes('echo'))).toEqual([])
    expect(await proxy.tool(1, 'say', { text: 'a' })).toBe('a')
    expect(await proxy.tool(2, 'repeat', { text: 'b' })).toBe('b')
  })

  test('names that would be the same are a fault of the configuration', async () => {
    const file = configFile({ mcpServers: { old, modern } })
    await using proxy = new ProxyProcess(['--config', file, '--rename', 'old:echo=x', '--rename', 'modern:echo=x'])
    expect(await proxy.ended).toEqual({ code: 2, signal: null })
    expect(proxy.stderr).toContain('x')
    expect(proxy.stderr).not.toMatch(/\n\s+at /)
  })

  test('a server that does not start hides nothing of the others', async () => {
    const file = configFile({ mcpServers: { broken: { command: '/no/such/program' }, modern } })
    await using proxy = new ProxyProcess(['--config', file])
    expect(await proxy.toolNames('list')).toContain('modern__echo')
    expect(await proxy.tool(1, 'modern__echo', { text: 'x' })).toBe('x')
    await proxy.says(/cannot start server "\/no\/such\/program": no such command.*server=broken/)
  })

  test('a server that dies takes its own calls along and no others', async () => {
    const file = configFile({ mcpServers: { old, modern } })
    await using proxy = new ProxyProcess(['--config', file])
    await proxy.toolNames('list')
    const slow = proxy.tool('slow', 'modern__slow', { ms: 800 })
    expect((await proxy.ask('crash', 'tools/call', { name: 'old__crash', arguments: {} })).error?.code).toBe(-32_603)
    expect(await slow).toBe('done')
  })
})

describe('a lock', () => {
  test('is made by pin, and holds back what differs from it', async () => {
    const file = configFile({ mcpServers: { modern } })
    const lock = join(folder, 'mcp.lock')
    await using first = new ProxyProcess(['pin', '--config', file, '--lock', lock])
    expect(await first.ended).toEqual({ code: 0, signal: null })
    expect(first.stdout).toContain('+ modern: echo\n')
    await using again = new ProxyProcess(['pin', '--config', file, '--lock', lock])
    expect(await again.ended).toEqual({ code: 0, signal: null })
    expect(again.stdout).toBe(`= modern: 4 tools as before\npinned in ${lock}\n`)

    // somebody has looked at another "crash" than the server now has, and never at "slow"
    const pins = JSON.parse(readFileSync(lock, 'utf8')) as { backends: { modern: { tools: Record<string, string> } } }
    const { tools } = pins.backends.modern
    tools['crash'] = `sha256-${'0'.repeat(64)}`
    delete tools['slow']
    writeFileSync(lock, JSON.stringify(pins))
    await using proxy = new ProxyProcess(['--config', file, '--lock', lock])
    expect(await proxy.toolNames('list')).toEqual(['echo', 'pid'])
    const held = await proxy.ask(1, 'tools/call', { name: 'crash', arguments: {} })
    expect(held.error?.code).toBe(-32_602)
    expect(await proxy.tool(2, 'echo', { text: 'still there' })).toBe('still there')
  })

  test('that is not there is no reason to let everything through', async () => {
    const lock = join(folder, 'none.lock')
    await using proxy = new ProxyProcess(['--lock', lock, '--', command, ...newServer])
    expect(await proxy.ended).toEqual({ code: 2, signal: null })
    expect(proxy.stderr).toContain(`make it with: atenea-proxy pin --lock ${lock}`)
    expect(existsSync(lock)).toBe(false)
  })

  test('that cannot be read neither', async () => {
    const lock = join(folder, 'torn.lock')
    writeFileSync(lock, '{')
    await using proxy = new ProxyProcess(['--lock', lock, '--', command, ...newServer])
    expect(await proxy.ended).toEqual({ code: 2, signal: null })
    expect(proxy.stderr).toContain('the lock is not JSON')
    await using pin = new ProxyProcess(['pin', '--lock', lock, '--', command, ...newServer])
    expect(await pin.ended).toEqual({ code: 2, signal: null })
    expect(readFileSync(lock, 'utf8')).toBe('{')
  })
})
