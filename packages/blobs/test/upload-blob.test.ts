import { inspect } from 'node:util'
import { describe, expect, test, vi } from 'vitest'
import type { CreateBlobClientOptions } from '../src/blob-client.ts'
import type { BlobDiagnostic } from '../src/diagnostics.ts'
import { createFsStore } from '../src/fs-store.ts'
import { eventually } from './_util/eventually.ts'
import { idOf, inChunks, someBytes } from './_util/bytes.ts'
import { testFolder } from './_util/folders.ts'
import { alice } from './_util/network.ts'
import { type Call, clientOf, type Method, pdsServer, type PdsServer, serving } from './_util/pds-server.ts'

// The machine may be slow; these bounds only catch a hang.
vi.setConfig({ testTimeout: 30_000 })

const password = 'abcd-efgh-ijkl-mnop'
const account = { identifier: alice, password }
const { bytes, id } = someBytes(100_000)

/** In the form of a token. */
const tokenOf = (kind: string, count: number): string => `eyJhbGciOiJIUzI1NiJ9.${kind}-${count}-secret.signature`

/** Tokens of one session after the other; the access token of the latest is good. */
function sessions(): {
  methods: Record<string, Method>
  isGood: (request: Call['request']) => boolean
  end: () => void
} {
  let count = 0
  let isOver = false
  const tokens = (): object => {
    count++
    isOver = false
    return {
      did: alice,
      handle: 'alice.example.com',
      accessJwt: tokenOf('access', count),
      refreshJwt: tokenOf('refresh', count),
    }
  }
  return {
    isGood: (request) => !isOver && request.headers.authorization === `Bearer ${tokenOf('access', count)}`,
    end: () => {
      isOver = true
    },
    methods: {
      createSession: async ({ body, json }) => {
        const asked = JSON.parse((await body()).toString()) as { identifier: string; password: string }
        if (asked.identifier === alice && asked.password === password) json(200, tokens())
        else json(401, { error: 'AuthenticationRequired', message: 'Invalid identifier or password' })
      },
      refreshSession: ({ request, json }) => {
        if (request.headers.authorization === `Bearer ${tokenOf('refresh', count)}`) json(200, tokens())
        else json(400, { error: 'ExpiredToken', message: 'Token has expired' })
      },
      describeServer: ({ json }) => json(200, { did: 'did:web:localhost', availableUserDomains: [] }),
    },
  }
}

/** Takes what it gets, as the reference PDS does. */
function taking(
  isGood: (request: Call['request']) => boolean,
  change: (blob: Record<string, unknown>) => unknown = (blob) => blob,
): Method {
  return async ({ request, body, json }) => {
    const received = await body()
    if (!isGood(request)) {
      json(400, { error: 'ExpiredToken', message: 'Token has expired' })
      return
    }
    const ref = { $link: idOf(received).text }
    json(200, {
      blob: change({ $type: 'blob', ref, mimeType: request.headers['content-type'], size: received.length }),
    })
  }
}

async function uploading(
  methods: Record<string, Method>,
  options: CreateBlobClientOptions = {},
): Promise<Awaited<ReturnType<typeof clientOf>> & { server: PdsServer }> {
  const server = await pdsServer(methods)
  return { server, ...(await clientOf(server, { account, ...options })) }
}

const callsOf = (server: PdsServer): string[] => server.calls.map((call) => call.replace(/^\w+ /, ''))

describe('an upload', () => {
  test('G1: sends the true type and length, and returns what the PDS made of it beside our own CID', async () => {
    const { methods, isGood } = sessions()
    const extra = { aspect: { deep: [1, 'two', null] } }
    const uploadBlob = taking(isGood, (blob) => ({ ...blob, ...extra }))
    const { client, server, store } = await uploading({ ...methods, uploadBlob })
    const uploaded = await client.upload(inChunks(bytes), { mimeType: 'Image/PNG' })
    expect(uploaded).toEqual({
      did: alice,
      id,
      size: 100_000,
      blob: { $type: 'blob', ref: { $link: id.text }, mimeType: 'image/png', size: 100_000, ...extra },
      sentType: 'image/png',
      storedType: 'image/png',
    })
    const headers = server.headers.at(-1)
    expect(headers).toMatchObject({ 'content-type': 'image/png', 'content-length': '100000' })
    expect(headers?.['transfer-encoding']).toBeUndefined()
    expect(await store.stat(id)).toEqual({ id, size: 100_000, mimeType: 'image/png' })
  })

  const files: [string, string | Buffer, string][] = [
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>', 'image/svg+xml'],
    ['HTML', '<!doctype html><script>alert(1)</script>', 'text/html'],
    ['plain text', 'hello', 'text/plain; charset=utf-8'],
    ['nothing', '', 'image/svg+xml'],
    ['SVG that is called a PNG', '<svg xmlns="http://www.w3.org/2000/svg"/>', 'image/png'],
    ['what nobody knows', Buffer.from([0, 1, 2]), 'application/octet-stream'],
  ]

  test.each(files)('G1: of %s goes out as it is and as what it is called', async (_what, content, mimeType) => {
    const { methods, isGood } = sessions()
    const { client, server } = await uploading({ ...methods, uploadBlob: taking(isGood) })
    const sent = Buffer.from(content)
    const uploaded = await client.upload(sent, { mimeType })
    expect([uploaded.id, uploaded.size]).toEqual([idOf(sent), sent.length])
    expect(server.headers.at(-1)).toMatchObject({ 'content-type': mimeType, 'content-length': String(sent.length) })
  })

  test.each(['*/*', 'image/jpeg', 'application/xml', '', 7, undefined])(
    'G1: to which the PDS gives the type %j is no error; the change is told and the object untouched',
    async (mimeType) => {
      const { methods, isGood } = sessions()
      const { client } = await uploading({ ...methods, uploadBlob: taking(isGood, (blob) => ({ ...blob, mimeType })) })
      const uploaded = await client.upload(bytes, { mimeType: 'image/png' })
      expect([uploaded.sentType, uploaded.storedType]).toEqual([
        'image/png',
        typeof mimeType === 'string' ? mimeType : undefined,
      ])
      expect(uploaded.blob['mimeType']).toEqual(mimeType)
    },
  )

  test('G1: under no type is refused before anything is sent', async () => {
    const { methods, isGood } = sessions()
    const { client, server } = await uploading({ ...methods, uploadBlob: taking(isGood) })
    for (const mimeType of ['*/*', '', 'png', 'a/b\r\nx: y']) {
      await expect(client.upload(bytes, { mimeType })).rejects.toMatchObject({ kind: 'invalid-type' })
    }
    expect(server.calls).toEqual([])
  })

  test('G2: of a blob that was fetched keeps its type, also when another PDS calls it octet-stream', async () => {
    const { methods, isGood } = sessions()
    const blobs = { [`${alice} ${id.text}`]: { bytes, type: 'image/png' } }
    const { client, server } = await uploading({
      ...methods,
      getBlob: (call) => serving(blobs)(call),
      uploadBlob: taking(isGood),
    })
    await (await client.get(alice, id))[Symbol.asyncDispose]()
    blobs[`${alice} ${id.text}`] = { bytes, type: 'application/octet-stream' }
    await using blob = await client.get(alice, id)
    const uploaded = await client.upload(blob.read(), { mimeType: blob.info.mimeType ?? '' })
    expect(uploaded.sentType).toBe('image/png')
    expect(server.headers.at(-1)?.['content-type']).toBe('image/png')
  })

  const wrong = someBytes(10).id.text
  test.each([
    ['other bytes', { ref: { $link: wrong } }, { kind: 'mismatch', details: { expected: id.text, actual: wrong } }],
    ['another size', { size: 99_999 }, { kind: 'mismatch' }],
    ['a size that is a text', { size: '100000' }, { kind: 'mismatch' }],
    ['no reference', { ref: undefined }, { kind: 'bad-answer' }],
    ['a reference that is a text', { ref: id.text }, { kind: 'bad-answer' }],
    ['the reference of a record', { ref: { $link: 7 } }, { kind: 'bad-answer' }],
  ])('that the PDS says to be %s is an error', async (_what, change, error) => {
    const { methods, isGood } = sessions()
    const { client } = await uploading({ ...methods, uploadBlob: taking(isGood, (blob) => ({ ...blob, ...change })) })
    await expect(client.upload(bytes, { mimeType: 'image/png' })).rejects.toMatchObject(error)
  })

  test.each([
    ['no JSON', ({ response }: Call) => void response.end('thanks')],
    ['an array', ({ json }: Call) => json(200, [])],
    ['nothing of use', ({ json }: Call) => json(200, {})],
    ['a text for a blob', ({ json }: Call) => json(200, { blob: id.text })],
  ])('that is answered with %s is an error', async (_what, answer) => {
    const { methods } = sessions()
    const uploadBlob: Method = async (call) => {
      await call.body()
      answer(call)
    }
    const { client } = await uploading({ ...methods, uploadBlob })
    await expect(client.upload(bytes, { mimeType: 'image/png' })).rejects.toMatchObject({ kind: 'bad-answer' })
  })

  test('G7: that the PDS fails at is not repeated: its failure comes out', async () => {
    const { methods } = sessions()
    const uploadBlob: Method = async ({ body, json }) => {
      await body()
      json(500, { error: 'InternalServerError', message: 'Internal Server Error' })
    }
    const { client, server } = await uploading({ ...methods, uploadBlob })
    const odd = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), someBytes(1000).bytes])
    await expect(client.upload(odd, { mimeType: 'image/jpeg' })).rejects.toMatchObject({
      kind: 'upstream',
      details: { status: 500, upstreamError: 'InternalServerError' },
    })
    expect(callsOf(server)).toEqual(['createSession', 'describeServer', 'uploadBlob'])
  })

  test('C17: over what the PDS says it takes is refused before it is sent', async () => {
    const { methods, isGood } = sessions()
    const describeServer: Method = ({ json }) => json(200, { blobUploadLimit: 99_999 })
    const { client, server } = await uploading({ ...methods, describeServer, uploadBlob: taking(isGood) })
    await expect(client.upload(inChunks(bytes), { mimeType: 'image/png' })).rejects.toMatchObject({
      kind: 'too-large',
      details: { limit: 99_999 },
    })
    expect((await client.upload(bytes.subarray(1), { mimeType: 'image/png' })).size).toBe(99_999)
    expect(callsOf(server)).toEqual(['createSession', 'describeServer', 'uploadBlob'])
  })

  test('C17: over what the PDS takes without saying so is an error when it says it, and the next upload works', async () => {
    const { methods, isGood } = sessions()
    const uploadBlob: Method = (call) => {
      if (Number(call.request.headers['content-length']) > 1_000_000)
        call.json(413, { error: 'PayloadTooLarge', message: 'too big' })
      else void taking(isGood)(call)
    }
    const { client } = await uploading({ ...methods, uploadBlob })
    for (let round = 0; round < 5; round++) {
      await expect(client.upload([someBytes(20_000_000).bytes], { mimeType: 'video/mp4' })).rejects.toMatchObject({
        kind: 'too-large',
        details: { status: 413, size: 20_000_000 },
      })
      expect((await client.upload(bytes, { mimeType: 'image/png' })).id).toEqual(id)
    }
  })

  test('works where the PDS does not describe itself', async () => {
    const { methods, isGood } = sessions()
    const { client } = await uploading({
      ...methods,
      describeServer: ({ json }) => json(500, {}),
      uploadBlob: taking(isGood),
    })
    expect((await client.upload(bytes, { mimeType: 'image/png' })).id).toEqual(id)
  })

  test('C19: is not sent on to where a redirect leads, nor is the token', async () => {
    const { methods } = sessions()
    const other = await pdsServer({})
    const uploadBlob: Method = async ({ body, response }) => {
      await body()
      response.writeHead(307, { location: `${other.origin}/xrpc/com.atproto.repo.uploadBlob` }).end()
    }
    const { client } = await uploading({ ...methods, uploadBlob }, { allowEndpoints: [other.origin] })
    await expect(client.upload(bytes, { mimeType: 'image/png' })).rejects.toMatchObject({ kind: 'bad-redirect' })
    expect(other.requests).toEqual([])
  })

  test('tells how much of it was sent', async () => {
    const { methods, isGood } = sessions()
    const { client } = await uploading({ ...methods, uploadBlob: taking(isGood) })
    const heard: [number, number][] = []
    await client.upload(bytes, { mimeType: 'a/b', onProgress: (sent, size) => void heard.push([sent, size]) })
    expect(heard.at(-1)).toEqual([100_000, 100_000])
    expect(heard.map(([sent]) => sent)).toEqual(heard.map(([sent]) => sent).toSorted((a, b) => a - b))
  })

  test('that is aborted stops, and leaves no connection', async () => {
    const { methods } = sessions()
    let arrived: (_: unknown) => void = () => undefined
    const arrival = new Promise<unknown>((resolve) => {
      arrived = resolve
    })
    const { client, server } = await uploading(
      { ...methods, uploadBlob: ({ request }) => arrived(request.resume()) },
      { store: createFsStore(testFolder()) },
    )
    const stop = new AbortController()
    const upload = client.upload(bytes, { mimeType: 'image/png', signal: stop.signal })
    await arrival
    stop.abort('enough')
    await expect(upload).rejects.toBe('enough')
    await eventually(() => expect(server.sockets.size).toBeLessThanOrEqual(1))
  })

  test('whose source fails sends nothing', async () => {
    const { methods, isGood } = sessions()
    const { client, server } = await uploading({ ...methods, uploadBlob: taking(isGood) })
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield* inChunks(bytes)
      throw new Error('the file went away')
    }
    await expect(client.upload(broken(), { mimeType: 'image/png' })).rejects.toThrow('the file went away')
    expect(callsOf(server)).toEqual(['createSession', 'describeServer'])
  })

  test('larger than the store may be works all the same', async () => {
    const { methods, isGood } = sessions()
    const store = createFsStore(testFolder(), { maxBytes: 1000 })
    const { client } = await uploading({ ...methods, uploadBlob: taking(isGood) }, { store })
    expect((await client.upload(inChunks(bytes), { mimeType: 'image/png' })).id).toEqual(id)
    expect(await store.stat(id)).toBeUndefined()
  })
})

describe('G8: an upload that no record refers to yet', () => {
  const missing: Method = ({ json }) => json(400, { error: 'InvalidRequest', message: 'Blob not found' })

  async function uploaded(ownUploads: CreateBlobClientOptions['ownUploads']) {
    const { methods, isGood } = sessions()
    const served = await uploading({ ...methods, getBlob: missing, uploadBlob: taking(isGood) }, { ownUploads })
    await served.client.upload(bytes, { mimeType: 'image/png' })
    return served
  }

  test('is said to be that, and not to be missing', async () => {
    const { client } = await uploaded(undefined)
    for (const ask of [() => client.get(alice, id), () => client.head(alice, id)]) {
      await expect(ask()).rejects.toMatchObject({
        kind: 'not-referenced',
        message: expect.stringContaining('no record refers to it yet'),
      })
    }
    await expect(client.get(alice, someBytes(10).id)).rejects.toMatchObject({
      kind: 'not-found',
      message: expect.stringContaining('no record refers to it yet'),
    })
  })

  test('comes from the store if policy says so', async () => {
    const { client } = await uploaded('serve')
    await using blob = await client.get(alice, id)
    expect([blob.fromStore, blob.info.mimeType, Buffer.from(await blob.bytes())]).toEqual([true, 'image/png', bytes])
    expect(await client.head(alice, id)).toMatchObject({ size: 100_000, mimeType: 'image/png' })
    await expect(client.get(alice, id, { maxBytes: 10 })).rejects.toMatchObject({ kind: 'too-large' })
  })

  test('is not remembered if policy says so', async () => {
    const { client } = await uploaded('ignore')
    await expect(client.get(alice, id)).rejects.toMatchObject({ kind: 'not-found' })
  })

  test('is fetched like any other once the PDS serves it', async () => {
    const { methods, isGood } = sessions()
    let isReferenced = false
    const getBlob: Method = (call) => (isReferenced ? serving({ [`${alice} ${id.text}`]: { bytes } }) : missing)(call)
    const { client } = await uploading({ ...methods, getBlob, uploadBlob: taking(isGood) })
    await client.upload(bytes, { mimeType: 'image/png' })
    await expect(client.get(alice, id)).rejects.toMatchObject({ kind: 'not-referenced' })
    isReferenced = true
    await using blob = await client.get(alice, id)
    expect([blob.fromStore, blob.info.mimeType]).toEqual([true, 'image/png'])
  })
})

describe('a session', () => {
  test('is opened once, by handle or DID, for uploads that come together and later', async () => {
    const { methods, isGood } = sessions()
    const { client, server } = await uploading(
      { ...methods, uploadBlob: taking(isGood) },
      { account: { identifier: 'Alice.example.com', password } },
    )
    await Promise.all([client.upload(bytes, { mimeType: 'a/b' }), client.upload(bytes, { mimeType: 'a/b' })])
    await client.upload(bytes, { mimeType: 'a/b' })
    expect(callsOf(server).filter((call) => call === 'createSession')).toHaveLength(1)
  })

  test('that has expired is refreshed, and the upload sent once more', async () => {
    const { methods, isGood, end } = sessions()
    const { client, server } = await uploading({ ...methods, uploadBlob: taking(isGood) })
    await client.upload(bytes, { mimeType: 'a/b' })
    end()
    expect((await client.upload(bytes, { mimeType: 'a/b' })).id).toEqual(id)
    expect(callsOf(server).slice(3)).toEqual(['uploadBlob', 'refreshSession', 'uploadBlob'])
  })

  test('that was refreshed by one upload is good for another whose token was refused before', async () => {
    const { methods, isGood, end } = sessions()
    const take = taking(isGood)
    let hold: Promise<void> | undefined
    const uploadBlob: Method = async (call) => {
      const held = hold
      hold = undefined
      if (held === undefined) {
        await take(call)
        return
      }
      await held
      call.json(400, { error: 'ExpiredToken' })
    }
    const { client, server } = await uploading({ ...methods, uploadBlob })
    await client.upload(bytes, { mimeType: 'a/b' })
    let release: () => void = () => undefined
    hold = new Promise((resolve) => {
      release = resolve
    })
    const late = client.upload(bytes, { mimeType: 'a/b' })
    await eventually(() => expect(hold).toBeUndefined())
    end()
    await client.upload(bytes, { mimeType: 'a/b' })
    release()
    await late
    expect(callsOf(server).filter((call) => call === 'refreshSession')).toHaveLength(1)
  })

  test('that can no longer be refreshed is opened again', async () => {
    const { methods, isGood, end } = sessions()
    const refreshSession: Method = ({ json }) => json(400, { error: 'ExpiredToken' })
    const { client, server } = await uploading({ ...methods, refreshSession, uploadBlob: taking(isGood) })
    await client.upload(bytes, { mimeType: 'a/b' })
    end()
    await client.upload(bytes, { mimeType: 'a/b' })
    expect(callsOf(server).slice(3)).toEqual(['uploadBlob', 'refreshSession', 'createSession', 'uploadBlob'])
  })

  test('whose tokens are never good enough is given up after one try', async () => {
    const { methods } = sessions()
    const { client, server } = await uploading({ ...methods, uploadBlob: taking(() => false) })
    await expect(client.upload(bytes, { mimeType: 'a/b' })).rejects.toMatchObject({
      kind: 'auth',
      details: { upstreamError: 'ExpiredToken' },
    })
    expect(callsOf(server)).toEqual(['createSession', 'describeServer', 'uploadBlob', 'refreshSession', 'uploadBlob'])
  })

  test('of a wrong password is refused once for each upload, before the source is read', async () => {
    const { methods, isGood } = sessions()
    const { client, server } = await uploading(
      { ...methods, uploadBlob: taking(isGood) },
      { account: { identifier: alice, password: 'wxyz-wxyz-wxyz-wxyz' } },
    )
    let isRead = false
    async function* source(): AsyncGenerator<Uint8Array> {
      isRead = true
      yield* inChunks(bytes)
    }
    await expect(client.upload(source(), { mimeType: 'a/b' })).rejects.toMatchObject({
      kind: 'auth',
      details: { status: 401, upstreamError: 'AuthenticationRequired' },
    })
    expect([isRead, callsOf(server)]).toEqual([false, ['createSession']])
  })

  test('of somebody else is refused', async () => {
    const { methods, isGood } = sessions()
    const createSession: Method = ({ json }) =>
      json(200, { did: 'did:plc:mallorymallorymallory222', accessJwt: 'a', refreshJwt: 'r' })
    const { client } = await uploading({ ...methods, createSession, uploadBlob: taking(isGood) })
    await expect(client.upload(bytes, { mimeType: 'a/b' })).rejects.toMatchObject({ kind: 'bad-answer' })
  })

  test('without an account says what is missing, and reading works', async () => {
    const server = await pdsServer({ getBlob: serving({ [`${alice} ${id.text}`]: { bytes } }) })
    const { client } = await clientOf(server)
    await expect(client.upload(bytes, { mimeType: 'a/b' })).rejects.toMatchObject({
      kind: 'auth',
      message: expect.stringContaining('app password'),
    })
    await (await client.get(alice, id))[Symbol.asyncDispose]()
    expect(server.calls).toEqual(['GET getBlob'])
  })

  test('by tokens of the caller asks for one that is good for uploads only, and for another when it is refused', async () => {
    const asked: object[] = []
    let good = 'service-1'
    const { methods } = sessions()
    const uploadBlob = taking((request) => request.headers.authorization === `Bearer ${good}`)
    const token = ({ signal: _, ...request }: { signal?: AbortSignal | undefined }): Promise<string> => {
      asked.push(request)
      return Promise.resolve(`service-${asked.length}`)
    }
    const { client, server } = await uploading({ ...methods, uploadBlob }, { account: { did: alice, token } })
    await client.upload(bytes, { mimeType: 'a/b' })
    good = 'service-3'
    await client.upload(bytes, { mimeType: 'a/b' })
    expect(asked).toEqual(
      Array.from({ length: 3 }, () => ({ did: alice, pds: server.origin, lxm: 'com.atproto.repo.uploadBlob' })),
    )
    expect(callsOf(server)).not.toContain('createSession')
  })

  test('by one token ends with it', async () => {
    const { methods } = sessions()
    const { client, server } = await uploading(
      { ...methods, uploadBlob: taking(() => false) },
      { account: { did: alice, token: 'old' } },
    )
    await expect(client.upload(bytes, { mimeType: 'a/b' })).rejects.toMatchObject({ kind: 'auth' })
    expect(callsOf(server)).toEqual(['describeServer', 'uploadBlob'])
  })

  test('by a password that is no app password is reported, without it', async () => {
    const told: BlobDiagnostic[] = []
    const onDiagnostic = (diagnostic: BlobDiagnostic): void => void told.push(diagnostic)
    await uploading({}, { account: { identifier: alice, password: 'correct horse battery' }, onDiagnostic })
    await uploading({}, { onDiagnostic })
    expect(told.map(({ code }) => code)).toEqual(['not-an-app-password'])
    expect(inspect(told)).not.toContain('correct horse')
  })
})

test('nothing secret is in any error, whatever the PDS writes into its answers', async () => {
  const { methods, isGood } = sessions()
  /** Answers with everything that it was told. */
  const echo =
    (status: number): Method =>
    async ({ request, body, json }) => {
      const message = `${request.headers.authorization} ${(await body()).toString()} ${password} ${tokenOf('access', 1)} ${tokenOf('refresh', 1)}`
      json(status, { error: 'InvalidToken', message, accessJwt: message, refreshJwt: message })
    }
  const texts: string[] = []
  const failing: Record<string, Method>[] = [
    { ...methods, createSession: echo(401) },
    { ...methods, createSession: echo(500) },
    { ...methods, createSession: echo(200) },
    { ...methods, uploadBlob: echo(400) },
    { ...methods, uploadBlob: echo(500) },
    {
      ...methods,
      uploadBlob: taking(isGood, () => ({ ref: { $link: `${password} ${tokenOf('access', 1)}` }, size: 1 })),
    },
    { ...methods, uploadBlob: ({ response }) => void response.socket?.destroy() },
  ]
  for (const answers of failing) {
    const { client } = await uploading(answers)
    const error: unknown = await client
      .upload(
        'x'
          .repeat(10)
          .split('')
          .map((text) => Buffer.from(text)),
        { mimeType: 'a/b' },
      )
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(Error)
    texts.push(
      inspect(error, { depth: 10, showHidden: true }),
      JSON.stringify(error),
      inspect(client, { depth: 10, showHidden: true }),
    )
  }
  for (const text of texts) expect(text).not.toMatch(/abcd-efgh|-secret/)
})

test('a password of one word is in no error either, also when the PDS uses it as the name of one', async () => {
  const word = 'hunter2hunter2'
  const createSession: Method = ({ json }) => json(401, { error: word, message: word })
  const { client } = await uploading({ createSession }, { account: { identifier: alice, password: word } })
  const error: unknown = await client.upload(bytes, { mimeType: 'a/b' }).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ kind: 'auth' })
  expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(word)
})
