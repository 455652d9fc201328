import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, inject, onTestFinished, test, vi } from 'vitest'
import { type BlobClient, createBlobClient, type CreateBlobClientOptions } from '../src/blob-client.ts'
import { createEndpointGuard } from '../src/endpoint-guard.ts'
import { createFsStore } from '../src/fs-store.ts'
import { createHttpClient } from '../src/http-client.ts'
import { type Account, createAccount, refer } from './_util/accounts.ts'
import { idOf, someBytes } from './_util/bytes.ts'
import { dnsServer } from './_util/dns-server.ts'
import { testFolder } from './_util/folders.ts'
import { httpsServer } from './_util/servers.ts'

// Passwords are hashed slowly and machines are busy; these bounds only catch a hang.
vi.setConfig({ testTimeout: 120_000 })

function clientFor(account?: Account, options: CreateBlobClientOptions = {}): BlobClient {
  const { plcUrl, pdsUrl } = inject('pds')
  const client = createBlobClient({
    plcDirectory: plcUrl,
    allowEndpoints: [pdsUrl],
    ttlMs: 0,
    ...(account && { account: { identifier: account.did, password: account.appPassword } }),
    ...options,
  })
  onTestFinished(() => client[Symbol.dispose]())
  return client
}

async function bytesOf(client: BlobClient, did: string, cid: string): Promise<Buffer> {
  await using blob = await client.get(did, cid)
  return Buffer.from(await blob.bytes())
}

/** The smallest PNG. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

test('uploads of all kinds have the CID that the PDS gives them, and come back after a record refers to them', async () => {
  const account = await createAccount()
  const client = clientFor(account)
  const reader = clientFor()
  const files: [string, Buffer, string][] = [
    ['an image', png, 'image/png'],
    ['a text', Buffer.from('hello'), 'text/plain'],
    ['nothing', Buffer.alloc(0), 'application/octet-stream'],
    ['as much as goes', someBytes(5 * 1024 * 1024).bytes, 'application/octet-stream'],
  ]
  for (const [what, bytes, mimeType] of files) {
    const uploaded = await client.upload(bytes, { mimeType })
    expect(uploaded, what).toMatchObject({
      did: account.did,
      id: idOf(bytes),
      size: bytes.length,
      blob: { $type: 'blob', ref: { $link: idOf(bytes).text }, size: bytes.length },
    })
    await refer(account, uploaded.blob)
    expect((await bytesOf(reader, account.did, uploaded.id.text)).equals(bytes), what).toBe(true)
    expect((await reader.head(account.did, uploaded.id)).size, what).toBe(bytes.length)
  }
})

describe('G1: the PDS looks into what it gets, and', () => {
  test('its own idea of the type is told, works in a record, and stays with the bytes', async () => {
    const account = await createAccount()
    const client = clientFor(account)
    const files: [Buffer, string, string][] = [
      [png, 'text/plain', 'image/png'],
      [Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/png', 'image/png'],
      [
        Buffer.from('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>'),
        'image/svg+xml',
        'application/xml',
      ],
      [Buffer.from('<!doctype html><p>x'), 'text/html', 'text/html'],
      [Buffer.from('plain'), 'text/plain; charset=utf-8', 'text/plain'],
    ]
    for (const [bytes, sentType, storedType] of files) {
      const uploaded = await client.upload(bytes, { mimeType: sentType })
      expect([uploaded.sentType, uploaded.storedType]).toEqual([sentType, storedType])
      await refer(account, uploaded.blob)
      await using blob = await client.get(account.did, uploaded.id)
      expect([blob.servedType, blob.info.mimeType]).toEqual([storedType, storedType])
    }
  })

  test('a reference with another type than it gave is refused, which is why its object must be used', async () => {
    const account = await createAccount()
    const uploaded = await clientFor(account).upload(png, { mimeType: 'text/plain' })
    await expect(refer(account, { ...uploaded.blob, mimeType: uploaded.sentType })).rejects.toThrow('InvalidMimeType')
    await refer(account, uploaded.blob)
  })
})

test('G7: an odd image is opaque bytes', async () => {
  const account = await createAccount()
  const client = clientFor(account)
  const odd = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), someBytes(1000).bytes])
  const uploaded = await client.upload(odd, { mimeType: 'image/jpeg' })
  await refer(account, uploaded.blob)
  expect(await bytesOf(clientFor(), account.did, uploaded.id.text)).toEqual(odd)
})

test('G8: a fresh upload is said to be not referenced yet, and to be missing by those who did not upload it', async () => {
  const account = await createAccount()
  const client = clientFor(account)
  const uploaded = await client.upload(png, { mimeType: 'image/png' })
  await expect(client.get(account.did, uploaded.id)).rejects.toMatchObject({ kind: 'not-referenced' })
  await expect(clientFor().get(account.did, uploaded.id)).rejects.toMatchObject({ kind: 'not-found' })
  const serving = clientFor(account, { ownUploads: 'serve' })
  await serving.upload(png, { mimeType: 'image/png' })
  expect(await bytesOf(serving, account.did, uploaded.id.text)).toEqual(png)
  await refer(account, uploaded.blob)
  expect(await bytesOf(client, account.did, uploaded.id.text)).toEqual(png)
})

test('G5: whose blob it is decides: neither another account, nor a deleted record, nor an account that is off gives it', async () => {
  const [account, other] = await Promise.all([createAccount(), createAccount()])
  const client = clientFor(account)
  const uploaded = await client.upload(png, { mimeType: 'image/png' })
  const key = await refer(account, uploaded.blob)
  const reader = clientFor()
  expect(await bytesOf(reader, account.did, uploaded.id.text)).toEqual(png)
  await expect(reader.get(other.did, uploaded.id)).rejects.toMatchObject({ kind: 'not-found' })
  await account.call('com.atproto.repo.deleteRecord', { repo: account.did, collection: 'com.example.file', rkey: key })
  await expect(reader.get(account.did, uploaded.id)).rejects.toMatchObject({ kind: 'not-found' })
  await account.call('com.atproto.server.deactivateAccount')
  await expect(reader.get(account.did, uploaded.id)).rejects.toMatchObject({
    kind: 'account-unavailable',
    details: { upstreamError: 'RepoDeactivated' },
  })
  await expect(reader.get('did:plc:nobodyaaaaaaaaaaaaaaaaaa', uploaded.id)).rejects.toMatchObject({
    kind: 'unknown-identity',
  })
})

describe('a file that was tampered with on the disk of the PDS, which serves it all the same,', () => {
  async function tampered(bytes: Buffer, tamper: (path: string) => void): Promise<Promise<unknown>> {
    const account = await createAccount()
    const uploaded = await clientFor(account).upload(bytes, { mimeType: 'application/octet-stream' })
    await refer(account, uploaded.blob)
    tamper(join(inject('pds').blobFolder, account.did, uploaded.id.text))
    const store = createFsStore(testFolder())
    const error = await clientFor(undefined, { store, idleMs: 2000 })
      .get(account.did, uploaded.id)
      .catch((thrown: unknown) => thrown)
    expect(await store.stat(uploaded.id)).toBeUndefined()
    return error
  }

  test('to other bytes is a mismatch', async () => {
    const { bytes } = someBytes(300_000)
    const error = await tampered(bytes, (path) => {
      const changed = readFileSync(path)
      changed[150_000] = (changed[150_000] ?? 0) ^ 1
      writeFileSync(path, changed)
    })
    expect(error).toMatchObject({ kind: 'mismatch', details: { size: 300_000 } })
  })

  test('to more bytes does no harm: those behind the length that the PDS announces are not taken for anything', async () => {
    const account = await createAccount()
    const client = clientFor(account)
    const files = [someBytes(300_000).bytes, someBytes(1000).bytes]
    for (const bytes of files) {
      const uploaded = await client.upload(bytes, { mimeType: 'application/octet-stream' })
      await refer(account, uploaded.blob)
      appendFileSync(join(inject('pds').blobFolder, account.did, uploaded.id.text), 'more'.repeat(1000))
    }
    const reader = clientFor()
    for (const bytes of files) expect(await bytesOf(reader, account.did, idOf(bytes).text)).toEqual(bytes)
  })

  test('to fewer bytes leaves the answer open for ever, which ends by our own deadline', async () => {
    const error = await tampered(someBytes(300_000).bytes, (path) => truncateSync(path, 200_000))
    expect(error).toMatchObject({ kind: 'timeout', retryable: true })
  })
})

test('the PDS compresses for whoever does not rule it out, which we do', async () => {
  const account = await createAccount()
  const page = Buffer.from('compress me '.repeat(10_000))
  const client = clientFor(account)
  const uploaded = await client.upload(page, { mimeType: 'text/plain' })
  await refer(account, uploaded.blob)
  const url = `${inject('pds').pdsUrl}/xrpc/com.atproto.sync.getBlob?did=${account.did}&cid=${uploaded.id.text}`
  const compressed = await fetch(url, { headers: { 'accept-encoding': 'gzip' } })
  await compressed.body?.cancel()
  expect(compressed.headers.get('content-encoding')).toBe('gzip')
  expect(await bytesOf(clientFor(), account.did, uploaded.id.text)).toEqual(page)
  expect((await clientFor().head(account.did, uploaded.id)).size).toBe(page.length)
})

test('C17: more than the PDS takes is refused before it is sent, and the next upload works', async () => {
  const account = await createAccount()
  const client = clientFor(account)
  const limit = 5 * 1024 * 1024
  await expect(client.upload(someBytes(limit + 1).bytes, { mimeType: 'a/b' })).rejects.toMatchObject({
    kind: 'too-large',
    details: { limit },
  })
  expect((await client.upload(png, { mimeType: 'image/png' })).id).toEqual(idOf(png))
})

test('the example of the README does what it says', async () => {
  const account = await createAccount()
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const [, , code = ''] = readme.split(/```ts\n/).map((part) => part.split('```', 1)[0])
  const folder = testFolder()
  const entry = new URL('../src/index.ts', import.meta.url).href
  writeFileSync(join(folder, 'example.ts'), code.replace("'@atenea/blobs'", JSON.stringify(entry)))
  const { plcUrl, pdsUrl } = inject('pds')
  const child = spawn(process.execPath, ['--no-warnings', 'example.ts'], {
    cwd: folder,
    env: {
      ATPROTO_IDENTIFIER: account.did,
      ATPROTO_APP_PASSWORD: account.appPassword,
      PLC_DIRECTORY: plcUrl,
      ALLOW_ENDPOINT: pdsUrl,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [printed] = await Promise.all([text(child.stdout), once(child, 'exit')])
  expect(printed).toMatch(new RegExp(`^${idOf('hello').text} text/plain\n.*no record refers to it yet.*\n$`))
})

describe('leave to upload', () => {
  test('comes by an app password, by handle as by DID', async () => {
    const account = await createAccount()
    const { address } = await dnsServer({ [`_atproto.${account.handle}`]: [`did=${account.did}`] })
    const client = clientFor(undefined, {
      account: { identifier: account.handle, password: account.appPassword },
      nameservers: [address],
    })
    expect((await client.upload(png, { mimeType: 'image/png' })).did).toBe(account.did)
  })

  test('comes by a service token that is good for nothing else', async () => {
    const account = await createAccount()
    const { token } = await account.call(
      'com.atproto.server.getServiceAuth',
      { aud: inject('pds').pdsDid, lxm: 'com.atproto.repo.uploadBlob' },
      'query',
    )
    const client = clientFor(undefined, { account: { did: account.did, token: String(token) } })
    expect((await client.upload(png, { mimeType: 'image/png' })).id).toEqual(idOf(png))
  })

  test('does not come by a wrong password or a token for something else', async () => {
    const account = await createAccount()
    const wanted = { aud: inject('pds').pdsDid, lxm: 'com.atproto.repo.importRepo' }
    const { token } = await account.call('com.atproto.server.getServiceAuth', wanted, 'query')
    const wrong: CreateBlobClientOptions['account'][] = [
      { identifier: account.did, password: 'aaaa-bbbb-cccc-dddd' },
      { did: account.did, token: String(token) },
    ]
    for (const one of wrong) {
      const upload = clientFor(undefined, { account: one }).upload(png, { mimeType: 'image/png' })
      await expect(upload).rejects.toMatchObject({ kind: 'auth' })
    }
  })

  test('is renewed by the PDS itself when an access token does not do any more', async () => {
    const account = await createAccount()
    let isSpoiled = false
    const guard = createEndpointGuard({ allowEndpoints: [inject('pds').pdsUrl, inject('pds').plcUrl] })
    const http = createHttpClient({ guard })
    onTestFinished(() => http[Symbol.dispose]())
    const sent: string[] = []
    const client = clientFor(account, {
      guard,
      http: {
        ...http,
        request(request) {
          sent.push(request.url.pathname.split('.').at(-1) ?? '')
          // Time passes for nobody but this: the first upload goes out with the refresh token's sibling cut short.
          const spoil = isSpoiled && sent.at(-1) === 'uploadBlob' && !sent.includes('refreshSession')
          const headers = spoil
            ? { ...request.headers, authorization: `${request.headers?.['authorization']}x` }
            : request.headers
          return http.request({ ...request, headers })
        },
      },
    })
    await client.upload(png, { mimeType: 'image/png' })
    isSpoiled = true
    sent.length = 0
    expect((await client.upload(png, { mimeType: 'image/png' })).id).toEqual(idOf(png))
    expect(sent.filter((method) => method !== 'describeServer')).toEqual(['uploadBlob', 'refreshSession', 'uploadBlob'])
  })
})

describe('identity', () => {
  test('a handle in DNS and its document in the directory name each other', async () => {
    const account = await createAccount()
    const { address } = await dnsServer({ [`_atproto.${account.handle}`]: [`did=${account.did}`] })
    const { identity } = clientFor(undefined, { nameservers: [address] })
    const { pdsUrl } = inject('pds')
    for (const identifier of [account.handle, account.did]) {
      expect(await identity.resolve(identifier)).toMatchObject({
        did: account.did,
        handle: account.handle,
        pds: pdsUrl,
      })
    }
  })

  test('a handle that names the DID of somebody else is refused', async () => {
    const account = await createAccount()
    const { address } = await dnsServer({ '_atproto.liar.test': [`did=${account.did}`] })
    await expect(clientFor(undefined, { nameservers: [address] }).identity.resolve('liar.test')).rejects.toMatchObject({
      kind: 'unconfirmed-handle',
    })
  })

  test('the PDS answers for its handles over HTTPS, behind what ends TLS', async () => {
    const account = await createAccount()
    const { pdsUrl, plcUrl } = inject('pds')
    const front = await httpsServer([account.handle], (request, response) => {
      const target = new URL(request.url ?? '/', pdsUrl)
      httpRequest(target, { headers: { host: account.handle } }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(response)
      }).end()
    })
    const guard = createEndpointGuard({
      allowEndpoints: [pdsUrl, plcUrl, `https://${account.handle}`],
      lookup: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]),
    })
    const connect = (url: URL) => (url.protocol === 'https:' ? { ca: front.ca, port: front.port } : {})
    const http = createHttpClient({ guard, connect })
    onTestFinished(() => http[Symbol.dispose]())
    const { address } = await dnsServer({})
    const { identity } = clientFor(undefined, { guard, http, nameservers: [address] })
    expect(await identity.resolve(account.handle)).toMatchObject({ did: account.did, handle: account.handle })
  })

  test('G5: without leave of the operator a PDS on loopback is refused', async () => {
    const account = await createAccount()
    const strict = clientFor(undefined, { allowEndpoints: [] })
    await expect(strict.get(account.did, idOf(png))).rejects.toMatchObject({ kind: 'endpoint-refused' })
    expect(await strict.identity.resolve(account.did)).toMatchObject({
      pds: undefined,
      pdsFault: { kind: 'endpoint-refused' },
    })
  })
})
