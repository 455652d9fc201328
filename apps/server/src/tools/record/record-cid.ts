import { createHash } from 'node:crypto'
import { code, encodeOptions } from '@ipld/dag-cbor'
import { encode } from 'cborg'
import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'
import { recordFromJson } from './data-model.ts'

const sha256Code = 0x12

/**
 * DAG-CBOR without its check on `Map`s, which takes an empty member name for one that is no string. Our maps have strings as
 * names, and the protocol's own codec encodes the empty one.
 */
const recordEncoding = { ...encodeOptions, typeEncoders: { ...encodeOptions.typeEncoders, Map: () => null } }

/**
 * The CID under which a repository stores this record: CIDv1, dag-cbor, sha2-256. Throws a `DataModelError` for JSON that is
 * no record.
 */
export function recordCid(record: unknown): string {
  const bytes = encode(recordFromJson(record), recordEncoding)
  const digest = createDigest(sha256Code, createHash('sha256').update(bytes).digest())
  return CID.createV1(code, digest).toString()
}
