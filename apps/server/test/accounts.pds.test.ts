import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { legacyRevision, modernRevision } from '@atenea/mcpcompat'
import { Client as ClientV2 } from '@modelcontextprotocol/client'
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { type Account, createAccount, createRecord } from './_util/account.ts'
import { type NameServer, startNameServer } from './_util/name-server.ts'
import { binPath, ServerProcess } from './_util/server-process.ts'

// Passwords are hashed slowly and machines are busy; these bounds only catch a hang.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const folder = mkdtempSync(join(tmpdir(), 'atenea-accounts-'))
const files = join(folder, 'files')
let alice: Account
let bob: Account
let names: NameServer

beforeAll(async () => {
  mkdirSync(files)
  names = await startNameServer()
  alice = await createAccount()
  bob = await createAccount()
  names.dids.set(alice.handle, alice.did)
  // A handle that its account does not name in return.
  names.dids.set('liar.test', alice.did)
})

afterAll(() => {
  names[Symbol.dispose]()
  rmSync(folder, { recursive: true, force: true })
})

/** What every server of these tests is started with. */
function options(): string[] {
  const { plcUrl, pdsUrl } = inject('pds')
  const network = ['--plc-directory', plcUrl, '--allow-endpoint', pdsUrl, '--nameserver', names.address]
  return [...network, '--file-root', files, '--cache-dir', join(folder, 'cache')]
}

function environment(account: Account | undefined): Record<string, string> {
  const { ATPROTO_IDENTIFIER: _, ATPROTO_APP_PASSWORD: __, ...rest } = process.env as Record<string, string>
  return {
    ...rest,
    XDG_STATE_HOME: join(folder, 'state'),
    ...(account !== undefined && { ATPROTO_IDENTIFIER: account.handle, ATPROTO_APP_PASSWORD: account.appPassword }),
  }
}

/** The CID of bytes, by another way than the server's. */
function cidOf(bytes: Uint8Array): string {
  return CID.createV1(0x55, createDigest(0x12, createHash('sha256').update(bytes).digest())).toString()
}

interface Result {
  readonly isError?: boolean
  readonly structuredContent: Readonly<Record<string, never>>
  readonly content: readonly Readonly<Record<string, never>>[]
}

const clients = [
  [
    'sdk 1.32',
    legacyRevision,
    async (args: string[], env: Record<string, string>) => {
      const client = new ClientV1({ name: 'v1', version: '1' })
      await client.connect(new StdioV1({ command: process.execPath, args, env, stderr: 'ignore' }))
      return client
    },
  ],
  [
    'client 2.4',
    modernRevision,
    async (args: string[], env: Record<string, string>) => {
      const client = new ClientV2({ name: 'v2', version: '1' }, { versionNegotiation: { mode: 'auto' } })
      await client.connect(new StdioV2({ command: process.execPath, args, env, stderr: 'ignore' }))
      return client
    },
  ],
] as const

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

describe.each(clients)('%s, against a real PDS', (_name, revision, connect) => {
  let client: ClientV1 | ClientV2

  beforeAll(async () => {
    client = await connect([binPath, ...options()], environment(alice))
  })
  afterAll(async () => {
    await client.close()
  })

  test('speaks its own era', () => {
    expect('getNegotiatedProtocolVersion' in client ? client.getNegotiatedProtocolVersion() : legacyRevision).toBe(
      revision,
    )
  })

  async function call(name: string, args: Record<string, unknown>): Promise<Result> {
    return (await client.callTool({ name, arguments: args })) as unknown as Result
  }

  test('resolves handles and identities, in both directions', async () => {
    expect(
      (await call('resolve_handle_to_did', { handle: `@${alice.handle.toUpperCase()}` })).structuredContent,
    ).toEqual({ handle: alice.handle, did: alice.did })
    const { structuredContent } = await call('resolve_identity', { identifier: alice.did })
    expect(structuredContent).toMatchObject({
      did: alice.did,
      handle: alice.handle,
      pds: inject('pds').pdsUrl,
      document: { id: alice.did },
    })
    const liar = await call('resolve_handle_to_did', { handle: 'liar.test' })
    expect(liar.isError).toBe(true)
    expect(liar.content).toEqual([{ type: 'text', text: expect.stringContaining('unconfirmed-handle') }])
    const unnamed = await call('resolve_identity', { identifier: bob.did })
    expect(unnamed.structuredContent).toMatchObject({ did: bob.did, handleProblem: expect.stringMatching(/\w/) })
    expect(unnamed.structuredContent).not.toHaveProperty('handle')
  })

  test('mentions become facets where the handle can be resolved, and never a failure', async () => {
    const text = `👋🏽 @${alice.handle} und @liar.test`
    const start = Buffer.byteLength('👋🏽 ')
    const { structuredContent } = await call('parse_facets', { text })
    expect(structuredContent).toEqual({
      facets: [
        {
          index: { byteStart: start, byteEnd: start + 1 + alice.handle.length },
          features: [{ $type: 'app.bsky.richtext.facet#mention', did: alice.did }],
        },
      ],
      mentions: [{ handle: 'liar.test', index: expect.anything(), problem: expect.stringContaining('unconfirmed') }],
      omitted: 0,
    })
  })

  test('uploads an image, refers to it from a record, reads it back as a tool and as a resource: one CID everywhere', async () => {
    const bytes = Buffer.concat([png, randomBytes(8)])
    const cid = cidOf(bytes)
    const uploaded = await call('upload_blob', { data: bytes.toString('base64'), mimeType: 'image/png' })
    expect(uploaded.structuredContent).toMatchObject({
      did: alice.did,
      cid,
      size: bytes.length,
      sentType: 'image/png',
      storedType: 'image/png',
      blob: { $type: 'blob', ref: { $link: cid }, mimeType: 'image/png', size: bytes.length },
    })
    const early = await call('get_blob', { did: alice.did, cid })
    expect(early.isError).toBe(true)
    expect(early.content[0]).toMatchObject({ text: expect.stringContaining('not-referenced') })

    const blob = (uploaded.structuredContent as Record<string, unknown>)['blob']
    const record = await createRecord(alice, { blob, title: 'é😀' })
    const read = await call('get_record', { uri: record.uri })
    expect(read.structuredContent).toMatchObject({
      uri: record.uri,
      cid: record.cid,
      computedCid: record.cid,
      verified: true,
      value: { blob, title: 'é😀' },
    })
    const byHandle = record.uri.replace(alice.did, alice.handle)
    expect((await call('get_record', { uri: byHandle, cid: record.cid })).structuredContent).toMatchObject({
      uri: record.uri,
      verified: true,
    })

    const got = await call('get_blob', { did: alice.did, cid })
    const uri = `atenea-blob:///${alice.did}/${cid}`
    expect(got.structuredContent).toEqual({
      did: alice.did,
      cid,
      uri,
      size: bytes.length,
      declaredType: 'image/png',
      delivered: 'content',
    })
    expect(got.content[1]).toEqual({ type: 'image', mimeType: 'image/png', data: bytes.toString('base64') })

    for (const spelling of [uri, `atenea-blob:///${encodeURIComponent(alice.did)}/${cid}`]) {
      const { contents } = (await client.readResource({ uri: spelling })) as unknown as {
        contents: Record<string, string>[]
      }
      expect(contents).toEqual([{ uri, mimeType: 'image/png', blob: bytes.toString('base64') }])
      expect(cidOf(Buffer.from(contents[0]?.['blob'] ?? '', 'base64'))).toBe(cid)
    }
  })

  test('what was fetched for one account answers for no other, and changes no list', async () => {
    const before = [await client.listResources(), await client.listResourceTemplates()]
    const bytes = randomBytes(100)
    const uploaded = await call('upload_blob', { data: bytes.toString('base64'), mimeType: 'application/octet-stream' })
    const { blob, cid } = uploaded.structuredContent as unknown as { blob: object; cid: string }
    await createRecord(alice, { blob })
    expect((await call('get_blob', { did: alice.did, cid })).content[1]).toMatchObject({
      type: 'resource',
      resource: { mimeType: 'application/octet-stream', blob: bytes.toString('base64') },
    })
    expect((await call('get_blob', { did: bob.did, cid })).isError).toBe(true)
    // The code for a resource that does not exist differs between the eras.
    await expect(client.readResource({ uri: `atenea-blob:///${bob.did}/${cid}` })).rejects.toMatchObject({
      code: revision === legacyRevision ? -32_002 : -32_602,
    })
    expect([await client.listResources(), await client.listResourceTemplates()]).toEqual(before)
  })

  test('G10: active content is bytes without a name, however it is called', async () => {
    const svg = Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg"><!--${randomBytes(4).toString('hex')}--></svg>`)
    for (const mimeType of ['image/png', 'text/html', 'image/svg+xml']) {
      const bytes = Buffer.concat([svg, Buffer.from(mimeType)])
      const { structuredContent } = await call('upload_blob', { data: bytes.toString('base64'), mimeType })
      const { blob, cid } = structuredContent as unknown as { blob: object; cid: string }
      await createRecord(alice, { blob })
      const { content } = await call('get_blob', { did: alice.did, cid })
      expect(content[1], mimeType).toMatchObject({
        type: 'resource',
        resource: { mimeType: 'application/octet-stream' },
      })
    }
  })

  test('a file goes up and a blob comes down, below the folder of the operator only', async () => {
    const bytes = randomBytes(2_000_000)
    const name = `${randomBytes(4).toString('hex')}.bin`
    writeFileSync(join(files, name), bytes)
    writeFileSync(join(folder, 'secret.txt'), 'outside')
    const uploaded = await call('upload_blob', { path: name, mimeType: 'application/octet-stream' })
    const { blob, cid } = uploaded.structuredContent as unknown as { blob: object; cid: string }
    expect(cid).toBe(cidOf(bytes))
    await createRecord(alice, { blob })
    for (const path of ['../secret.txt', join(folder, 'secret.txt'), '..', 'x\0y', `${name}/../../secret.txt`]) {
      const refused = await call('upload_blob', { path, mimeType: 'text/plain' })
      expect(refused.isError, path).toBe(true)
    }
    const large = await call('get_blob', { did: alice.did, cid })
    expect(large.structuredContent).toMatchObject({ delivered: 'link', size: bytes.length })
    expect(large.content[1]).toMatchObject({
      type: 'resource_link',
      size: bytes.length,
      mimeType: 'application/octet-stream',
    })
    const saved = await call('get_blob', { did: alice.did, cid, saveTo: `copy-${name}` })
    expect(saved.structuredContent).toMatchObject({ delivered: 'file', size: bytes.length })
    expect(readFileSync(join(files, `copy-${name}`)).equals(bytes)).toBe(true)
    const again = await call('get_blob', { did: alice.did, cid, saveTo: `copy-${name}` })
    expect(again.content[0]).toMatchObject({ text: expect.stringContaining('nothing is overwritten') })
    expect((await call('get_blob', { did: alice.did, cid, saveTo: '../copy' })).isError).toBe(true)
    expect(readdirSync(files).filter((file) => file.endsWith('.part'))).toEqual([])
  })
})

describe('an upload in pieces', () => {
  /** A tool call whose result is wanted. */
  async function tool(server: ServerProcess, name: string, args: object): Promise<Record<string, unknown>> {
    const id = `${name} ${randomBytes(4).toString('hex')}`
    const { result } = await server.ask(id, 'tools/call', { name, arguments: args })
    return result ?? {}
  }

  test('survives kill -9 between its pieces, takes a piece once, and gives its answer again', async () => {
    const bytes = randomBytes(3_000_000)
    const args = ['--stdio', ...options()]
    let uploadId = ''
    {
      await using server = new ServerProcess(args, environment(alice))
      const begun = await tool(server, 'begin_blob_upload', {
        mimeType: 'application/octet-stream',
        size: bytes.length,
        cid: cidOf(bytes),
      })
      expect(begun['structuredContent']).toMatchObject({ received: 0 })
      uploadId = String((begun['structuredContent'] as Record<string, unknown>)['uploadId'])
      const piece = { uploadId, offset: 0, data: bytes.subarray(0, 1_000_000).toString('base64') }
      const answers = await Promise.all([
        tool(server, 'append_blob_upload', piece),
        tool(server, 'append_blob_upload', piece),
      ])
      for (const answer of answers) expect(answer['structuredContent']).toMatchObject({ received: 1_000_000 })
      expect(await tool(server, 'append_blob_upload', { ...piece, offset: 5 })).toMatchObject({ isError: true })
      expect(await tool(server, 'finish_blob_upload', { uploadId })).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('offset 1000000') }],
      })
      server.child.kill('SIGKILL')
    }
    await using server = new ServerProcess(args, environment(alice))
    for (const offset of [1_000_000, 2_000_000]) {
      const data = bytes.subarray(offset, offset + 1_000_000).toString('base64')
      expect(await tool(server, 'append_blob_upload', { uploadId, offset, data })).toMatchObject({
        structuredContent: { received: offset + 1_000_000 },
      })
    }
    const finished = await tool(server, 'finish_blob_upload', { uploadId })
    expect(finished['structuredContent']).toMatchObject({ cid: cidOf(bytes), size: bytes.length, did: alice.did })
    expect(await tool(server, 'finish_blob_upload', { uploadId })).toEqual(finished)
    expect(await tool(server, 'append_blob_upload', { uploadId, offset: 3_000_000, data: 'AA==' })).toMatchObject({
      isError: true,
    })
    expect(readdirSync(join(folder, 'state/atenea/uploads'))).toEqual([])
  })

  test('an unknown one is told from nothing', async () => {
    await using server = new ServerProcess(['--stdio', ...options()], environment(alice))
    const { error, result } = await server.ask(1, 'tools/call', {
      name: 'append_blob_upload',
      arguments: { uploadId: 'wf_0000', offset: 0, data: 'AA==' },
    })
    expect(error).toBeUndefined()
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('no such workflow') }] })
  })
})

test('without an account everything can be read, and an upload says what is missing', async () => {
  await using server = new ServerProcess(['--stdio', ...options()], environment(undefined))
  const { result } = await server.ask(1, 'tools/call', {
    name: 'upload_blob',
    arguments: { data: 'AAAA', mimeType: 'image/png' },
  })
  expect(result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(/ATPROTO_IDENTIFIER and ATPROTO_APP_PASSWORD/) }],
  })
  expect(
    (await server.ask(2, 'tools/call', { name: 'resolve_identity', arguments: { identifier: alice.did } })).result,
  ).toMatchObject({ structuredContent: { did: alice.did } })
})

test('no secret appears anywhere at debug level: not in results, errors, logs or files', async () => {
  const output: string[] = []
  const state = join(folder, 'state-secrets')
  const cache = join(folder, 'cache-secrets')
  for (const password of [alice.appPassword, 'wrong-pass-word-1234']) {
    for (const format of ['text', 'json']) {
      const args = ['--stdio', ...options(), '--cache-dir', cache, '--log-level', 'debug', '--log-format', format]
      const env = { ...environment(alice), XDG_STATE_HOME: state, ATPROTO_APP_PASSWORD: password }
      await using server = new ServerProcess(args, env)
      const calls = [
        ['upload_blob', { data: 'AAAA', mimeType: 'image/png' }],
        ['upload_blob', { path: '/proc/self/environ', mimeType: 'text/plain' }],
        ['resolve_identity', { identifier: alice.did }],
        ['get_blob', { did: alice.did, cid: 'bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku' }],
        ['get_record', { uri: `at://${alice.did}/com.example.file/none` }],
      ] as const
      for (const [index, [name, args_]] of calls.entries()) {
        await server.ask(index, 'tools/call', { name, arguments: args_ })
      }
      server.endInput()
      await server.ended
      output.push(server.stdout, server.stderr)
      expect(server.messages).toHaveLength(calls.length)
    }
  }
  const written = [state, cache]
    .filter((path) => existsSync(path))
    .flatMap((path) => readdirSync(path, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
  const everything = [...output, ...written].join('\n')
  expect(everything).toContain(alice.did)
  for (const secret of [alice.appPassword, 'wrong-pass-word-1234', alice.accessToken, alice.password]) {
    expect(everything.includes(secret)).toBe(false)
    expect(everything.includes(Buffer.from(secret).toString('base64').replace(/=+$/, ''))).toBe(false)
  }
  // Tokens of sessions that the server opened itself: every token of the PDS is a JSON web token.
  expect(everything).not.toMatch(/eyJ[\w-]{5,}\.[\w-]+\.[\w-]*/)
  expect(everything).not.toMatch(/Bearer (?!\[)/)
})
