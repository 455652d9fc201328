import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { legacyRevision, modernRevision } from '@atenea/mcpcompat'
import { Client as ClientV2 } from '@modelcontextprotocol/client'
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { binPath, ServerProcess } from './_util/server-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'atenea-sdk-'))
const config = join(folder, 'atenea.json')
const socket = join(folder, 's.sock')
writeFileSync(
  config,
  JSON.stringify({ resources: [{ uri: 'notes:///style', name: 'style', mimeType: 'text/plain', text: 'be brief' }] }),
)

/** A client that is connected, and the revision that it took from the server's answer. */
interface Connected {
  readonly client: ClientV1 | ClientV2
  readonly revision: string | undefined
}

async function connectV1(args: string[]): Promise<Connected> {
  const client = new ClientV1({ name: 'v1', version: '1' })
  const transport = new StdioV1({ command: process.execPath, args, stderr: 'ignore' })
  let revision: string | undefined
  const spy = Object.assign(transport, { setProtocolVersion: (version: string) => (revision = version) })
  await client.connect(spy)
  return { client, revision }
}

async function connectV2(args: string[], mode: 'legacy' | 'auto' | { pin: string }): Promise<Connected> {
  const client = new ClientV2({ name: 'v2', version: '1' }, { versionNegotiation: { mode } })
  await client.connect(new StdioV2({ command: process.execPath, args, stderr: 'ignore' }))
  return { client, revision: client.getNegotiatedProtocolVersion() }
}

/** Clients from npm, each with what it should end up speaking. */
const clients = [
  ['sdk 1.32', legacyRevision, connectV1],
  ['client 2.4, legacy', legacyRevision, (args: string[]) => connectV2(args, 'legacy')],
  ['client 2.4, auto', modernRevision, (args: string[]) => connectV2(args, 'auto')],
  ['client 2.4, pinned', modernRevision, (args: string[]) => connectV2(args, { pin: modernRevision })],
] as const

const fronts = [
  ['stdio', [binPath, '--stdio', '--config', config, '--log-level', 'silent']],
  ['a unix socket, through connect', [binPath, 'connect', socket]],
] as const

let listening: ServerProcess

beforeAll(async () => {
  listening = new ServerProcess(['--socket', socket, '--config', config])
  await listening.until('it listens', () => (listening.stderr.includes('listening') ? true : undefined))
})

afterAll(async () => {
  await listening[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

describe.each(fronts)('over %s', (_front, args) => {
  describe.each(clients)('%s', (_name, revision, connect) => {
    let client: Connected['client']
    let agreed: string | undefined

    beforeAll(async () => {
      const connected = await connect([...args])
      client = connected.client
      agreed = connected.revision
    })
    afterAll(async () => {
      await client.close()
    })

    test('agrees on the revision that it asked for, and sees who answers', () => {
      expect(agreed).toBe(revision)
      expect(client.getServerVersion()).toMatchObject({ name: 'atenea-server' })
      expect(client.getServerCapabilities()).toMatchObject({ tools: {}, prompts: {}, resources: {}, completions: {} })
    })

    test('sees tools that a model can use', async () => {
      const { tools } = await client.listTools()
      expect(tools.map((tool) => tool.name)).toEqual([
        'create_record_cid',
        'validate_lexicon_schema',
        'parse_facets',
        'resolve_handle_to_did',
        'resolve_identity',
        'get_record',
        'get_blob',
        'upload_blob',
        'begin_blob_upload',
        'append_blob_upload',
        'finish_blob_upload',
      ])
      const uploading = tools.filter(({ annotations }) => annotations?.readOnlyHint !== true).map(({ name }) => name)
      expect(uploading).toEqual(['upload_blob', 'begin_blob_upload', 'append_blob_upload', 'finish_blob_upload'])
      for (const tool of tools) {
        expect(tool.title, tool.name).toMatch(/\w/)
        expect(tool.description?.length, tool.name).toBeGreaterThan(100)
        expect(tool.annotations, tool.name).toHaveProperty('openWorldHint')
        expect(tool.annotations?.destructiveHint, tool.name).not.toBe(true)
        expect(tool.inputSchema, tool.name).toMatchObject({ type: 'object', additionalProperties: false })
        expect(tool.outputSchema, tool.name).toMatchObject({ type: 'object' })
      }
    })

    test('create_record_cid', async () => {
      const record = { $type: 'app.bsky.feed.post', text: 'Hello AT Protocol!', createdAt: '2024-01-01T00:00:00.000Z' }
      const cid = 'bafyreigewvsjohwerwwjpivpxrymadwdxztscewmdrdltkymm2ypx5zcae'
      const result = await client.callTool({ name: 'create_record_cid', arguments: { record } })
      expect(result.structuredContent).toEqual({ cid })
      expect(result.content).toEqual([{ type: 'text', text: JSON.stringify({ cid }) }])
      expect(result.isError).toBeFalsy()
    })

    test('create_record_cid says what is wrong with a record', async () => {
      const result = await client.callTool({ name: 'create_record_cid', arguments: { record: { a: [1, { b: 0.5 }] } } })
      expect(result.isError).toBe(true)
      expect(result.content).toEqual([
        { type: 'text', text: expect.stringContaining('record.a[1].b: 0.5 is a fraction') },
      ])
    })

    test('validate_lexicon_schema', async () => {
      const schema = { lexicon: 1, id: 'com.example.thing', defs: { main: { type: 'string', maxLength: -1 } } }
      const result = await client.callTool({ name: 'validate_lexicon_schema', arguments: { schema } })
      expect(result.isError).toBeFalsy()
      expect(result.structuredContent).toEqual({
        valid: false,
        errors: [{ path: 'defs.main.maxLength', message: 'maxLength must not be negative' }],
        warnings: [],
      })
    })

    test('parse_facets', async () => {
      const result = await client.callTool({
        name: 'parse_facets',
        arguments: { text: 'é #tag @alice.test', resolveMentions: false },
      })
      expect(result.structuredContent).toEqual({
        facets: [
          { index: { byteStart: 3, byteEnd: 7 }, features: [{ $type: 'app.bsky.richtext.facet#tag', tag: 'tag' }] },
        ],
        mentions: [{ handle: 'alice.test', index: { byteStart: 8, byteEnd: 19 } }],
        omitted: 0,
      })
    })

    test('wrong arguments are told to the model, a wrong tool to the client', async () => {
      const result = await client.callTool({ name: 'parse_facets', arguments: { txt: 'x' } })
      expect(result.isError).toBe(true)
      await expect(client.callTool({ name: 'nope', arguments: {} })).rejects.toMatchObject({ code: -32_602 })
    })

    test('prompts, and the completion of their arguments', async () => {
      const { prompts } = await client.listPrompts()
      expect(prompts.map((prompt) => prompt.name)).toEqual(['draft_post', 'explain_record', 'review_lexicon'])
      const record = '{"$type":"app.bsky.feed.like","n":1.5}'
      const { messages } = await client.getPrompt({ name: 'explain_record', arguments: { record, reader: 'newcomer' } })
      expect(messages).toEqual([{ role: 'user', content: { type: 'text', text: expect.stringContaining(record) } }])
      expect(JSON.stringify(messages)).toContain('NOT a valid record: record.n: 1.5 is a fraction')
      const { completion } = await client.complete({
        ref: { type: 'ref/prompt', name: 'explain_record' },
        argument: { name: 'reader', value: 'mod' },
      })
      expect(completion.values).toEqual(['moderator'])
    })

    test('resources that the configuration names', async () => {
      const { resources } = await client.listResources()
      expect(resources).toEqual([{ uri: 'notes:///style', name: 'style', mimeType: 'text/plain' }])
      const { contents } = await client.readResource({ uri: 'notes:///style' })
      expect(contents).toEqual([{ uri: 'notes:///style', mimeType: 'text/plain', text: 'be brief' }])
    })
  })
})
