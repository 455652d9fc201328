import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { binPath, ProxyProcess } from './_util/proxy-process.ts'
import { startHttpServer, stdioServer } from './_util/servers.ts'

vi.setConfig({ testTimeout: 30_000 })

const folder = mkdtempSync(join(tmpdir(), 'atenea-proxy-config-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const [command, ...args] = stdioServer('sdk-v1')

/** Writes a configuration, given as text or as what JSON would hold. */
function configFile(content: unknown, name = 'mcp.json'): string {
  const file = join(folder, name)
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

describe('configurations as MCP clients have them', () => {
  test.each([
    ['claude_desktop_config.json', { mcpServers: { files: { command, args } } }],
    ['Claude Code', { mcpServers: { files: { type: 'stdio', command, args, env: {} } } }],
    ['VS Code', { inputs: [{ id: 'x', type: 'promptString' }], servers: { files: { type: 'stdio', command, args } } }],
    ['settings of VS Code', { mcp: { servers: { files: { command, args } } }, 'editor.tabSize': 2 }],
    ['Cursor', { mcpServers: { files: { command, args, disabled: false, autoApprove: ['echo'] } } }],
  ])('%s', async (_client, content) => {
    const file = configFile(content)
    const before = readFileSync(file, 'utf8')
    await using proxy = new ProxyProcess(['--config', file])
    expect(await proxy.tool(1, 'echo', { text: 'hi' })).toBe('hi')
    expect(readFileSync(file, 'utf8')).toBe(before)
  })

  test('comments, trailing commas and variables', async () => {
    const file = configFile(`{
      // what we work with
      "mcpServers": {
        "files": {
          "command": "\${PROXY_TEST_NODE}",
          "args": ["--no-warnings", "\${PROXY_TEST_FOLDER:-/nowhere}/sdk-v1.ts"],
          "env": { "GREETING": "\${env:PROXY_TEST_GREETING}, you", "PORT": 80 },
        },
      },
    }`)
    await using proxy = new ProxyProcess(['--config', file], {
      PROXY_TEST_NODE: process.execPath,
      PROXY_TEST_FOLDER: join(import.meta.dirname, 'fixtures'),
      PROXY_TEST_GREETING: 'hello',
    })
    expect(await proxy.tool(1, 'env', { name: 'GREETING' })).toBe('hello, you')
    expect(await proxy.tool(2, 'env', { name: 'PORT' })).toBe('80')
  })

  test('one server that cannot be used as it is does not hide the others: it is said how these are taken', async () => {
    const file = configFile({
      servers: {
        asks: { command, args: [`\${input:key}`] },
        files: { command, args },
        'more files': { command, args },
      },
    })
    await using refused = new ProxyProcess(['--config', file])
    expect(await refused.ended).toMatchObject({ code: 2 })
    expect(refused.stderr).toContain('only the editor can ask')
    expect(refused.stderr).toContain('taken with --server "files" --server "more files"')
    await using proxy = new ProxyProcess(['--config', file, '--server', 'files'])
    expect(await proxy.tool(1, 'echo', { text: 'hi' })).toBe('hi')
  })

  test('a server on HTTP, with headers', async () => {
    await using server = await startHttpServer('sdk-v2')
    const file = configFile({ mcpServers: { remote: { type: 'http', url: server.url, headers: { 'X-A': '1' } } } })
    await using proxy = new ProxyProcess(['--config', file])
    expect(await proxy.tool(1, 'echo', { text: 'hi' })).toBe('hi')
  })

  test('one of the deprecated HTTP+SSE', async () => {
    await using server = await startHttpServer('sse-sdk-v1')
    const file = configFile({ mcpServers: { remote: { type: 'sse', url: server.url } } })
    await using proxy = new ProxyProcess(['--config', file])
    expect(await proxy.tool(1, 'echo', { text: 'hi' })).toBe('hi')
  })

  test('a server that is switched off is not looked at', async () => {
    const file = configFile({
      mcpServers: { off: { command: `\${NOT_SET_ANYWHERE}`, disabled: true }, files: { command, args } },
    })
    await using proxy = new ProxyProcess(['--config', file])
    expect(await proxy.tool(1, 'echo', { text: 'hi' })).toBe('hi')
  })

  test('--server takes one of several', async () => {
    const file = configFile({ mcpServers: { broken: { command: '/no/such/program' }, files: { command, args } } })
    await using proxy = new ProxyProcess(['--config', file, '--server', 'files'])
    expect(await proxy.tool(1, 'echo', { text: 'hi' })).toBe('hi')
  })

  test('keys of other clients change nothing and are told once', async () => {
    const file = configFile({ mcpServers: { files: { command, args, alwaysAllow: [], comand: 'x', gallery: true } } })
    await using proxy = new ProxyProcess(['--config', file])
    expect(await proxy.tool(1, 'echo', { text: 'hi' })).toBe('hi')
    expect(proxy.stderr).toContain('the key "comand" is not understood; did you mean "command"?')
    expect(proxy.stderr).toContain('keys that say nothing here: "alwaysAllow", "gallery"')
  })
})

test('a configuration that holds the proxy itself does not start it without end', async () => {
  const self = { command: process.execPath, args: [binPath, '--config', join(folder, 'self.json')] }
  const file = configFile({ mcpServers: { self, files: { command, args } } }, 'self.json')
  await using proxy = new ProxyProcess(['--config', file])
  expect(await proxy.toolNames(1)).toContain('files__echo')
  await proxy.says(/\[self\] atenea-proxy: \S+self\.json holds the proxy itself/)
  expect(await proxy.tool(2, 'files__echo', { text: 'x' })).toBe('x')
})

describe('what a started server gets', () => {
  test('an environment without what is ours alone, and what it was given', async () => {
    const file = configFile({ mcpServers: { files: { command, args, env: { GIVEN: 'yes' } } } })
    await using proxy = new ProxyProcess(['--config', file], { ATENEA_TEST_SECRET: 'mine', PASSED_ON: 'x' })
    expect(await proxy.tool(1, 'env', { name: 'ATENEA_TEST_SECRET' })).toBe('(not set)')
    expect(await proxy.tool(2, 'env', { name: 'PASSED_ON' })).toBe('(not set)')
    expect(await proxy.tool(3, 'env', { name: 'GIVEN' })).toBe('yes')
    expect(await proxy.tool(4, 'env', { name: 'PATH' })).toBe(process.env['PATH'])
  })

  test.each([
    [['--pass-env', 'PASSED_ON'], 'x', '(not set)'],
    [['--pass-env', '*'], 'x', 'y'],
  ])('%j', async (flags, passed, other) => {
    await using proxy = new ProxyProcess([...flags, '--', command, ...args], { PASSED_ON: 'x', NOT_PASSED_ON: 'y' })
    expect(await proxy.tool(1, 'env', { name: 'PASSED_ON' })).toBe(passed)
    expect(await proxy.tool(2, 'env', { name: 'NOT_PASSED_ON' })).toBe(other)
  })

  test('the same by its own keys', async () => {
    const file = configFile({ mcpServers: { files: { command, args, atenea: { inheritEnv: ['PASSED_ON'] } } } })
    await using proxy = new ProxyProcess(['--config', file], { PASSED_ON: 'x', NOT_PASSED_ON: 'y' })
    expect(await proxy.tool(1, 'env', { name: 'PASSED_ON' })).toBe('x')
    expect(await proxy.tool(2, 'env', { name: 'NOT_PASSED_ON' })).toBe('(not set)')
  })

  test('a folder that is named from where the file is', async () => {
    mkdirSync(join(folder, 'below'), { recursive: true })
    const file = configFile({
      mcpServers: {
        files: { command: 'sh', args: ['-c', 'pwd >&2; exec "$@"', 'sh', command, ...args], cwd: 'below' },
      },
    })
    await using proxy = new ProxyProcess(['--config', file])
    expect(await proxy.tool(1, 'echo', { text: 'hi' })).toBe('hi')
    expect(proxy.stderr).toContain(`[files] ${join(folder, 'below')}`)
  })
})

describe('BR-223: the roots that a legacy server is told of', () => {
  test('by flags, relative to where the proxy was started; the status names them', async () => {
    const flags = ['--root', '/srv/my data', '--root', '.', '--root', 'C:\\x y', '--root', 'file://server/share']
    const socket = join(folder, 'roots.sock')
    await using proxy = new ProxyProcess([...flags, '--stdio', '--socket', socket, '--', command, ...args])
    const uris = ['file:///srv/my%20data', pathToFileURL(process.cwd()).href, 'file:///C:/x%20y', 'file://server/share']
    expect(JSON.parse(await proxy.tool(1, 'roots'))).toEqual(uris.map((uri) => ({ uri })))
    await using status = new ProxyProcess(['status', socket])
    await status.ended
    expect(status.stdout).toContain(`told of ${uris.join(', ')}`)
  })

  test('by keys of a server, which win over flags, relative to the file', async () => {
    const server = (roots?: readonly unknown[]): unknown => ({ command, args, atenea: { roots } })
    const some = server(['data', { uri: 'file:///srv/y', name: 'Y' }])
    const file = configFile({ mcpServers: { some, none: server([]), flags: server() } })
    await using proxy = new ProxyProcess(['--root', '/from-flags', '--config', file])
    expect(JSON.parse(await proxy.tool(1, 'some__roots'))).toEqual([
      { uri: pathToFileURL(join(folder, 'data')).href },
      { uri: 'file:///srv/y', name: 'Y' },
    ])
    expect(JSON.parse(await proxy.tool(2, 'flags__roots'))).toEqual([{ uri: 'file:///from-flags' }])
    expect((await proxy.ask(3, 'tools/call', { name: 'none__roots', arguments: {} })).result).toMatchObject({
      isError: true,
    })
  })

  test.each([
    [['--root', 'https://example.com/x'], 'what follows --root must be a path or a file:// URI'],
    [['--root', 'file:///a/../b'], 'has a segment . or ..'],
    [['--backend-protocol', 'modern', '--root', '/x'], '--root is for legacy servers'],
  ])('%j is refused', async (flags, why) => {
    await using proxy = new ProxyProcess([...flags, '--', command, ...args])
    expect(await proxy.ended).toMatchObject({ code: 2 })
    expect(proxy.stderr).toContain(why)
  })

  test('what is none in a file is refused with its place', async () => {
    const file = configFile({ mcpServers: { files: { command, args, atenea: { roots: ['/x', 'ftp://y'] } } } })
    await using proxy = new ProxyProcess(['--config', file])
    expect(await proxy.ended).toMatchObject({ code: 2 })
    expect(proxy.stderr).toContain('atenea.roots[1] of "files" must be a path')
  })
})

describe('F5: what is let through', () => {
  test.each([
    ['by flags', [], ['--allow-tool', '*', '--deny-tool', 'delete_*', '--', command, ...args]],
    ['by keys', { mcpServers: { files: { command, args, disabledTools: ['delete_*'] } } }, []],
  ])('%s: neither listed nor called, and answered like what is not there', async (_how, content, words) => {
    const all = words.length > 0 ? words : ['--config', configFile(content)]
    await using proxy = new ProxyProcess(all)
    const names = await proxy.toolNames(1)
    expect(names).toContain('echo')
    expect(names).not.toContain('delete_all')
    const denied = await proxy.ask(2, 'tools/call', { name: 'delete_all', arguments: {} })
    const unknown = await proxy.ask(3, 'tools/call', { name: 'delete_xyz', arguments: {} })
    expect(denied.error?.code).toBe(-32_602)
    expect(denied.error?.message.replace('delete_all', 'delete_xyz')).toBe(unknown.error?.message)
  })
})
