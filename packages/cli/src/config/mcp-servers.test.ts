/* oxlint-disable no-template-curly-in-string -- such strings are what is tested */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { loadServers, serversFileSchema, type ServersFile } from './mcp-servers.ts'

const folder = mkdtempSync(join(tmpdir(), 'atenea-servers-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const file = join(folder, 'mcp.json')

function load(text: string, environment: Record<string, string> = {}): Promise<ServersFile> {
  writeFileSync(file, text)
  return loadServers({ file, environment })
}

async function refusal(text: string): Promise<string> {
  const error: unknown = await load(text).catch((reason: unknown) => reason)
  if (!(error instanceof Error)) throw new Error('it was accepted')
  return error.message.replaceAll(`${folder}/`, '')
}

const local = (texts: readonly string[]): string[] => texts.map((text) => text.replaceAll(`${folder}/`, ''))

describe('servers of a client’s configuration', () => {
  test('commands, URLs and sockets, with comments, variables and trailing commas', async () => {
    const { servers, warnings } = await load(
      `{ // from a desktop client
        "globalShortcut": "x",
        "mcpServers": {
          "files": { "command": "npx", "args": ["-y", "\${PACKAGE:-files}"], "env": { "LEVEL": 3, "KEY": "\${env:KEY}" }, "cwd": "sub" },
          "web": { "type": "http", "url": "https://x.example/\${KEY}/mcp", "headers": { "Authorization": "Bearer \${KEY}" }, "timeout": 5000, },
          "old": { "type": "sse", "url": "http://127.0.0.1:1/sse", "headers": { "A": "\${NONE}" }, "disabled": true },
          "near": { "url": "unix:/run/a.sock", "enabledTools": ["a*"], "disabledTools": ["b"], "protocol": "legacy" },
        },
      }`,
      { KEY: 'k1' },
    )
    expect(servers.map(({ name, target }) => [name, target])).toEqual([
      [
        'files',
        {
          kind: 'command',
          command: 'npx',
          args: ['-y', 'files'],
          env: { LEVEL: '3', KEY: 'k1' },
          cwd: join(folder, 'sub'),
        },
      ],
      ['web', { kind: 'http', url: 'https://x.example/k1/mcp', headers: { Authorization: 'Bearer k1' } }],
      ['old', undefined],
      ['near', { kind: 'socket', path: '/run/a.sock' }],
    ])
    expect(servers.map(({ disabled, timeoutMs, protocol }) => [disabled, timeoutMs, protocol])).toEqual([
      [false, undefined, undefined],
      [false, 5_000, undefined],
      [true, undefined, undefined],
      [false, undefined, 'legacy'],
    ])
    expect(servers.at(-1)).toMatchObject({ enabledTools: ['a*'], disabledTools: ['b'], faults: [] })
    expect(warnings).toEqual([])
  })

  test.each([
    ['.vscode/mcp.json', '{ "servers": { "a": { "command": "x" } }, "inputs": [] }'],
    ['the settings of VS Code', '{ "mcp": { "servers": { "a": { "command": "x" } } }, "editor.tabSize": 2 }'],
  ])('the layout of %s', async (_name, text) => {
    const { servers } = await load(text)
    expect(servers.map(({ name, target }) => [name, target?.kind])).toEqual([['a', 'command']])
  })

  test('a timeout that can only be seconds, as some clients write it, is read as such and told', async () => {
    const { servers, warnings } = await load(
      '{ "mcpServers": { "a": { "type": "local", "command": "x", "timeout": 60 }, "b": { "command": "x", "timeout": 1000 } } }',
    )
    expect(servers.map(({ timeoutMs }) => timeoutMs)).toEqual([60_000, 1_000])
    expect(local(warnings)).toEqual([
      'mcp.json:1:59: a: "timeout" is read as seconds, as some clients write it; write milliseconds, 1000 or more, to be clear',
    ])
  })

  test('what is wrong with one server leaves the others alone, and says where', async () => {
    const { servers } = await load(
      `{ "mcpServers": {
  "good": { "command": "x" },
  "variable": { "command": "x", "env": { "KEY": "\${KEY}" } },
  "question": { "command": "x", "env": { "KEY": "\${input:key}" } },
  "both": { "command": "x", "url": "http://x.example" },
  "neither": {},
  "scheme": { "url": "ftp://x.example" },
  "kind": { "command": "x", "args": "-y" },
  "text": "x"
} }`,
    )
    expect(servers.map(({ name, target, faults }) => [name, target?.kind, local(faults).join('\n')])).toEqual([
      ['good', 'command', ''],
      [
        'variable',
        undefined,
        'mcp.json:3:49: mcpServers.variable.env.KEY: the variable KEY is not set; set it, or write ${KEY:-default}',
      ],
      [
        'question',
        undefined,
        'mcp.json:4:49: only the editor can ask for ${input:…}; write ${NAME} and set that variable',
      ],
      ['both', undefined, 'mcp.json:5:11: both: it has both a command and a URL; take one of them out'],
      ['neither', undefined, 'mcp.json:6:14: neither: it needs a "command" to start or a "url" to ask'],
      [
        'scheme',
        undefined,
        'mcp.json:7:13: scheme: "ftp://x.example" is no URL that begins with http://, https:// or unix:',
      ],
      ['kind', undefined, 'mcp.json:8:37: args: Invalid input: expected array, received string'],
      ['text', undefined, 'mcp.json:9:11: Invalid input: expected object, received string'],
    ])
  })

  test('what no system and no HTTP takes is a fault of its server, told without the value', async () => {
    const { servers } = await load(
      String.raw`{ "mcpServers": {
  "line": { "url": "http://x.example", "headers": { "Authorization": "Bearer ${'$'}{KEY}" } },
  "name": { "url": "http://x.example", "headers": { "X A": "b" } },
  "word": { "command": "x", "args": ["a\u0000"] },
  "variable": { "command": "x", "env": { "A": "\u0000" } }
} }`,
      { KEY: 'abc\n' },
    )
    expect(servers.map(({ target, faults }) => [target, local(faults).join('\n')])).toEqual([
      [
        undefined,
        'mcp.json:2:11: line: the value of the header "Authorization" holds a line end or another character that HTTP does not take; look at the variables in it',
      ],
      [undefined, 'mcp.json:3:11: name: "X A" can be no name of a header'],
      [undefined, 'mcp.json:4:11: word: no command, argument or variable can hold the character U+0000'],
      [undefined, 'mcp.json:5:15: variable: no command, argument or variable can hold the character U+0000'],
    ])
  })

  test('a foreign key is a warning with the key that was probably meant', async () => {
    const { warnings, servers } = await load(
      '{ "mcpServers": {\n "a": { "command": "x", "arg": ["${NONE}"], "autoApprove": [], "gallery": true },\n "b": { "url": "http://x.example", "type": "sse", "autoApprove": [] } } }',
    )
    expect(servers.map(({ target }) => target?.kind)).toEqual(['command', 'sse'])
    expect(local(warnings)).toEqual([
      'mcp.json:2:25: a: the key "arg" is not understood; did you mean "args"?',
      'mcp.json: keys that say nothing here: "autoApprove", "gallery"',
    ])
  })

  test.each([
    ['no servers', '{}', 'mcp.json names no servers: it has neither "mcpServers" nor "servers"'],
    [
      'a key that is nearly right',
      '{ "mcpServer": {} }',
      'mcp.json names no servers: it has neither "mcpServers" nor "servers" (it has "mcpServer")',
    ],
    [
      'a list',
      '{ "mcpServers": [] }',
      'mcp.json:1:17: mcpServers must be an object that holds a server under each name',
    ],
    [
      'a name twice',
      '{ "servers": { "a": {"command":"x"} }, "mcpServers": { "a": {"command":"y"} } }',
      'mcp.json:1:16: the server "a" is there twice',
    ],
    [
      'a name that objects have anyhow',
      '{ "servers": { "__proto__": {"command":"x"} } }',
      'mcp.json:1:16: "__proto__" can be no name of a server',
    ],
  ])('%s', async (_name, text, expected) => {
    expect(await refusal(text)).toBe(expected)
  })

  test('the published schema takes what is read, also from other clients', () => {
    const schema = serversFileSchema({ serverSchema: z.strictObject({ prefix: z.string() }) })
    const good = {
      mcpServers: { a: { command: 'x', env: { N: 1 }, gallery: true, atenea: { prefix: 'p' } } },
      other: 1,
    }
    expect(schema.safeParse(good).success).toBe(true)
    expect(schema.safeParse({ servers: { a: { atenea: { prefx: 'p' } } } }).success).toBe(false)
    expect(z.toJSONSchema(schema, { io: 'input' })).toMatchObject({ type: 'object' })
  })

  test('objects of our own are strict, where somebody asks for them', async () => {
    const serverSchema = z.strictObject({ prefix: z.string().optional() })
    const topSchema = z.strictObject({ separator: z.string() })
    writeFileSync(
      file,
      '{ "servers": { "a": { "command": "x", "atenea": { "prefx": "${P}" } } }, "atenea": { "separator": "." } }',
    )
    const read = await loadServers({ file, environment: { P: 'q' }, serverSchema, topSchema })
    expect(read.own).toEqual({ separator: '.' })
    expect(local(read.servers[0]?.faults ?? [])).toEqual(['mcp.json:1:51: unknown key "prefx"; did you mean "prefix"?'])
    expect((await loadServers({ file, environment: { P: 'q' } })).servers[0]?.faults).toEqual([])
  })
})
