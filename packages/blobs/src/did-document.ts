import { BlobError } from './blob-error.ts'
import type { EndpointGuard } from './endpoint-guard.ts'
import { normalizeHandle } from './handle.ts'
import { isRecord, type JsonRecord, parseRecord, stringOf } from './xrpc.ts'

/** What the document of a DID says. */
export interface DidDocument {
  readonly did: string
  /** The first handle that it claims, in lower case. A claim: the handle must name the DID as well. */
  readonly claimedHandle: string | undefined
  /** The endpoint of its PDS as it stands there. Not to be spoken to before `pdsOf` has judged it. */
  readonly pdsEndpoint: string | undefined
  /** All of it, as it came. */
  readonly raw: JsonRecord
}

const serviceType = 'AtprotoPersonalDataServer'

/** Reads the document of a DID. A `BlobError` of kind `bad-document` when it is none, or that of another DID. */
export function parseDidDocument(did: string, text: string): DidDocument {
  const raw = parseRecord(text)
  if (raw === undefined) throw bad(did, 'is not a JSON object')
  if (raw['id'] !== did) throw bad(did, 'is that of another DID')
  return { did, claimedHandle: claimedHandle(raw), pdsEndpoint: pdsEndpoint(did, raw), raw }
}

/** The origin of the PDS of a document. A `BlobError` when it names none, or one that must not be spoken to. */
export function pdsOf({ did, pdsEndpoint: endpoint }: DidDocument, guard: EndpointGuard): string {
  if (endpoint === undefined) throw bad(did, 'names no PDS')
  return guard.endpoint(endpoint)
}

/** The first that has the form of one, whether it can be resolved or not; others are ignored. */
function claimedHandle({ alsoKnownAs }: JsonRecord): string | undefined {
  if (!Array.isArray(alsoKnownAs)) return undefined
  for (const uri of alsoKnownAs) {
    const handle = typeof uri === 'string' && uri.startsWith('at://') ? normalizeHandle(uri.slice(5)) : undefined
    if (handle !== undefined) return handle
  }
  return undefined
}

function pdsEndpoint(did: string, { service }: JsonRecord): string | undefined {
  if (!Array.isArray(service)) return undefined
  const found = service
    .filter(isRecord)
    .find(
      (one) =>
        [`#atproto_pds`, `${did}#atproto_pds`].includes(stringOf(one, 'id') ?? '') && one['type'] === serviceType,
    )
  return found === undefined ? undefined : stringOf(found, 'serviceEndpoint')
}

function bad(did: string, why: string): BlobError {
  return new BlobError('bad-document', `the document of ${did} ${why}`)
}
