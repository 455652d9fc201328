import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { legacyRevision, modernRevision, revisionsOf } from '@atenea/mcpcompat'
import { afterAll, describe, expect, test } from 'vitest'
import { binPath, ServerProcess } from './_util/server-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'atenea-cli-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Run {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the binary to its end, with nothing on stdin. */
function run(
  args: readonly string[],
  options: { env?: Record<string, string>; nodeArgs?: readonly string[] } = {},
): Run {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...(options.nodeArgs ?? []), binPath, ...args], {
    encoding: 'utf8',
    env: { ...process.env, ...options.env },
    input: '',
    timeout: 10_000,
  })
  return { status, stdout, stderr }
}

function configFile(text: string): string {
  const file = join(folder, 'atenea.json')
  writeFileSync(file, text)
  return file
}

describe('help and version', () => {
  test.each([['--help'], ['-h'], ['status', '--help']])('%j prints help on stdout and exits with 0', (...args) => {
    const { status, stdout, stderr } = run(args)
    expect(status).toBe(0)
    expect(stderr).toBe('')
    for (const flag of [
      '--stdio',
      '--socket PATH',
      '--protocol',
      '--legacy-revisions',
      '--config',
      '--allow-tool',
      '--deny-tool',
      '--max-body-bytes',
      '--log-level',
      '--log-format',
      '--help',
      '--version',
    ]) {
      expect(stdout).toContain(flag)
    }
    for (const part of ['Usage:', 'default: both', 'default: 16777216', 'Exit codes:', 'Examples:', '130'])
      expect(stdout).toContain(part)
  })

  test('--version prints the version of the package', () => {
    const manifest = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as {
      version: string
    }
    expect(run(['--version'])).toEqual({ status: 0, stdout: `${manifest.version}\n`, stderr: '' })
  })
})

describe('what is wrong with a command line is said in one line, on stderr, with 2', () => {
  test.each([
    [['--protocl', 'legacy'], 'unknown flag --protocl; did you mean --protocol?'],
    [['--protocol', 'moderm'], '--protocol must be one of both, legacy, modern, not "moderm"; did you mean modern?'],
    [['--max-body-bytes', '10'], '--max-body-bytes must be a whole number from 1024'],
    [['--socket'], '--socket needs a value: --socket PATH'],
    [['--legacy-revisions', 'yesterday'], '"yesterday" is not a revision'],
    [['--legacy-revisions', modernRevision], `"${modernRevision}" is a modern revision`],
    [
      ['--protocol', 'modern', '--legacy-revisions', legacyRevision],
      'legacy revisions are named, but the protocol is modern only',
    ],
    [['statsu'], 'unknown command "statsu"; did you mean status?'],
    [['atenea.json'], 'unknown command "atenea.json"'],
    [['status', 'a', 'b'], 'status takes one socket path'],
    [['connect', 'a', '--socket', 'b'], 'connect takes one socket path'],
  ])('%j', (args, message) => {
    const { status, stdout, stderr } = run(args)
    expect(status).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toContain(`atenea-server: ${message}`)
    expect(stderr).toContain('See atenea-server --help.')
    expect(stderr).not.toMatch(/\n\s+at /)
  })

  test('as one JSON line where that was asked for', () => {
    const { status, stderr } = run(['--log-format', 'json', '--nope'])
    expect(status).toBe(2)
    expect(JSON.parse(stderr)).toMatchObject({ level: 'error', name: 'atenea-server', message: 'unknown flag --nope' })
  })
})

describe('the oldest Node', () => {
  // The real thing runs on an old Node where the package is tested as it is installed; here only the number is an old one.
  const pretend = (version: string): string =>
    `--import=data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'${version}'}})`

  test.each(['22.12.9', '20.19.0', '18.20.8', '9.0.0'])('%s is told so in one sentence, with 2', (version) => {
    expect(run(['--version'], { nodeArgs: [pretend(version)] })).toEqual({
      status: 2,
      stdout: '',
      stderr: `atenea-server needs Node 22.13 or newer, and this is Node ${version}.\n`,
    })
  })

  test.each(['22.13.0', '24.0.0', '26.1.0'])('%s is new enough', (version) => {
    expect(run(['--version'], { nodeArgs: [pretend(version)] }).status).toBe(0)
  })
})

describe('configuration files', () => {
  test.each([
    ['an unknown key', '{\n  "enabeldTools": []\n}', ':2:3: unknown key "enabeldTools"; did you mean "enabledTools"?'],
    [
      'an unknown limit',
      '{"limits":{"maxInflight":1}}',
      ':1:12: unknown key "maxInflight"; did you mean "maxInFlight"?',
    ],
    ['a wrong type', '{"protocol":"all"}', ':1:13: protocol: Invalid option'],
    [
      'a resource without content',
      '{"resources":[{"uri":"a:b","name":"x"}]}',
      ':1:15: resources.0: needs either text or file',
    ],
    [
      'a resource with two',
      '{"resources":[{"uri":"a:b","name":"x","text":"","file":"y"}]}',
      'needs either text or file, and not both',
    ],
    [
      'a resource whose URI is none',
      '{"resources":[{"uri":"style","name":"x","text":""}]}',
      ':1:22: resources.0.uri: must be an absolute URI',
    ],
    [
      'two resources of one URI',
      '{"resources":[{"uri":"a:b","name":"x","text":""},{"uri":"a:b","name":"y","text":""}]}',
      'two resources have the same URI',
    ],
    [
      'a file that is not there',
      '{"resources":[{"uri":"a:b","name":"x","file":"none.txt"}]}',
      'the file of a resource cannot be read: ENOENT',
    ],
    [
      'a folder for a file',
      '{"resources":[{"uri":"a:b","name":"x","file":"."}]}',
      'the file of a resource is no regular file',
    ],
    ['no front at all', '{"stdio":false}', 'nothing to serve on'],
    ['text that is no JSON', '{"a"', 'this is not JSON'],
  ])('%s is refused with 2', (_name, text, message) => {
    const { status, stdout, stderr } = run(['--config', configFile(text)])
    expect(status).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toContain(message)
  })

  test('allow-lists, limits, revisions and resources, from file and flags', async () => {
    writeFileSync(join(folder, 'note.md'), '# été')
    writeFileSync(join(folder, 'picture.bin'), Buffer.from([0xff, 0xd8, 0, 1]))
    const file = configFile(`{
      // what a person may write
      "$schema": "./config.schema.json",
      "disabledTools": ["validate_*"],
      "enabledPrompts": ["*_record"],
      "disabledResources": ["secret:*"],
      "legacyRevisions": ${JSON.stringify(revisionsOf('legacy'))},
      "resources": [
        { "uri": "note:///1", "name": "note", "title": "A note", "description": "for \${READER:-all}", "mimeType": "text/markdown", "file": "note.md" },
        { "uri": "picture:///1", "name": "picture", "file": "picture.bin" },
        { "uri": "secret:///1", "name": "secret", "text": "x" },
      ],
      "limits": { "maxBodyBytes": 4096 },
      "logLevel": "silent",
    }`)
    await using server = new ServerProcess(['--config', file, '--deny-tool', 'parse_*', '--deny-tool', '*_blob*'], {
      READER: 'you',
    })
    const tools = (await server.ask(1, 'tools/list')).result?.['tools'] as { name: string }[]
    expect(tools.map(({ name }) => name)).toEqual([
      'create_record_cid',
      'resolve_handle_to_did',
      'resolve_identity',
      'get_record',
    ])
    for (const name of ['validate_lexicon_schema', 'parse_facets', 'nope']) {
      const { error } = await server.ask(`call ${name}`, 'tools/call', { name, arguments: {} })
      expect(error?.code, name).toBe(-32_602)
      expect(error?.message.replace(name, 'X'), name).toBe('Unknown tool: X')
    }
    const prompts = (await server.ask(2, 'prompts/list')).result?.['prompts'] as { name: string }[]
    expect(prompts.map(({ name }) => name)).toEqual(['explain_record'])
    expect((await server.ask(3, 'resources/list')).result?.['resources']).toEqual([
      { uri: 'note:///1', name: 'note', title: 'A note', description: 'for you', mimeType: 'text/markdown' },
      { uri: 'picture:///1', name: 'picture' },
    ])
    expect((await server.ask(4, 'resources/read', { uri: 'note:///1' })).result?.['contents']).toEqual([
      { uri: 'note:///1', mimeType: 'text/markdown', text: '# été' },
    ])
    expect((await server.ask(5, 'resources/read', { uri: 'picture:///1' })).result?.['contents']).toEqual([
      { uri: 'picture:///1', blob: Buffer.from([0xff, 0xd8, 0, 1]).toString('base64') },
    ])
    expect((await server.ask(6, 'resources/read', { uri: 'secret:///1' })).error?.code).toBe(-32_602)
    expect((await server.initialize(revisionsOf('legacy')[0] ?? '')).result).toMatchObject({
      protocolVersion: revisionsOf('legacy')[0],
    })
    server.send(`${JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'ping', params: { pad: 'x'.repeat(5_000) } })}\n`)
    await server.until('the refusal', () => server.messages.find(({ error }) => error?.code === -32_600))
    expect(server.stderr).toBe('')
  })

  test('MC-DISC-10: what is advertised is served, and the list of resources holds what the configuration names; lists may be kept for a minute', async () => {
    const file = configFile('{"resources":[{"uri":"a:b","name":"x","text":""}],"logLevel":"silent"}')
    await using without = new ServerProcess(['--log-level', 'silent'])
    expect((await without.ask(2, 'resources/list')).result?.['resources']).toEqual([])
    await using server = new ServerProcess(['--config', file])
    const full = (await server.ask(1, 'server/discover')).result
    expect(Object.keys(full?.['capabilities'] as object).toSorted()).toEqual([
      'completions',
      'prompts',
      'resources',
      'tools',
    ])
    for (const [id, method] of [
      'server/discover',
      'tools/list',
      'prompts/list',
      'resources/list',
      'resources/templates/list',
    ].entries()) {
      expect((await server.ask(`m${id}`, method)).result, method).toMatchObject({ ttlMs: 60_000, cacheScope: 'public' })
    }
    expect((await server.ask('read', 'resources/read', { uri: 'a:b' })).result).toMatchObject({ ttlMs: 0 })
  })

  test('flags win over the file', async () => {
    const file = configFile('{"protocol":"modern","enabledTools":["nothing"],"logLevel":"silent"}')
    await using server = new ServerProcess(['--config', file, '--protocol', 'legacy', '--allow-tool', 'parse_*'])
    expect((await server.initialize(legacyRevision)).result).toMatchObject({ protocolVersion: legacyRevision })
    const tools = (await server.askLegacy(1, 'tools/list')).result?.['tools'] as { name: string }[]
    expect(tools.map(({ name }) => name)).toEqual(['parse_facets'])
  })

  test('an allow-list that is empty allows nothing, and no client can widen it', async () => {
    const file = configFile('{"enabledTools":[],"logLevel":"silent"}')
    await using server = new ServerProcess(['--config', file])
    expect((await server.ask(1, 'tools/list')).result?.['tools']).toEqual([])
    const meta = {
      'io.modelcontextprotocol/protocolVersion': modernRevision,
      'io.modelcontextprotocol/clientInfo': { name: 'atenea-server', version: '1', role: 'admin' },
      'io.modelcontextprotocol/clientCapabilities': { tools: { all: true }, experimental: { enabledTools: ['*'] } },
      enabledTools: ['*'],
    }
    server.send({
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: { name: 'parse_facets', arguments: { text: 'x' }, _meta: meta },
    })
    expect((await server.answer(2)).error?.code).toBe(-32_602)
  })
})

describe('status', () => {
  test('tells what a running server serves', async () => {
    const socket = join(folder, 'state', 'atenea', 'server.sock')
    const state = { XDG_STATE_HOME: join(folder, 'state') }
    await using server = new ServerProcess(['--socket', 'default', '--deny-tool', 'parse_*'], state)
    await server.until('it says how to try it', () => (server.stderr.includes(`status ${socket}`) ? true : undefined))
    const { status, stdout, stderr } = run(['status'], { env: state })
    expect(stderr).toBe('')
    expect(status).toBe(0)
    expect(stdout).toContain(socket)
    expect(stdout).toMatch(/atenea-server \d/)
    for (const word of [modernRevision, legacyRevision, 'create_record_cid', 'validate_lexicon_schema', 'draft_post']) {
      expect(stdout).toContain(word)
    }
    expect(stdout).not.toContain('parse_facets')
  })

  test('works with a server that serves one era only', async () => {
    for (const protocol of ['legacy', 'modern']) {
      const socket = join(folder, `${protocol}.sock`)
      await using server = new ServerProcess(['--socket', socket, '--protocol', protocol])
      await server.until('it listens', () => (server.stderr.includes('listening') ? true : undefined))
      const { status, stdout } = run(['status', '--socket', socket])
      expect(status, protocol).toBe(0)
      expect(stdout, protocol).toContain('create_record_cid')
      expect(stdout.includes(modernRevision), protocol).toBe(protocol === 'modern')
      expect(stdout.includes(legacyRevision), protocol).toBe(protocol === 'legacy')
    }
  })

  test('says with 4 that nobody answers', () => {
    const { status, stdout, stderr } = run(['status', join(folder, 'nobody')])
    expect(status).toBe(4)
    expect(stdout).toBe('')
    expect(stderr).toMatch(/^atenea-server: .*nobody.*no socket/)
  })
})

describe('the start', () => {
  test('what was compiled is kept below the cache of the user, and nowhere else', () => {
    const cache = join(folder, 'cache')
    const temporary = join(folder, 'temporary')
    mkdirSync(temporary)
    for (const env of [
      { XDG_CACHE_HOME: cache, TMPDIR: temporary },
      { XDG_CACHE_HOME: 'relative', HOME: '', TMPDIR: temporary },
    ]) {
      expect(run(['--stdio', '--log-level', 'error'], { env })).toEqual({ status: 0, stdout: '', stderr: '' })
    }
    expect(readdirSync(join(cache, 'atenea/compiled'))).toHaveLength(1)
    expect([readdirSync(temporary), existsSync('relative')]).toEqual([[], false])
  })

  test('nothing heavy of Node is loaded before it is used', () => {
    const list = `--import=data:text/javascript,process.on('exit',()=>process.getBuiltinModule('node:fs').writeSync(2,JSON.stringify(process.moduleLoadList)))`
    const { stderr } = spawnSync(process.execPath, [list, binPath, '--stdio', '--log-level', 'silent'], {
      encoding: 'utf8',
      input: '{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
    })
    const loaded = JSON.parse(stderr) as string[]
    expect(loaded.length).toBeGreaterThan(50)
    expect(
      loaded.filter((name) =>
        /undici|NativeModule (?:_?http|http2|https|_?tls|crypto|child_process|sqlite|zlib)/.test(name),
      ),
    ).toEqual([])
  })
})
