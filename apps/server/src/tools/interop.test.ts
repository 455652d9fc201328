import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parseRecordUri } from './at-uri.ts'
import { validateLexicon } from './lexicon/validate-lexicon.ts'
import { isNsid } from './nsid.ts'
import { DataModelError } from './record/data-model.ts'
import { recordCid } from './record/record-cid.ts'

/** What the AT Protocol publishes for implementations to agree on; its source and licence stand in the file. */
interface Vectors {
  readonly atUris: Pair
  readonly nsids: Pair
  readonly recordKeys: Pair
  readonly records: readonly { readonly json: string; readonly cid: string }[]
  readonly data: Pair
  readonly lexicons: Pair & { readonly catalog: readonly string[] }
}

interface Pair {
  readonly valid: readonly string[]
  readonly invalid: readonly string[]
}

const file = new URL('../../test/fixtures/atproto-interop.json', import.meta.url)
const vectors = JSON.parse(readFileSync(file, 'utf8')) as Vectors

describe('public vectors of the AT Protocol', () => {
  test.each(vectors.records)('the record of $cid', ({ json, cid }) => {
    expect(recordCid(JSON.parse(json))).toBe(cid)
  })

  test.each(vectors.data.valid)('a record: %s', (json) => {
    expect(recordCid(JSON.parse(json))).toMatch(/^bafyrei/)
  })

  test.each(vectors.data.invalid)('no record: %s', (json) => {
    expect(() => recordCid(JSON.parse(json))).toThrow(DataModelError)
  })

  test.each(vectors.nsids.valid)('an NSID: %j', (text) => {
    expect(isNsid(text)).toBe(true)
  })

  test.each(vectors.nsids.invalid)('no NSID: %j', (text) => {
    expect(isNsid(text)).toBe(false)
  })

  test.each(vectors.recordKeys.valid)('a record key: %j', (key) => {
    expect(parseRecordUri(`at://did:plc:asdf123/com.example.record/${key}`)?.rkey).toBe(key)
  })

  test.each(vectors.recordKeys.invalid)('no record key: %j', (key) => {
    expect(parseRecordUri(`at://did:plc:asdf123/com.example.record/${key}`)).toBeUndefined()
  })

  // Ours takes the addresses of records alone: a repository or a collection has no record to fetch.
  const ofRecords = vectors.atUris.valid.filter((uri) => uri.split('/').length === 5)
  test.each(ofRecords)('the AT-URI of a record: %j', (uri) => {
    expect(parseRecordUri(uri)).toBeDefined()
  })

  test.each(vectors.atUris.invalid)('no AT-URI: %j', (uri) => {
    expect(parseRecordUri(uri)).toBeUndefined()
  })

  test.each([...vectors.lexicons.valid, ...vectors.lexicons.catalog])('a lexicon: %s', (json) => {
    expect(validateLexicon(JSON.parse(json))).toMatchObject({ valid: true })
  })

  test.each(vectors.lexicons.invalid)('no lexicon: %s', (json) => {
    expect(validateLexicon(JSON.parse(json))).toMatchObject({ valid: false })
  })
})
