import { answerError, BlobError, type JsonRecord, readJson, xrpcUrl } from '@atenea/blobs'
import { ToolError } from '@atenea/core'
import type { AbortOptions, JsonObject } from '@atenea/mcpcompat'
import type { Atproto } from '../../atproto/atproto.ts'
import { tellingFailures } from '../../atproto/tool-failure.ts'
import { parseRecordUri, type RecordUri } from '../at-uri.ts'
import type { FetchedRecord, RecordRequest } from '../get-record.ts'
import { isObject } from '../json.ts'
import { quote } from '../json-path.ts'
import { DataModelError } from './data-model.ts'
import { recordCid } from './record-cid.ts'

/** A record has at most 1 MB in a repository; as JSON it may be longer, and in a result it is there twice. */
const maxAnswerBytes = 2_000_000
const timeoutMs = 30_000
const idleMs = 15_000

/** Fetches a record and computes its CID again. */
export async function fetchRecord(
  atproto: Atproto,
  { uri, cid }: RecordRequest,
  { signal }: AbortOptions,
): Promise<FetchedRecord> {
  const parsed = parseRecordUri(uri)
  if (parsed === undefined) {
    throw new ToolError(
      `${quote(uri)} is not the AT-URI of a record, such as at://alice.example.com/app.bsky.feed.post/3k2la7fxx2s2q`,
    )
  }
  if (cid !== undefined && !/^bafyrei[a-z2-7]{52}$/.test(cid)) {
    throw new ToolError(`${quote(cid)} is not the CID of a record: bafyrei… with 59 characters`)
  }
  return await tellingFailures(async () => {
    const { identity } = atproto.blobs
    const { authority } = parsed
    const did = authority.startsWith('did:') ? authority : (await identity.resolve(authority, { signal })).did
    const pds = await identity.pdsOf(did, { signal })
    const answer = await ask(atproto, pds, { ...parsed, authority: did }, { cid, signal })
    return checked(answer, { pds, uri: `at://${did}/${parsed.collection}/${parsed.rkey}`, wanted: cid })
  })
}

async function ask(
  { http }: Atproto,
  pds: string,
  { authority, collection, rkey }: RecordUri,
  { cid, signal }: AbortOptions & { readonly cid: string | undefined },
): Promise<JsonRecord> {
  const params = { repo: authority, collection, rkey, ...(cid !== undefined && { cid }) }
  using response = await http.request({
    method: 'GET',
    url: xrpcUrl(pds, 'com.atproto.repo.getRecord', params),
    headers: { accept: 'application/json' },
    maxRedirects: 3,
    maxBytes: maxAnswerBytes,
    timeoutMs,
    idleMs,
    signal,
  })
  if (response.status !== 200) throw await answerError(response)
  return await readJson(response)
}

interface Expected {
  readonly pds: string
  readonly uri: string
  readonly wanted: string | undefined
}

function checked(answer: JsonRecord, { pds, uri, wanted }: Expected): FetchedRecord {
  const { value } = answer
  if (!isObject(value) || answer['uri'] !== uri) {
    throw new BlobError('bad-answer', `${pds} answers with something that is not the record ${uri}`, {
      details: { source: pds },
    })
  }
  const named = typeof answer['cid'] === 'string' ? answer['cid'] : undefined
  const computed = computedCid(value)
  const problem = computed.problem ?? difference(computed.cid, { named, wanted })
  return {
    uri,
    ...(named !== undefined && { cid: named.slice(0, 200).toWellFormed() }),
    ...(computed.cid !== undefined && { computedCid: computed.cid }),
    verified: problem === undefined,
    ...(problem !== undefined && { problem }),
    value: value as JsonObject,
  }
}

type Computed =
  | { readonly cid: string; readonly problem?: undefined }
  | { readonly cid?: undefined; readonly problem: string }

function computedCid(value: unknown): Computed {
  try {
    return { cid: recordCid(value) }
  } catch (error) {
    if (!(error instanceof DataModelError)) throw error
    return { problem: `it cannot be checked: ${error.message}` }
  }
}

function difference(
  computed: string | undefined,
  { named, wanted }: { readonly named: string | undefined; readonly wanted: string | undefined },
): string | undefined {
  if (wanted !== undefined && computed !== wanted) return 'this is not the version that was asked for'
  if (named !== undefined && computed !== named) return 'the record is not what the CID of the PDS names'
  return named === undefined && wanted === undefined ? 'the PDS named no CID' : undefined
}
