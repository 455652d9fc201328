import { BlobError } from './blob-error.ts'
import { parseDid } from './did.ts'
import { type DidDocument, parseDidDocument, pdsOf } from './did-document.ts'
import type { EndpointGuard } from './endpoint-guard.ts'
import { createExpiringMap } from './expiring-map.ts'
import { parseHandle } from './handle.ts'
import { didByDns, type ResolveTxt } from './handle-dns.ts'
import type { AbortOptions } from './abort.ts'
import type { HttpClient, HttpResponse } from './http-client.ts'
import { createSingleFlight } from './single-flight.ts'
import { answerError, type JsonRecord, readText } from './xrpc.ts'

/** Who somebody is. */
export interface Identity {
  readonly did: string
  /** The handle, when handle and DID name each other. */
  readonly handle: string | undefined
  /** Why there is none. */
  readonly handleFault: BlobError | undefined
  /** Origin of the PDS, when the document names one that may be spoken to. */
  readonly pds: string | undefined
  /** Why there is none. */
  readonly pdsFault: BlobError | undefined
  /** The document of the DID as it came. */
  readonly document: JsonRecord
}

/** Finds out who a handle or a DID is. Everything that it asks over HTTP passes the guard. */
export interface IdentityResolver {
  /** By DID or handle. A handle that the document does not name in return is refused. */
  resolve(identifier: string, options?: AbortOptions): Promise<Identity>
  /** The origin of the PDS of a DID. Handles are not looked at. */
  pdsOf(did: string, options?: AbortOptions): Promise<string>
}

export interface CreateIdentityResolverOptions {
  readonly http: HttpClient
  readonly guard: EndpointGuard
  readonly resolveTxt: ResolveTxt
  /** URL of the directory of did:plc. */
  readonly plcDirectory: string
  /** Milliseconds for one request. */
  readonly timeoutMs: number
  /** Milliseconds for which documents and handles are known. */
  readonly ttlMs: number
}

const maxDocumentBytes = 64 * 1024
/** A DID, and white space that some servers put around it. */
const maxWellKnownBytes = 4 * 1024
const maxRedirects = 3
const maxEntries = 250

/** What one way of resolving a handle found. */
type Found = { readonly did: string | undefined } | { readonly error: unknown }

/** Resolves by the rules of the AT Protocol: handles by DNS, which goes first, and by HTTPS. */
export function createIdentityResolver(options: CreateIdentityResolverOptions): IdentityResolver {
  const { http, guard, resolveTxt, timeoutMs, ttlMs } = options
  const plcDirectory = new URL(options.plcDirectory.replace(/\/*$/, '/'))
  const documents = createExpiringMap<DidDocument>({ ttlMs, maxEntries })
  const handles = createExpiringMap<string>({ ttlMs, maxEntries })
  const documentFlight = createSingleFlight<DidDocument, DidDocument>({ take: (value) => value })
  const handleFlight = createSingleFlight<string, string>({ take: (value) => value })

  async function ask(
    url: URL,
    { signal }: AbortOptions,
    limits: { bytes: number; redirects: number },
  ): Promise<HttpResponse> {
    return await http.request({
      method: 'GET',
      url,
      maxBytes: limits.bytes,
      maxRedirects: limits.redirects,
      timeoutMs,
      idleMs: timeoutMs,
      signal,
    })
  }

  async function fetchDocument(did: string, signal: AbortSignal): Promise<DidDocument> {
    const parsed = parseDid(did)
    const isPlc = parsed.method === 'plc'
    const url = isPlc ? new URL(encodeURIComponent(did), plcDirectory) : parsed.documentUrl
    using response = await ask(url, { signal }, { bytes: maxDocumentBytes, redirects: isPlc ? 0 : maxRedirects })
    if (response.status === 404 || response.status === 410) {
      const message = `${did} ${response.status === 410 ? 'was given up' : 'does not exist'}, says ${url.origin}`
      throw new BlobError('unknown-identity', message, { details: { source: url.origin, status: response.status } })
    }
    if (response.status !== 200) throw await answerError(response)
    const document = parseDidDocument(did, await readText(response))
    documents.set(did, document)
    return document
  }

  async function documentOf(did: string, { signal }: AbortOptions): Promise<DidDocument> {
    return documents.get(did) ?? (await documentFlight(did, (stop) => fetchDocument(did, stop), { signal }))
  }

  async function didByHttps(handle: string, signal: AbortSignal): Promise<string | undefined> {
    const url = new URL(`https://${handle}/.well-known/atproto-did`)
    using response = await ask(url, { signal }, { bytes: maxWellKnownBytes, redirects: maxRedirects })
    if (response.status >= 500 || response.status === 429) throw await answerError(response)
    if (response.status < 200 || response.status >= 300) return undefined
    const text = (await readText(response)).trim()
    try {
      return parseDid(text).text
    } catch {
      return undefined
    }
  }

  /** Both ways at once, since either may take long. */
  async function findDid(handle: string, signal: AbortSignal): Promise<string> {
    const stop = new AbortController()
    const abort = (): void => stop.abort(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    try {
      const byHttps = settle(didByHttps(handle, stop.signal))
      const byDns = await settle(didByDns(handle, resolveTxt, { signal }))
      signal.throwIfAborted()
      if ('did' in byDns && byDns.did !== undefined) return byDns.did
      // DNS goes first, also when it contradicts itself.
      if ('error' in byDns && BlobError.is(byDns.error) && byDns.error.kind === 'unconfirmed-handle') throw byDns.error
      const found = await byHttps
      signal.throwIfAborted()
      if ('did' in found && found.did !== undefined) return found.did
      if ('error' in found && !isNoSuchHost(found.error)) throw found.error
      if ('error' in byDns) throw byDns.error
      throw new BlobError('unknown-identity', `the handle ${handle} names no DID, neither in DNS nor over HTTPS`)
    } finally {
      signal.removeEventListener('abort', abort)
      stop.abort()
    }
  }

  async function didOf(handle: string, { signal }: AbortOptions): Promise<string> {
    const known = handles.get(handle)
    if (known !== undefined) return known
    const did = await handleFlight(handle, (stop) => findDid(handle, stop), { signal })
    handles.set(handle, did)
    return did
  }

  /** Who a document describes, given what its handle turned out to be. */
  function identityOf(document: DidDocument, handle: string | undefined, handleFault: BlobError | undefined): Identity {
    const { did, raw } = document
    const pds = attempt(() => pdsOf(document, guard))
    return {
      did,
      handle,
      handleFault,
      pds: 'value' in pds ? pds.value : undefined,
      pdsFault: 'error' in pds ? pds.error : undefined,
      document: raw,
    }
  }

  async function resolveDid(did: string, { signal }: AbortOptions): Promise<Identity> {
    const document = await documentOf(did, { signal })
    const { claimedHandle } = document
    if (claimedHandle === undefined) {
      return identityOf(document, undefined, unconfirmed(`the document of ${did} names no handle`))
    }
    try {
      const named = await didOf(parseHandle(claimedHandle), { signal })
      if (named === did) return identityOf(document, claimedHandle, undefined)
      return identityOf(document, undefined, unconfirmed(`${claimedHandle}, which ${did} names, is ${named}`))
    } catch (error) {
      // The DID is what counts; a handle that cannot be confirmed now is only not shown.
      if (!BlobError.is(error)) throw error
      return identityOf(document, undefined, error)
    }
  }

  async function resolveHandle(handle: string, { signal }: AbortOptions): Promise<Identity> {
    const did = await didOf(handle, { signal })
    const document = await documentOf(did, { signal })
    if (document.claimedHandle === handle) return identityOf(document, handle, undefined)
    throw unconfirmed(`${handle} names ${did}, whose document names ${document.claimedHandle ?? 'no handle'}`)
  }

  return {
    async resolve(identifier, { signal } = {}) {
      return identifier.startsWith('did:')
        ? await resolveDid(parseDid(identifier).text, { signal })
        : await resolveHandle(parseHandle(identifier), { signal })
    },
    async pdsOf(did, { signal } = {}) {
      return pdsOf(await documentOf(parseDid(did).text, { signal }), guard)
    },
  }
}

/** A domain without a host can have handles in DNS alone. */
function isNoSuchHost(error: unknown): boolean {
  return BlobError.is(error) && error.kind === 'unreachable' && error.details.reason === 'ENOTFOUND'
}

function unconfirmed(message: string): BlobError {
  return new BlobError('unconfirmed-handle', message)
}

async function settle(work: Promise<string | undefined>): Promise<Found> {
  try {
    return { did: await work }
  } catch (error) {
    return { error }
  }
}

function attempt<T>(work: () => T): { readonly value: T } | { readonly error: BlobError } {
  try {
    return { value: work() }
  } catch (error) {
    if (!BlobError.is(error)) throw error
    return { error }
  }
}
