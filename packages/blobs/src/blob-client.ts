import { type AccountBlob, createAccountBlobs, type OnProgress } from './account-blobs.ts'
import { BlobId, parseBlobId } from './blob-id.ts'
import { createReport, type OnBlobDiagnostic } from './diagnostics.ts'
import { parseDid } from './did.ts'
import { createEndpointGuard, type EndpointGuard } from './endpoint-guard.ts'
import { createTxtResolver, type ResolveTxt } from './handle-dns.ts'
import type { AbortOptions } from './abort.ts'
import { createHttpClient, type HttpClient } from './http-client.ts'
import { createIdentityResolver, type IdentityResolver } from './identity.ts'
import { createMemoryStore } from './memory-store.ts'
import { createOwnUploads, type OwnUploadsPolicy } from './own-uploads.ts'
import { createPdsClient, type OfferedBlob } from './pds.ts'
import { createSession, type UploadAccount } from './session.ts'
import type { BlobStore } from './store.ts'
import { createUploader, type Upload } from './uploader.ts'

export interface CreateBlobClientOptions {
  /** Where verified blobs are kept. Default: in memory, up to 64 MiB. */
  readonly store?: BlobStore | undefined
  /** The account to upload for. Reading needs none. */
  readonly account?: UploadAccount | undefined
  /** Origins that the rules for endpoints are lifted for, such as `http://localhost:2583`. */
  readonly allowEndpoints?: readonly string[] | undefined
  /** URL of the directory of did:plc. Whoever gives one vouches for its origin. Default `https://plc.directory`. */
  readonly plcDirectory?: string | undefined
  /** `address` or `address:port` of the name servers to ask for handles. Default: those of the system. */
  readonly nameservers?: readonly string[] | undefined
  /** Bytes of one blob. Default 300,000,000, the most that a public lexicon allows. */
  readonly maxBytes?: number | undefined
  /** Milliseconds for one transfer. Default two minutes. */
  readonly timeoutMs?: number | undefined
  /** Milliseconds without a byte. Default 15 seconds. */
  readonly idleMs?: number | undefined
  /** Milliseconds for which it holds that an account offers a blob, and what its PDS and its handle are. Default one minute. */
  readonly ttlMs?: number | undefined
  /** Default `explain`. */
  readonly ownUploads?: OwnUploadsPolicy | undefined
  readonly onDiagnostic?: OnBlobDiagnostic | undefined
  /** The guard, in place of the one that `allowEndpoints` and `plcDirectory` describe. */
  readonly guard?: EndpointGuard | undefined
  /** Sends all requests. Whoever brings one answers for its guard, and disposes it. */
  readonly http?: HttpClient | undefined
  /** Asks DNS for handles, in place of the name servers. */
  readonly resolveTxt?: ResolveTxt | undefined
}

export interface GetOptions extends AbortOptions {
  /** Bytes that it may have, within the limit of the client. A larger one is a `BlobError` of kind `too-large`. */
  readonly maxBytes?: number | undefined
  readonly onProgress?: OnProgress | undefined
}

/** Reads and writes blobs of accounts. Nothing that it gives was not verified first. */
export interface BlobClient extends Disposable {
  /** A blob that an account offers. Its bytes come from the store if they are there, and else from the PDS of the account. */
  get(did: string, cid: string | BlobId, options?: GetOptions): Promise<AccountBlob>
  /** Whether an account offers a blob, its size and type, without its bytes. Throws as `get` does when it does not. */
  head(did: string, cid: string | BlobId, options?: AbortOptions): Promise<OfferedBlob>
  /** Uploads bytes for the account of this client. */
  readonly upload: Upload
  readonly identity: IdentityResolver
}

const defaultPlcDirectory = 'https://plc.directory'
const defaultMaxBytes = 300_000_000
const defaultTimeoutMs = 120_000
const defaultIdleMs = 15_000
const defaultTtlMs = 60_000
const dnsTimeoutMs = 3_000

/** A client for the blobs of AT Protocol accounts. Dispose it to close the connections that it keeps. */
export function createBlobClient(options: CreateBlobClientOptions = {}): BlobClient {
  const { store = createMemoryStore(), plcDirectory = defaultPlcDirectory, account } = options
  const {
    maxBytes = defaultMaxBytes,
    timeoutMs = defaultTimeoutMs,
    idleMs = defaultIdleMs,
    ttlMs = defaultTtlMs,
  } = options
  const guard = options.guard ?? createEndpointGuard({ allowEndpoints: exemptOrigins(options) })
  const http = options.http ?? createHttpClient({ guard })
  const resolveTxt =
    options.resolveTxt ?? createTxtResolver({ nameservers: options.nameservers, timeoutMs: dnsTimeoutMs })
  const identity = createIdentityResolver({ http, guard, resolveTxt, plcDirectory, timeoutMs: idleMs, ttlMs })
  const pds = createPdsClient(http, { maxBytes, timeoutMs, idleMs })
  const ownUploads = createOwnUploads(options.ownUploads ?? 'explain')
  const onDiagnostic = createReport(options.onDiagnostic)
  const session = account && createSession(account, { http, identity, timeoutMs: idleMs, onDiagnostic })
  const blobs = createAccountBlobs({ store, identity, pds, ownUploads, ttlMs })
  const upload = createUploader({ session, pds, store, maxBytes, onUploaded: (did, id) => ownUploads.add(did, id) })

  return {
    async get(did, cid, { maxBytes: limit = maxBytes, onProgress, signal } = {}) {
      return await blobs.get(parseDid(did).text, idOf(cid), {
        maxBytes: Math.min(limit, maxBytes),
        onProgress,
        signal,
      })
    },
    async head(did, cid, { signal } = {}) {
      return await blobs.head(parseDid(did).text, idOf(cid), { signal })
    },
    upload,
    identity,
    [Symbol.dispose]() {
      if (options.http === undefined) http[Symbol.dispose]()
    },
  }
}

function idOf(cid: string | BlobId): BlobId {
  return typeof cid === 'string' ? parseBlobId(cid) : cid
}

function exemptOrigins({ allowEndpoints = [], plcDirectory }: CreateBlobClientOptions): readonly string[] {
  return plcDirectory === undefined ? allowEndpoints : [...allowEndpoints, new URL(plcDirectory).origin]
}
