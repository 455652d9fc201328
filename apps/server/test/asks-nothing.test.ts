import { legacyRevision } from '@atenea/mcpcompat'
import { describe, expect, test } from 'vitest'
import { alice, cidOf, hostilePds, json } from './_util/hostile-pds.ts'
import { modernMeta, ServerProcess } from './_util/server-process.ts'

const cid = cidOf(Buffer.from('x'))
const uploadId = 'unknown'
/** A call of each tool, as far as it can go without an account. */
const calls: Readonly<Record<string, object>> = {
  append_blob_upload: { uploadId, offset: 0, data: 'eA==' },
  begin_blob_upload: { mimeType: 'text/plain' },
  create_record_cid: { record: { $type: 'a.b.c' } },
  finish_blob_upload: { uploadId },
  get_blob: { did: alice, cid },
  get_record: { uri: `at://${alice}/a.b.c/self` },
  parse_facets: { text: 'hello @alice.example.com' },
  resolve_handle_to_did: { handle: 'alice.example.com' },
  resolve_identity: { identifier: alice },
  upload_blob: { data: 'eA==', mimeType: 'text/plain' },
  validate_lexicon_schema: { lexicon: { lexicon: 1, id: 'a.b.c', defs: {} } },
}

const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} }
const nobody = { ATPROTO_IDENTIFIER: undefined, ATPROTO_APP_PASSWORD: undefined }

describe('nothing is asked of whoever calls', () => {
  async function served(): Promise<ServerProcess> {
    const pds = await hostilePds()
    pds.answers['getRecord'] = (_, response) => json(response, 400, { error: 'RecordNotFound' })
    pds.answers['getBlob'] = (_, response) => json(response, 404, {})
    return new ServerProcess(['--stdio', ...pds.flags], nobody)
  }

  const ids = 'MC-ELIC-09, MC-ELIC-13, MC-ELIC-14, MC-ELIC-19, LG-ELIC-02'
  test(`${ids}: each tool ends by itself, also for a client that would answer everything, and a secret is a matter of the operator`, async () => {
    await using server = await served()
    const meta = { ...modernMeta, 'io.modelcontextprotocol/clientCapabilities': capabilities }
    const { result } = await server.ask('list', 'tools/list')
    const tools = (result?.['tools'] ?? []) as readonly { readonly name: string }[]
    expect(tools.map(({ name }) => name).toSorted()).toEqual(Object.keys(calls))
    for (const [name, args] of Object.entries(calls)) {
      server.send({ jsonrpc: '2.0', id: name, method: 'tools/call', params: { name, arguments: args, _meta: meta } })
      expect([name, (await server.answer(name)).result]).toEqual([
        name,
        expect.objectContaining({ resultType: 'complete' }),
      ])
    }
    expect((await server.answer('upload_blob')).result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('Its operator must set ATPROTO_IDENTIFIER and ATPROTO_APP_PASSWORD') }],
    })
    await server.initialize(legacyRevision)
    for (const [name, args] of Object.entries(calls))
      await server.askLegacy(`legacy ${name}`, 'tools/call', { name, arguments: args })
    expect(server.messages.filter(({ method }) => method !== undefined)).toEqual([])
  })
})

test('MC-RES-12: every URI is one of RFC 3986 under a scheme of our own, and any other is refused in the configuration', async () => {
  await using server = new ServerProcess(['--stdio'], nobody)
  const { result } = await server.ask(1, 'resources/templates/list')
  const [template] = (result?.['resourceTemplates'] ?? []) as readonly { readonly uriTemplate: string }[]
  expect(template?.uriTemplate).toBe('atenea-blob:///{did}/{cid}')
  expect(new URL(template?.uriTemplate.replace(/\{.*\}/, 'x') ?? '').protocol).toBe('atenea-blob:')
  const { configSchema } = await import('../src/config/schema.ts')
  const good = (uri: string): boolean => configSchema.safeParse({ resources: [{ uri, name: 'x', text: 'x' }] }).success
  for (const uri of ['notes:///style', 'lexicons:///a.b.c?x=%C3%A9#y', 'urn:x:y'])
    expect([uri, good(uri)]).toEqual([uri, true])
  for (const uri of [
    'notes',
    '1x:///a',
    'notes:///with blank',
    'notes:///é',
    'notes:///%zz',
    'notes:///a|b',
    'no tes:///a',
  ]) {
    expect([uri, good(uri)]).toEqual([uri, false])
  }
})
