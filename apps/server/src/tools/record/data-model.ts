import { CID } from 'multiformats/cid'
import { isObject, kindOf, type UnknownObject } from '../json.ts'
import { formatPath, quote } from '../json-path.ts'

/**
 * A value of the AT Protocol data model as the encoder takes it. Objects are `Map`s: the encoder looks into plain objects for
 * members that make them a CID (`/`, `bytes`, `asCID`), so a record with such names would be taken for a link.
 */
type DataValue = null | boolean | number | string | Uint8Array | CID | readonly DataValue[] | DataMap

export type DataMap = ReadonlyMap<string, DataValue>

/** Deeper records are refused. The data validation guide of the protocol calls 32 levels reasonable. */
export const maxDepth = 256

/** JSON that is no value of the data model. The message says where and what to do. */
export class DataModelError extends Error {
  override readonly name = 'DataModelError'
}

/**
 * Reads the JSON form of a record: `$link` becomes a CID, `$bytes` becomes bytes, and whatever the data model does not
 * allow is refused. Throws a `DataModelError` that names the first offending place below `record`.
 *
 * @see https://atproto.com/specs/data-model
 */
export function recordFromJson(record: unknown): DataMap {
  if (!isObject(record)) throw new DataModelError(`record: a record is a JSON object, but this is ${kindOf(record)}`)
  const value = new Reader().object(record)
  if (!isMap(value)) throw new DataModelError('record: a record is an object with members, not a lone $link or $bytes')
  return value
}

/** One pass over one record. It holds the path to where it is, so that nothing is built for values that are fine. */
class Reader {
  readonly #path: (string | number)[] = []

  value(json: unknown): DataValue {
    if (json === null || typeof json === 'boolean') return json
    if (typeof json === 'string') return this.#string(json)
    if (typeof json === 'number') return this.#integer(json)
    if (Array.isArray(json)) return this.#array(json)
    if (isObject(json)) return this.object(json)
    return this.#refuse(`${typeof json} is not JSON`)
  }

  object(json: UnknownObject): Uint8Array | CID | DataMap {
    if (Object.hasOwn(json, '$link')) return this.#link(json)
    if (Object.hasOwn(json, '$bytes')) return this.#bytes(json)
    if (Object.hasOwn(json, '$type')) this.#checkType(json['$type'])
    const map = new Map<string, DataValue>()
    for (const key of Object.keys(json)) {
      map.set(
        key,
        this.#below(key, () => {
          if (key === '__proto__') this.#refuse('a member must not be called __proto__')
          if (!isWellFormed(key)) this.#refuse('the name of this member holds half of a surrogate pair')
          return this.value(json[key])
        }),
      )
    }
    if (map.get('$type') === 'blob') this.#checkBlob(map)
    return map
  }

  #array(json: readonly unknown[]): readonly DataValue[] {
    return json.map((item, index) => this.#below(index, () => this.value(item)))
  }

  #string(text: string): string {
    if (!isWellFormed(text)) this.#refuse('this string holds half of a surrogate pair, which UTF-8 cannot express')
    return text
  }

  #integer(number: number): number {
    if (!Number.isInteger(number) && Number.isFinite(number)) {
      this.#refuse(`${number} is a fraction; the data model has integers only, so write it as a string or scale it`)
    }
    if (!Number.isSafeInteger(number)) {
      this.#refuse(`${number} is beyond ±9007199254740991, where integers lose digits; write it as a string`)
    }
    return number === 0 ? 0 : number // -0 is 0
  }

  #checkType(type: unknown): void {
    if (typeof type === 'string' && type !== '') return
    this.#below('$type', () => this.#refuse(`$type must be a string that is not empty, but this is ${kindOf(type)}`))
  }

  #link(json: UnknownObject): CID {
    const text = json['$link']
    if (Object.keys(json).length > 1) this.#refuse('an object with $link must have no other member')
    if (typeof text !== 'string') return this.#refuse(`$link must be a string, but this is ${kindOf(text)}`)
    const cid = parseCid(text)
    if (typeof cid === 'string') return this.#refuse(`$link ${quote(text)} ${cid}`)
    return cid
  }

  #bytes(json: UnknownObject): Uint8Array {
    const text = json['$bytes']
    if (Object.keys(json).length > 1) this.#refuse('an object with $bytes must have no other member')
    if (typeof text !== 'string') return this.#refuse(`$bytes must be a string, but this is ${kindOf(text)}`)
    if (!isBase64(text)) this.#refuse('$bytes is not base64 (RFC 4648 section 4; the padding may be left out)')
    return Buffer.from(text, 'base64')
  }

  #checkBlob(blob: DataMap): void {
    const ref = blob.get('ref')
    const mimeType = blob.get('mimeType')
    const size = blob.get('size')
    if (!(ref instanceof CID)) this.#refuse('a blob needs ref, a $link to its content')
    else if (ref.code !== rawCode) this.#refuse('the ref of a blob must be the CID of raw bytes (bafkrei…)')
    if (typeof mimeType !== 'string' || !mimeType.includes('/'))
      this.#refuse('a blob needs mimeType, such as image/png')
    if (typeof size !== 'number' || size < 0) this.#refuse('a blob needs size, its length in bytes as an integer')
    for (const key of blob.keys()) {
      if (!blobMembers.has(key)) this.#refuse(`a blob has no member ${quote(key)}`)
    }
  }

  #below<T>(step: string | number, read: () => T): T {
    this.#path.push(step)
    if (this.#path.length > maxDepth) this.#refuse(`nested deeper than ${maxDepth} levels`)
    const value = read()
    this.#path.pop()
    return value
  }

  #refuse(reason: string): never {
    throw new DataModelError(`${formatPath('record', this.#path)}: ${reason}`)
  }
}

const rawCode = 0x55
const dagCborCode = 0x71
const sha256Code = 0x12
const blobMembers = new Set(['$type', 'ref', 'mimeType', 'size'])

/** Half of a surrogate pair alone; a whole pair is one character here and does not match. */
const loneSurrogate = /\p{Surrogate}/u

function isWellFormed(text: string): boolean {
  return !loneSurrogate.test(text)
}

/** The CID, or what is wrong with it. Only the blessed form: version 1, base32, dag-cbor or raw, sha2-256. */
function parseCid(text: string): CID | string {
  if (!/^b[a-z2-7]{1,127}$/.test(text)) return 'is not a CIDv1 in lower-case base32 (b…)'
  let cid: CID
  try {
    cid = CID.parse(text)
  } catch {
    return 'is not a CID'
  }
  if (cid.version !== 1 || cid.toString() !== text) return 'is not the canonical text of a CIDv1'
  if (cid.code !== dagCborCode && cid.code !== rawCode) return 'names a codec that is neither dag-cbor nor raw'
  if (cid.multihash.code !== sha256Code || cid.multihash.size !== 32) return 'is not hashed with sha2-256'
  return cid
}

function isBase64(text: string): boolean {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return false
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  return padding === 0 ? text.length % 4 !== 1 : text.length % 4 === 0
}

function isMap(value: Uint8Array | CID | DataMap): value is DataMap {
  return value instanceof Map
}
