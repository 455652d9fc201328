import { writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { describe, expect, test, vi } from 'vitest'
import type { BlobClient } from '../src/blob-client.ts'
import { BlobError } from '../src/blob-error.ts'
import type { BlobDiagnostic } from '../src/diagnostics.ts'
import { layoutOf } from '../src/fs-layout.ts'
import { createFsStore } from '../src/fs-store.ts'
import { createMemoryStore } from '../src/memory-store.ts'
import type { BlobStore } from '../src/store.ts'
import { eventually } from './_util/eventually.ts'
import { collect, idOf, someBytes } from './_util/bytes.ts'
import { testFolder } from './_util/folders.ts'
import { alice, bob } from './_util/network.ts'
import { type Call, clientOf, pdsServer, serving } from './_util/pds-server.ts'
import { httpServer } from './_util/servers.ts'

// The machine may be slow; these bounds only catch a hang.
vi.setConfig({ testTimeout: 30_000 })

const { bytes, id } = someBytes(100_000)

async function read(client: BlobClient, did = alice, maxBytes?: number): Promise<Buffer> {
  const blob = await client.get(did, id, { maxBytes })
  try {
    return await collect(blob.read())
  } finally {
    await blob[Symbol.asyncDispose]()
  }
}

test('G5: a blob comes from the PDS that the document of the account names, with its type', async () => {
  const other = await pdsServer({})
  const server = await pdsServer({ getBlob: serving({ [`${alice} ${id.text}`]: { bytes, type: 'image/png' } }) })
  const { client, store } = await clientOf(server, { allowEndpoints: [other.origin] })
  const blob = await client.get(alice, id.text)
  expect({ ...blob, read: undefined, bytes: undefined, [Symbol.asyncDispose]: undefined }).toMatchObject({
    info: { id, size: 100_000, mimeType: 'image/png' },
    did: alice,
    servedType: 'image/png',
    fromStore: false,
  })
  expect(Buffer.from(await blob.bytes())).toEqual(bytes)
  await blob[Symbol.asyncDispose]()
  expect(await store.stat(id)).toEqual({ id, size: 100_000, mimeType: 'image/png' })
  expect([server.requests, other.requests]).toEqual([
    [`GET /xrpc/com.atproto.sync.getBlob?did=${encodeURIComponent(alice)}&cid=${id.text}`],
    [],
  ])
  expect(server.headers[0]).toMatchObject({ 'accept-encoding': 'identity', accept: '*/*' })
  expect(server.headers[0]?.authorization).toBeUndefined()
})

test('G4: what is no blob is refused before anybody is asked', async () => {
  const server = await pdsServer({})
  const { client } = await clientOf(server)
  for (const cid of [
    'bafyreigbtj4x7ip5legnfznufuopl4sg4knzc2cof6duas4b3q2fy6swua',
    '../../etc/passwd',
    id.text.toUpperCase(),
  ]) {
    await expect(client.get(alice, cid)).rejects.toMatchObject({ kind: 'unsupported-cid' })
    await expect(client.head(alice, cid)).rejects.toMatchObject({ kind: 'unsupported-cid' })
  }
  await expect(client.get('alice.example.com', id)).rejects.toMatchObject({ kind: 'invalid-identifier' })
  expect(server.requests).toEqual([])
})

test('G4: a blob of no bytes is fetched like any other', async () => {
  const empty = idOf('')
  const server = await pdsServer({ getBlob: serving({ [`${alice} ${empty.text}`]: { bytes: Buffer.alloc(0) } }) })
  const { client } = await clientOf(server)
  await using blob = await client.get(alice, empty)
  expect([blob.info.size, (await blob.bytes()).length, blob.info.mimeType]).toEqual([0, 0, undefined])
})

describe('what comes instead of the blob is an error, and nothing of it is kept:', () => {
  const send =
    (body: string | Buffer, headers: Readonly<Record<string, string | number>> = {}, status = 200) =>
    ({ response }: Call): void =>
      void response.writeHead(status, headers).end(body)
  const swapped = Buffer.from(bytes)
  swapped[50_000] = (swapped[50_000] ?? 0) ^ 1

  const answers: [string, (call: Call) => void, object][] = [
    [
      'other bytes of the same length',
      send(swapped, { 'content-type': 'image/png' }),
      { kind: 'mismatch', details: { size: 100_000 } },
    ],
    ['more bytes', send(Buffer.concat([bytes, bytes])), { kind: 'mismatch' }],
    [
      'fewer bytes that look complete',
      send(bytes.subarray(0, 99_999)),
      { kind: 'mismatch', details: { size: 99_999 } },
    ],
    ['no bytes', send(''), { kind: 'mismatch', details: { size: 0 } }],
    [
      'fewer bytes than their length says, and an end',
      ({ response }) => {
        response.writeHead(200, { 'content-length': 100_000 })
        response.write(bytes.subarray(0, 5000), () => response.socket?.end())
      },
      { kind: 'truncated', retryable: true },
    ],
    [
      'fewer bytes than their length says, and silence',
      ({ response }) => void response.writeHead(200, { 'content-length': 100_000 }).write(bytes.subarray(0, 5000)),
      { kind: 'timeout', retryable: true },
    ],
    [
      'bytes that never end',
      ({ response }) => {
        const more = (): void => void (response.destroyed || response.write(bytes, more))
        more()
      },
      { kind: 'too-large', details: { limit: 1_000_000 } },
    ],
    [
      'a length that is too much',
      send('x', { 'content-length': 5_000_000 }),
      { kind: 'too-large', details: { size: 5_000_000 } },
    ],
    [
      'an error of XRPC with status 200',
      send('{"error":"InternalServerError","message":"it broke"}', { 'content-type': 'application/json' }),
      { kind: 'error-body', message: expect.stringContaining('it broke') },
    ],
    [
      'a web page with status 200',
      send('<!doctype html><title>Just a moment…</title>', { 'content-type': 'text/html; charset=utf-8' }),
      { kind: 'error-body', message: expect.stringContaining('Just a moment…') },
    ],
    [
      'a web page under the type of an image',
      send('<html><body>hello', { 'content-type': 'image/png' }),
      { kind: 'error-body' },
    ],
    ['the blob, compressed', send(gzipSync(bytes), { 'content-encoding': 'gzip' }), { kind: 'encoded' }],
    ['the blob, compressed under no name', send(gzipSync(bytes)), { kind: 'mismatch' }],
    [
      'what little comes of a bomb',
      send(gzipSync(Buffer.alloc(50_000_000)), { 'content-encoding': 'gzip' }),
      { kind: 'encoded' },
    ],
    [
      'that there is none',
      ({ json }) => json(400, { error: 'InvalidRequest', message: 'Blob not found' }),
      { kind: 'not-found', details: { status: 400, upstreamError: 'InvalidRequest', expected: id.text } },
    ],
    ['that there is none, by status', send('not here', {}, 404), { kind: 'not-found', details: { status: 404 } }],
    ['that there is none, by name', ({ json }) => json(400, { error: 'BlobNotFound' }), { kind: 'not-found' }],
    [
      'another complaint',
      ({ json }) => json(400, { error: 'InvalidRequest', message: 'bad did' }),
      { kind: 'refused' },
    ],
    ['that the account is off', ({ json }) => json(400, { error: 'RepoDeactivated' }), { kind: 'account-unavailable' }],
    [
      'that the account was taken down',
      ({ json }) => json(400, { error: 'RepoTakendown' }),
      { kind: 'account-unavailable' },
    ],
    [
      'that the account is unknown',
      ({ json }) => json(400, { error: 'RepoNotFound' }),
      { kind: 'account-unavailable' },
    ],
    ['that one has to log in', ({ json }) => json(401, { error: 'AuthMissing' }), { kind: 'auth' }],
    ['a wall', send('blocked', {}, 403), { kind: 'refused', details: { status: 403 } }],
    [
      'that it is too much',
      ({ json }) => json(429, { error: 'RateLimitExceeded' }, { 'retry-after': '7' }),
      { kind: 'rate-limited', retryable: true, details: { retryAfterMs: 7000 } },
    ],
    ['a failure', send('oops', { 'content-type': 'text/html' }, 502), { kind: 'upstream', retryable: true }],
    ['a part', send(bytes.subarray(0, 10), { 'content-range': 'bytes 0-9/100000' }, 206), { kind: 'bad-answer' }],
    ['nothing new', send('', {}, 304), { kind: 'bad-answer' }],
    [
      'a broken connection',
      ({ response }) => void response.socket?.destroy(),
      { kind: 'unreachable', retryable: true },
    ],
  ]

  test.each(answers)('%s', async (_what, getBlob, error) => {
    const server = await pdsServer({ 'GET getBlob': getBlob })
    const root = testFolder()
    const { client, store } = await clientOf(server, { store: createFsStore(root), maxBytes: 1_000_000, idleMs: 300 })
    const failure: unknown = await client.get(alice, id).catch((thrown: unknown) => thrown)
    expect(BlobError.is(failure)).toBe(true)
    expect(failure).toMatchObject(error)
    expect(failure).toMatchObject({ message: expect.stringMatching(/^[^\n]{1,700}$/) })
    expect(await store.stat(id)).toBeUndefined()
    await expect(store.open(id)).rejects.toMatchObject({ kind: 'not-stored' })
    await eventually(() => expect(server.sockets.size).toBeLessThanOrEqual(1))
  })

  test('slow bytes that never end', async () => {
    const server = await pdsServer({
      'GET getBlob': ({ response }) => {
        const timer = setInterval(() => response.write('x'), 20)
        response.once('close', () => clearInterval(timer))
      },
    })
    const { client } = await clientOf(server, { timeoutMs: 500 })
    await expect(client.get(alice, id)).rejects.toMatchObject({ kind: 'timeout' })
    await eventually(() => expect(server.sockets.size).toBe(0))
  })

  test('C19: other bytes after a redirect, with where they came from', async () => {
    const elsewhere = await httpServer((_, response) => response.end(swapped))
    const server = await pdsServer({ getBlob: send('', { location: `${elsewhere.origin}/x` }, 302) })
    const { client, store } = await clientOf(server, { allowEndpoints: [elsewhere.origin] })
    await expect(client.get(alice, id)).rejects.toMatchObject({
      kind: 'mismatch',
      details: { source: elsewhere.origin },
    })
    expect(await store.stat(id)).toBeUndefined()
  })
})

test('C19, G5: the right bytes are right wherever a redirect leads, and a redirect inside leads nowhere', async () => {
  const elsewhere = await httpServer((_, response) => response.end(bytes))
  const server = await pdsServer({
    getBlob: ({ response }) => void response.writeHead(302, { location: `${elsewhere.origin}/x` }).end(),
  })
  const { client } = await clientOf(server, { allowEndpoints: [elsewhere.origin] })
  expect(await read(client)).toEqual(bytes)
  const { client: strict } = await clientOf(server)
  await expect(read(strict)).rejects.toMatchObject({ kind: 'endpoint-refused' })
})

test('a JSON or HTML blob is a blob like any other when its bytes are right', async () => {
  const page = Buffer.from('<!doctype html><title>x</title>{"error":"none"}')
  const server = await pdsServer({
    getBlob: serving({ [`${alice} ${idOf(page).text}`]: { bytes: page, type: 'text/html' } }),
  })
  const { client } = await clientOf(server)
  await using blob = await client.get(alice, idOf(page))
  expect(Buffer.from(await blob.bytes())).toEqual(page)
})

test('a limit of the caller is kept, whether the blob has to be fetched or is stored', async () => {
  const server = await pdsServer({ getBlob: serving({ [`${alice} ${id.text}`]: { bytes } }) })
  const { client } = await clientOf(server)
  await expect(read(client, alice, 99_999)).rejects.toMatchObject({
    kind: 'too-large',
    details: { size: 100_000, limit: 99_999 },
  })
  expect(await read(client, alice, 100_000)).toEqual(bytes)
  await expect(read(client, alice, 99_999)).rejects.toMatchObject({
    kind: 'too-large',
    details: { size: 100_000, limit: 99_999 },
  })
})

describe('what is stored', () => {
  test('spares the transfer, once the PDS has said that the account still offers it', async () => {
    const server = await pdsServer({ getBlob: serving({ [`${alice} ${id.text}`]: { bytes } }) })
    const { client } = await clientOf(server)
    await read(client)
    await using blob = await client.get(alice, id)
    expect([blob.fromStore, Buffer.from(await blob.bytes())]).toEqual([true, bytes])
    expect(server.calls).toEqual(['GET getBlob', 'HEAD getBlob'])
  })

  test('is not asked for again within a short time', async () => {
    const server = await pdsServer({ getBlob: serving({ [`${alice} ${id.text}`]: { bytes } }) })
    const { client } = await clientOf(server, { ttlMs: 60_000 })
    for (let count = 0; count < 5; count++) expect(await read(client)).toEqual(bytes)
    expect(server.calls).toEqual(['GET getBlob'])
  })

  test('for one account does not answer for another', async () => {
    const server = await pdsServer({ getBlob: serving({ [`${alice} ${id.text}`]: { bytes } }) })
    const { client } = await clientOf(server, { ttlMs: 60_000 })
    await read(client)
    await expect(client.get(bob, id)).rejects.toMatchObject({ kind: 'not-found' })
    await expect(client.head(bob, id)).rejects.toMatchObject({ kind: 'not-found' })
  })

  test('does not outlive the offer of the account by more than that time', async () => {
    const blobs = { [`${alice} ${id.text}`]: { bytes } }
    const server = await pdsServer({ getBlob: (call) => void serving(blobs)(call) })
    const { client, store } = await clientOf(server, { ttlMs: 1_000 })
    await read(client)
    delete blobs[`${alice} ${id.text}`]
    expect(await read(client)).toEqual(bytes)
    await new Promise((resolve) => void setTimeout(resolve, 1_050))
    await expect(client.get(alice, id)).rejects.toMatchObject({ kind: 'not-found' })
    expect((await store.stat(id))?.size).toBe(100_000)
  })

  test('and offered a moment ago is not offered any more once the PDS has said no', async () => {
    const blobs = { [`${alice} ${id.text}`]: { bytes } }
    const server = await pdsServer({ getBlob: (call) => void serving(blobs)(call) })
    const { client, store } = await clientOf(server, { ttlMs: 60_000 })
    await read(client)
    await store.delete(id)
    delete blobs[`${alice} ${id.text}`]
    await expect(client.get(alice, id)).rejects.toMatchObject({ kind: 'not-found' })
    await expect(client.head(alice, id)).rejects.toMatchObject({ kind: 'not-found' })
  })

  test('is not given while the PDS cannot say, whatever was read before', async () => {
    let isUp = true
    const server = await pdsServer({
      getBlob: (call) => (isUp ? serving({ [`${alice} ${id.text}`]: { bytes } })(call) : call.json(503, {})),
    })
    const { client } = await clientOf(server)
    await read(client)
    isUp = false
    await expect(client.get(alice, id)).rejects.toMatchObject({ kind: 'upstream' })
  })

  test.each([405, 501, 404])('is confirmed by the head of a GET where HEAD is answered with %i', async (status) => {
    const server = await pdsServer({
      'HEAD getBlob': ({ response }) => void response.writeHead(status).end(),
      getBlob: serving({ [`${alice} ${id.text}`]: { bytes, type: 'a/b' } }),
    })
    const { client } = await clientOf(server)
    await read(client)
    await using blob = await client.get(alice, id)
    expect([blob.fromStore, blob.servedType]).toEqual([true, 'a/b'])
  })

  test('and was damaged meanwhile is reported, removed and fetched again', async () => {
    const root = testFolder()
    const told: BlobDiagnostic[] = []
    const store = createFsStore(root, { onDiagnostic: (diagnostic) => void told.push(diagnostic) })
    const server = await pdsServer({ getBlob: serving({ [`${alice} ${id.text}`]: { bytes } }) })
    for (const damage of ['x', 'atenea-blob 1 damaged in its header']) {
      const { client } = await clientOf(server, { store, ttlMs: 60_000 })
      await read(client)
      writeFileSync(layoutOf(root).fileOf(id), damage, { flag: 'r+' })
      expect(await read(client)).toEqual(bytes)
    }
    expect(told.map(({ code }) => code)).toEqual(['damaged-blob', 'damaged-blob'])
    expect((await store.stat(id))?.size).toBe(100_000)
  })

  test('G2: has the best type that is known: of the PDS, or with the bytes when that says nothing', async () => {
    const blobs: Record<string, { bytes: Buffer; type?: string }> = {
      [`${alice} ${id.text}`]: { bytes, type: 'image/png' },
    }
    const server = await pdsServer({ getBlob: serving(blobs) })
    const { client } = await clientOf(server)
    await read(client)
    const typesFor = async (type: string | undefined): Promise<unknown> => {
      blobs[`${alice} ${id.text}`] = { bytes, ...(type !== undefined && { type }) }
      await using blob = await client.get(alice, id)
      return [blob.info.mimeType, blob.servedType]
    }
    expect(await typesFor('application/octet-stream')).toEqual(['image/png', 'application/octet-stream'])
    expect(await typesFor(undefined)).toEqual(['image/png', undefined])
    expect(await typesFor('*/*')).toEqual(['image/png', undefined])
    expect(await typesFor('image/webp')).toEqual(['image/webp', 'image/webp'])
  })
})

describe('those who want the same blob at the same time', () => {
  /** A PDS that answers when it is told to. */
  async function held(): Promise<{ open: () => void; server: Awaited<ReturnType<typeof pdsServer>> }> {
    let open: () => void = () => undefined
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    const server = await pdsServer({
      getBlob: async (call) => {
        await opened
        await serving({ [`${alice} ${id.text}`]: { bytes } })(call)
      },
    })
    return { open, server }
  }

  test('share one transfer, and each gets all of it', async () => {
    const { open, server } = await held()
    const { client } = await clientOf(server, { store: createFsStore(testFolder()) })
    const reads = Array.from({ length: 8 }, () => read(client))
    await eventually(() => expect(server.calls).toHaveLength(1))
    open()
    for (const one of await Promise.all(reads)) expect(one).toEqual(bytes)
    expect(server.calls).toEqual(['GET getBlob'])
  })

  test('share also what the store does not keep, and one who is done does not take it from the others', async () => {
    const large = someBytes(3_000_000)
    const server = await pdsServer({ getBlob: serving({ [`${alice} ${large.id.text}`]: { bytes: large.bytes } }) })
    const { client } = await clientOf(server, { store: createFsStore(testFolder(), { maxBytes: 1000 }) })
    const gets = Array.from({ length: 3 }, () => client.get(alice, large.id))
    for (const blob of await Promise.all(gets)) {
      expect(large.bytes.equals(await blob.bytes())).toBe(true)
      await blob[Symbol.asyncDispose]()
      await blob[Symbol.asyncDispose]()
    }
  })

  test('one who leaves does not disturb the others; when all have left the transfer stops', async () => {
    const { server } = await held()
    const { client, store } = await clientOf(server)
    const [first, second] = [new AbortController(), new AbortController()]
    const gets = [first, second].map(({ signal }) => client.get(alice, id, { signal }))
    await eventually(() => expect(server.calls).toHaveLength(1))
    first.abort('first')
    await expect(gets[0]).rejects.toBe('first')
    expect(server.sockets.size).toBe(1)
    second.abort('second')
    await expect(gets[1]).rejects.toBe('second')
    await eventually(() => expect(server.sockets.size).toBe(0))
    expect(await store.stat(id)).toBeUndefined()
  })

  test('hear of its progress, each by a listener of its own, and one that fails harms nobody', async () => {
    const { open, server } = await held()
    const { client } = await clientOf(server)
    const heard: number[][] = [[], []]
    const gets = heard.map((list) =>
      client.get(alice, id, {
        onProgress: (received, size) => {
          expect(size).toBe(100_000)
          list.push(received)
        },
      }),
    )
    gets.push(
      client.get(alice, id, {
        onProgress: () => {
          throw new Error('listener')
        },
      }),
    )
    open()
    for (const blob of await Promise.all(gets)) await blob[Symbol.asyncDispose]()
    expect(heard.map((list) => list.at(-1))).toEqual([100_000, 100_000])
    expect(heard[0]).toEqual(heard[1])
    expect(server.calls).toEqual(['GET getBlob'])
  })

  test('share a failure, and the next one tries again', async () => {
    let count = 0
    const server = await pdsServer({
      getBlob: (call) => {
        count++
        if (count === 1) call.json(503, {})
        else void serving({ [`${alice} ${id.text}`]: { bytes } })(call)
      },
    })
    const { client } = await clientOf(server)
    const both = await Promise.allSettled([read(client), read(client)])
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await read(client)).toEqual(bytes)
  })
})

test('an abort in the middle of a body leaves no partial file and no connection', async () => {
  const root = testFolder()
  const server = await pdsServer({
    getBlob: ({ response }) =>
      void response.writeHead(200, { 'content-length': 100_000 }).write(bytes.subarray(0, 50_000)),
  })
  const { client } = await clientOf(server, { store: createFsStore(root) })
  const stop = new AbortController()
  const get = client.get(alice, id, { signal: stop.signal })
  await eventually(() => expect(server.calls).toHaveLength(1))
  await new Promise((resolve) => void setTimeout(resolve, 50))
  stop.abort('enough')
  await expect(get).rejects.toBe('enough')
  await eventually(() => expect(server.sockets.size).toBe(0))
  const { readdirSync } = await import('node:fs')
  await eventually(() => {
    const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    expect(files).toEqual([])
  })
})

test('a disk that is full fails a get that can be tried again, after one attempt to make room', async () => {
  const memory = createMemoryStore()
  let isFull = 2
  const store: BlobStore = {
    ...memory,
    receive: async (source, options) => {
      if (isFull-- > 0) throw new BlobError('no-space', 'full', { retryable: true })
      return await memory.receive(source, options)
    },
  }
  const server = await pdsServer({ getBlob: serving({ [`${alice} ${id.text}`]: { bytes } }) })
  const { client } = await clientOf(server, { store })
  await expect(client.get(alice, id)).rejects.toMatchObject({ kind: 'no-space', retryable: true })
  isFull = 1
  expect(await read(client)).toEqual(bytes)
})

test('an answer of which the store takes nothing is not left open', async () => {
  const large = someBytes(20_000_000)
  const server = await pdsServer({ getBlob: serving({ [`${alice} ${large.id.text}`]: { bytes: large.bytes } }) })
  const store: BlobStore = { ...createMemoryStore(), receive: () => Promise.reject(new BlobError('storage', 'gone')) }
  const { client } = await clientOf(server, { store })
  await expect(client.get(alice, large.id)).rejects.toMatchObject({ kind: 'storage' })
  await eventually(() => expect(server.sockets.size).toBe(0))
})

test('head tells size and type without a byte, and fails as get does', async () => {
  const server = await pdsServer({ getBlob: serving({ [`${alice} ${id.text}`]: { bytes, type: 'image/png' } }) })
  const { client } = await clientOf(server)
  expect(await client.head(alice, id)).toEqual({ size: 100_000, mimeType: 'image/png' })
  await expect(client.head(bob, id)).rejects.toMatchObject({ kind: 'not-found' })
  expect(server.calls).toEqual(['HEAD getBlob', 'HEAD getBlob', 'GET getBlob'])
})
