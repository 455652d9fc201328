import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  alice,
  type Answer,
  blobObject,
  cidOf,
  type HostilePds,
  hostilePds,
  json,
  opaqueToken,
  serving,
} from './_util/hostile-pds.ts'
import { modernMeta, ServerProcess } from './_util/server-process.ts'

interface Setting {
  readonly pds: HostilePds
  readonly server: ServerProcess
  readonly files: string
  readonly cache: string
  call(name: string, args: object): Promise<Called>
}

interface Called {
  readonly isError?: boolean
  readonly content?: readonly Readonly<Record<string, unknown>>[]
  readonly structuredContent?: Readonly<Record<string, unknown>>
}

const password = 'abcd-efgh-ijkl-mnop'

/** The built server, a PDS for it to talk to, and folders of their own. */
async function setting(...flags: string[]): Promise<Setting> {
  const folder = mkdtempSync(join(tmpdir(), 'atenea-hostile-'))
  const files = join(folder, 'files')
  const cache = join(folder, 'cache')
  mkdirSync(files)
  const pds = await hostilePds()
  const args = ['--stdio', ...pds.flags, '--file-root', files, '--cache-dir', cache, '--log-level', 'debug', ...flags]
  const server = new ServerProcess(args, {
    XDG_STATE_HOME: join(folder, 'state'),
    ATPROTO_IDENTIFIER: alice,
    ATPROTO_APP_PASSWORD: password,
  })
  onTestFinished(async () => {
    await server[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })
  let calls = 0
  return {
    pds,
    server,
    files,
    cache,
    call: async (name, args) => {
      const { error, result } = await server.ask(`call ${++calls}`, 'tools/call', { name, arguments: args })
      expect(error).toBeUndefined()
      return result as Called
    },
  }
}

/** The blobs that the cache holds, whole or not. */
function cached(cache: string): string[] {
  if (!existsSync(cache)) return []
  return readdirSync(cache, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
}

function textOf({ content }: Called): string {
  return String(content?.[0]?.['text'])
}

const bytes = Buffer.from('the bytes that were asked for')
const cid = cidOf(bytes)

describe('only verified bytes come out', () => {
  test.each<[what: string, kind: string, answer: Answer]>([
    ['other bytes of the same length', 'mismatch', serving(Buffer.from('the bytes that were asked foR'))],
    ['more bytes', 'mismatch', serving(Buffer.concat([bytes, bytes]))],
    [
      'fewer bytes than announced',
      'truncated',
      (_, response) => {
        response.writeHead(200, { 'content-length': bytes.length })
        response.write(bytes.subarray(0, 5), () => response.destroy())
      },
    ],
    ['an error with status 200', 'error-body', (_, response) => json(response, 200, { error: 'InternalServerError' })],
    [
      'a page with status 200',
      'error-body',
      (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><p>Sign in'),
    ],
    ['gzip', 'encoded', (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(bytes))],
    [
      'a redirect to a private address',
      'endpoint-refused',
      (_, response) => response.writeHead(302, { location: 'https://169.254.169.254/latest/meta-data' }).end(),
    ],
    [
      'redirects without end',
      'bad-redirect',
      (request, response) => response.writeHead(302, { location: request.url }).end(),
    ],
    ['a failure', 'upstream', (_, response) => json(response, 500, { error: 'Oops', message: opaqueToken })],
    ['rate limits', 'rate-limited', (_, response) => json(response, 429, { error: 'RateLimitExceeded' })],
    [
      'that the account is gone',
      'account-unavailable',
      (_, response) => json(response, 400, { error: 'RepoTakendown' }),
    ],
  ])('%s: %s, and nothing is kept', async (_what, kind, answer) => {
    const { pds, call, cache, server } = await setting()
    pds.answers['GET getBlob'] = answer
    pds.answers['HEAD getBlob'] = serving(bytes)
    const failed = await call('get_blob', { did: alice, cid })
    expect(failed.isError).toBe(true)
    expect(textOf(failed)).toContain(`${kind}: `)
    const { error } = await server.ask('read', 'resources/read', { uri: `atenea-blob:///${alice}/${cid}` })
    expect(error?.code).toBe(kind === 'account-unavailable' ? -32_602 : -32_603)
    expect(cached(cache)).toEqual([])
  })
})

test('G1: the true type and length are sent, the object of the PDS comes back as it is, and another type is told', async () => {
  const { pds, call } = await setting()
  const files: [Buffer, string, string][] = [
    [Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/svg+xml', '*/*'],
    [Buffer.from('<p>'), 'text/html', 'text/html'],
    [Buffer.from('plain'), 'text/plain', 'application/octet-stream'],
    [Buffer.alloc(0), 'application/x-empty', 'application/x-empty'],
  ]
  for (const [data, sent, stored] of files) {
    pds.answers['uploadBlob'] = async (request, response) => {
      const { buffer } = await import('node:stream/consumers')
      const body = await buffer(request)
      pds.uploads.push({ headers: request.headers, body })
      json(response, 200, { blob: { ...blobObject(body, stored), extra: 1 } })
    }
    const { structuredContent } = await call('upload_blob', { data: data.toString('base64'), mimeType: sent })
    expect(structuredContent).toMatchObject({
      cid: cidOf(data),
      sentType: sent,
      storedType: stored,
      blob: { extra: 1 },
    })
    expect(structuredContent).toHaveProperty('blob.mimeType', stored)
    expect(structuredContent?.['warning'] === undefined).toBe(sent === stored)
    const last = pds.uploads.at(-1)
    expect(last?.headers).toMatchObject({ 'content-type': sent, 'content-length': String(data.length) })
    expect(last?.body.equals(data)).toBe(true)
  }
})

test('G1: a PDS that names other bytes than were sent is an error', async () => {
  const { pds, call } = await setting()
  pds.answers['uploadBlob'] = (request, response) => {
    request.resume()
    request.once('end', () => json(response, 200, { blob: blobObject(Buffer.from('other'), 'text/plain') }))
  }
  const failed = await call('upload_blob', { data: 'AAAA', mimeType: 'text/plain' })
  expect(failed.isError).toBe(true)
  expect(textOf(failed)).toMatch(/^mismatch: /)
})

test('G2: the type that was uploaded is kept with the bytes when the PDS serves them without', async () => {
  const { pds, call } = await setting()
  await call('upload_blob', { data: bytes.toString('base64'), mimeType: 'text/plain' })
  pds.answers['getBlob'] = serving(bytes)
  const got = await call('get_blob', { did: alice, cid })
  expect(got.structuredContent).toMatchObject({ declaredType: 'text/plain', delivered: 'content' })
  expect(got.content?.[1]).toEqual({ type: 'text', text: bytes.toString() })
})

test('G4: only the one form of a CID that names blobs is taken, before anything is sent; the empty blob is one', async () => {
  const { pds, call, server, cache } = await setting()
  const others = [
    'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWAndrS',
    cidOf(bytes, 0x71),
    cid.toUpperCase(),
    `${cid}=`,
    '../x',
    '..%2Fx',
    '',
  ]
  for (const other of others) {
    const failed = await call('get_blob', { did: alice, cid: other })
    expect(failed.isError, other).toBe(true)
    expect(textOf(failed), other).toMatch(/^unsupported-cid: /)
    const { error } = await server.ask(`read ${other}`, 'resources/read', { uri: `atenea-blob:///${alice}/${other}` })
    expect(error?.code, other).toBe(-32_602)
  }
  expect(pds.calls).toEqual([])
  const empty = Buffer.alloc(0)
  pds.answers['getBlob'] = serving(empty)
  const got = await call('get_blob', { did: alice, cid: cidOf(empty) })
  expect(got.structuredContent).toMatchObject({ size: 0, delivered: 'content' })
  expect(cached(cache).some((name) => name.includes('..'))).toBe(false)
})

test('G5: the blob comes from the PDS that the document names, and none that lies in a private network', async () => {
  const { pds, call } = await setting()
  pds.answers['getBlob'] = serving(bytes, 'text/plain')
  expect((await call('get_blob', { did: alice, cid })).content?.[1]).toEqual({ type: 'text', text: bytes.toString() })
  expect(pds.calls).toEqual(['HEAD getBlob', 'GET getBlob'])
  const endpoints = [
    'http://127.0.0.1:1',
    'https://[::1]',
    'https://169.254.169.254',
    'https://user:pw@example.com',
    'http://localhost:1',
    'https://0x7f.1',
  ]
  for (const [index, endpoint] of endpoints.entries()) {
    pds.endpoint = endpoint
    const did = `did:plc:${'abcdef'.charAt(index)}`.padEnd(32, 'z')
    const failed = await call('get_blob', { did, cid })
    expect(failed.isError, endpoint).toBe(true)
    expect(textOf(failed), endpoint).toMatch(/^endpoint-refused: /)
    expect((await call('resolve_identity', { identifier: did })).structuredContent, endpoint).toMatchObject({
      did,
      pdsProblem: expect.stringContaining('endpoint-refused'),
    })
  }
  expect(pds.calls).toHaveLength(2)
})

test('G7: an odd image that makes the PDS fail is told once and not sent again', async () => {
  const { pds, call } = await setting()
  pds.answers['uploadBlob'] = (request, response) => {
    request.resume()
    request.once('end', () => json(response, 500, { error: 'InternalServerError', message: 'Internal Server Error' }))
  }
  const odd = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), randomBytes(100)])
  const failed = await call('upload_blob', { data: odd.toString('base64'), mimeType: 'image/jpeg' })
  expect(failed.isError).toBe(true)
  expect(textOf(failed)).toMatch(/^upstream: .*500/)
  expect(pds.calls.filter((one) => one === 'POST uploadBlob')).toHaveLength(1)
})

test('G8: a fresh upload that cannot be fetched yet is said to be not referenced', async () => {
  const { pds, call } = await setting()
  pds.answers['getBlob'] = (_, response) => json(response, 400, { error: 'InvalidRequest', message: 'Blob not found' })
  expect(textOf(await call('get_blob', { did: alice, cid }))).toMatch(/^not-found: /)
  await call('upload_blob', { data: bytes.toString('base64'), mimeType: 'text/plain' })
  expect(textOf(await call('get_blob', { did: alice, cid }))).toMatch(/^not-referenced: /)
})

test('G10: HTML and SVG have no name in a result, in contents, and in a link', async () => {
  const { pds, call, server } = await setting('--inline-limit-bytes', '100')
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>')
  for (const [type, data] of [
    ['image/svg+xml', svg],
    ['text/html', Buffer.concat([svg, Buffer.alloc(100, 32)])],
  ] as const) {
    pds.answers['getBlob'] = serving(data, type)
    const { content } = await call('get_blob', { did: alice, cid: cidOf(data) })
    expect(JSON.stringify(content?.slice(1))).not.toMatch(/svg|html/)
    const { result } = await server.ask(type, 'resources/read', { uri: `atenea-blob:///${alice}/${cidOf(data)}` })
    expect(result?.['contents']).toEqual([
      {
        uri: `atenea-blob:///${alice}/${cidOf(data)}`,
        mimeType: 'application/octet-stream',
        blob: data.toString('base64'),
      },
    ])
  }
})

test('limits: a link above the inline limit, 7 MB for a resource, and a file for all else', async () => {
  const { pds, call, server, files } = await setting('--inline-limit-bytes', '1000')
  const data = Buffer.alloc(1001, 'x')
  pds.answers['getBlob'] = serving(data, 'text/plain')
  const linked = await call('get_blob', { did: alice, cid: cidOf(data) })
  expect(linked.structuredContent).toMatchObject({ delivered: 'link', size: 1001 })
  expect(pds.calls).toEqual(['HEAD getBlob'])
  const { result } = await server.ask(1, 'resources/read', { uri: String(linked.structuredContent?.['uri']) })
  expect(result).toMatchObject({ ttlMs: 60_000, cacheScope: 'public', contents: [{ text: data.toString() }] })

  const large = Buffer.alloc(7_000_001, 'y')
  pds.answers['getBlob'] = serving(large, 'text/plain')
  const uri = `atenea-blob:///${alice}/${cidOf(large)}`
  expect((await server.ask(2, 'resources/read', { uri })).error).toMatchObject({
    code: -32_603,
    data: { size: large.length, limit: 7_000_000 },
  })
  const saved = await call('get_blob', { did: alice, cid: cidOf(large), saveTo: 'large' })
  expect(saved.structuredContent).toMatchObject({ delivered: 'file', size: large.length })
  expect(readdirSync(files)).toEqual(['large'])
  // Now it is in the cache, and is refused all the same.
  expect((await server.ask(3, 'resources/read', { uri })).error?.code).toBe(-32_603)
})

test('did:web: the host of the account is asked for its document, where the operator vouches for that host', async () => {
  const { pds, call, server } = await setting()
  const data = Buffer.from('of an account whose host tells of itself')
  pds.answers['getBlob'] = serving(data, 'text/plain')
  const identity = await call('resolve_identity', { identifier: pds.webDid })
  expect(identity.structuredContent).toMatchObject({ did: pds.webDid, pds: pds.origin, document: { id: pds.webDid } })
  const blob = await call('get_blob', { did: pds.webDid, cid: cidOf(data) })
  expect(blob.structuredContent).toMatchObject({ did: pds.webDid, delivered: 'content' })
  expect(blob.content?.[1]).toEqual({ type: 'text', text: data.toString() })
  const uri = String(blob.structuredContent?.['uri'])
  expect((await server.ask('read', 'resources/read', { uri })).result).toMatchObject({
    contents: [{ uri, text: data.toString() }],
  })

  await using closed = new ServerProcess(['--stdio', '--plc-directory', 'http://localhost:9'])
  const { result } = await closed.ask(1, 'tools/call', {
    name: 'resolve_identity',
    arguments: { identifier: pds.webDid },
  })
  expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('endpoint-refused') }] })
})

test('a blob that could not be saved is not fetched', async () => {
  const { pds, call, files } = await setting()
  pds.answers['getBlob'] = serving(Buffer.from('never asked for'))
  for (const saveTo of ['../outside', 'missing/file', '.']) {
    expect((await call('get_blob', { did: alice, cid, saveTo })).isError).toBe(true)
  }
  expect([pds.calls, readdirSync(files)]).toEqual([[], []])
})

test('a long download tells how far it is, and a cancel stops it and leaves no file', async () => {
  const { pds, server, files, cache } = await setting()
  const piece = randomBytes(50_000)
  let closed: () => void = () => undefined
  const left = new Promise<void>((resolve) => {
    closed = resolve
  })
  pds.answers['HEAD getBlob'] = (_, response) => response.writeHead(200, { 'content-length': 900_000 }).end()
  pds.answers['GET getBlob'] = (_, response) => {
    response.writeHead(200, { 'content-length': 900_000 })
    const timer = setInterval(() => response.write(piece), 100)
    response.once('close', () => {
      clearInterval(timer)
      closed()
    })
  }
  const params = { name: 'get_blob', arguments: { did: alice, cid, saveTo: 'slow' } }
  server.send({
    jsonrpc: '2.0',
    id: 'slow',
    method: 'tools/call',
    params: { ...params, _meta: { ...modernMeta, progressToken: 'p' } },
  })
  const steps = (): number[] =>
    server.messages
      .filter(({ method }) => method === 'notifications/progress')
      .map(({ params: sent }) => {
        expect(sent).toMatchObject({ progressToken: 'p', total: 900_000 })
        return Number(sent?.['progress'])
      })
  await server.until('two steps', () => (steps().length >= 2 ? true : undefined))
  expect(steps()).toEqual(steps().toSorted((a, b) => a - b))
  server.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'slow' } })
  await left
  await server.ask('after', 'tools/call', { name: 'get_blob', arguments: { did: 'x', cid: 'x' } })
  expect(server.messages.find(({ id }) => id === 'slow')).toBeUndefined()
  expect(readdirSync(files)).toEqual([])
  await expect.poll(() => cached(cache)).toEqual([])
})

test('an upload that takes long tells how far it is', async () => {
  const { pds, server } = await setting()
  pds.answers['uploadBlob'] = (request, response) => {
    let size = 0
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => {
      parts.push(part)
      size += part.length
      request.pause()
      setTimeout(() => request.resume(), 20)
    })
    request.once('end', () => json(response, 200, { blob: blobObject(Buffer.concat(parts, size), 'video/mp4') }))
  }
  const data = randomBytes(5_000_000).toString('base64')
  const params = { name: 'upload_blob', arguments: { data, mimeType: 'video/mp4' } }
  server.send({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { ...params, _meta: { ...modernMeta, progressToken: 7 } },
  })
  expect((await server.answer(1)).result).toMatchObject({ structuredContent: { size: 5_000_000 } })
  const steps = server.messages.filter(({ method }) => method === 'notifications/progress')
  expect(steps.length).toBeGreaterThan(0)
  expect(steps[0]?.params).toMatchObject({ progressToken: 7, total: 5_000_000 })
})

test('get_record tells a record that is not what its CID names from one that is', async () => {
  const { pds, call } = await setting()
  const uri = `at://${alice}/com.example.thing/self`
  const value = { $type: 'com.example.thing', text: 'Hello AT Protocol!' }
  const { structuredContent } = await call('create_record_cid', { record: value })
  const right = String(structuredContent?.['cid'])
  const cases: [unknown, object][] = [
    [
      { uri, cid: right, value },
      { verified: true, computedCid: right },
    ],
    [
      { uri, cid: right, value: { ...value, text: 'changed' } },
      { verified: false, cid: right },
    ],
    [
      { uri, value },
      { verified: false, problem: expect.stringContaining('named no CID') },
    ],
    [
      { uri, cid: right, value: { a: 0.5 } },
      { verified: false, problem: expect.stringContaining('fraction') },
    ],
  ]
  for (const [answer, expected] of cases) {
    pds.answers['getRecord'] = (_, response) => json(response, 200, answer)
    expect((await call('get_record', { uri })).structuredContent).toMatchObject(expected)
  }
  pds.answers['getRecord'] = (_, response) => json(response, 200, { uri, cid: right, value })
  const other = cidOf(bytes, 0x71)
  expect((await call('get_record', { uri, cid: other })).structuredContent).toMatchObject({
    verified: false,
    problem: expect.stringContaining('not the version'),
  })
  for (const wrong of [{ uri: `${uri}2`, cid: right, value }, { uri, cid: right, value: [] }, []]) {
    pds.answers['getRecord'] = (_, response) => json(response, 200, wrong)
    expect(textOf(await call('get_record', { uri }))).toMatch(/^bad-answer: /)
  }
  for (const bad of ['at://x', 'https://example.com', `${uri}/more`, '']) {
    expect((await call('get_record', { uri: bad })).isError, bad).toBe(true)
  }
})

test('neither the password nor a token of the PDS is seen anywhere, even when the PDS sends them back', async () => {
  const { pds, call, server } = await setting()
  await call('upload_blob', { data: 'AAAA', mimeType: 'text/plain' })
  expect(pds.uploads[0]?.headers.authorization).toBe(`Bearer ${opaqueToken}`)
  pds.answers['uploadBlob'] = (request, response) => {
    request.resume()
    const message = `you sent ${request.headers.authorization} with ${password}`
    request.once('end', () => json(response, 400, { error: 'InvalidRequest', message }))
  }
  const failed = await call('upload_blob', { data: 'AAAB', mimeType: 'text/plain' })
  expect(textOf(failed)).toMatch(/^refused: .*you sent/)
  server.endInput()
  await server.ended
  for (const output of [server.stdout, server.stderr]) {
    expect(output).not.toContain(opaqueToken)
    expect(output).not.toContain(password)
  }
})
