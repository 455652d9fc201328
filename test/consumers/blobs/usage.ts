import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type AccountBlob,
  BlobError,
  type BlobErrorKind,
  type BlobId,
  type BlobStore,
  computeBlobId,
  createBlobClient,
  createEndpointGuard,
  createFsStore,
  createMemoryStore,
  isPublicAddress,
  parseBlobId,
  UnsupportedCidError,
} from '@atenea/blobs'

function expectEqual(actual: unknown, expected: unknown): void {
  if (JSON.stringify(actual) !== JSON.stringify(expected)) {
    throw new Error(`expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`)
  }
}

async function kindOf(work: Promise<unknown>): Promise<BlobErrorKind | 'none'> {
  try {
    await work
    return 'none'
  } catch (error) {
    if (BlobError.is(error)) return error.kind
    throw error
  }
}

const bytes = Buffer.from('hello')
const { id }: { id: BlobId } = await computeBlobId(bytes)
expectEqual(parseBlobId(id.text), id.text)

try {
  parseBlobId('bafyreigbtj4x7ip5legnfznufuopl4sg4knzc2cof6duas4b3q2fy6swua')
} catch (error) {
  expectEqual(error instanceof UnsupportedCidError && error.reason, 'codec')
}

// a PDS and a directory in few lines
const did = 'did:plc:aliceaaaaaaaaaaaaaaaaaaa'
let origin = ''
const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', origin)
  const service = [{ id: '#atproto_pds', type: 'AtprotoPersonalDataServer', serviceEndpoint: origin }]
  if (url.pathname === `/${encodeURIComponent(did)}`) response.end(JSON.stringify({ id: did, service }))
  else if (url.searchParams.get('cid') === id.text) response.setHeader('content-type', 'text/plain').end(bytes)
  else response.end('other bytes')
})
server.listen(0, '127.0.0.1')
await new Promise((resolve) => server.once('listening', resolve))
origin = `http://localhost:${(server.address() as AddressInfo).port}`

const folder = mkdtempSync(join(tmpdir(), 'usage-'))
const stores: BlobStore[] = [createFsStore(folder), createMemoryStore({ maxBytes: 1000 })]
for (const store of stores) {
  const client = createBlobClient({ store, plcDirectory: origin, allowEndpoints: [origin] })
  const blob: AccountBlob = await client.get(did, id.text, { signal: AbortSignal.timeout(10_000) })
  expectEqual(
    [blob.info.size, blob.info.mimeType, Buffer.from(await blob.bytes()).toString()],
    [5, 'text/plain', 'hello'],
  )
  await blob[Symbol.asyncDispose]()
  const { id: other } = await computeBlobId([Buffer.from('what is not served')])
  expectEqual(await kindOf(client.get(did, other)), 'mismatch')
  expectEqual(await kindOf(client.upload(bytes, { mimeType: 'text/plain' })), 'auth')
  client[Symbol.dispose]()
}
const strict = createBlobClient({ plcDirectory: origin })
expectEqual(await kindOf(strict.get(did, id)), 'none')
strict[Symbol.dispose]()
server.close()
rmSync(folder, { recursive: true })

expectEqual([isPublicAddress('127.0.0.1'), isPublicAddress('1.1.1.1')], [false, true])
expectEqual(createEndpointGuard().endpoint('https://pds.example.com/'), 'https://pds.example.com')

console.log('ok')
