import { createHash } from 'node:crypto'
import { encode as encodeByAtcute } from '@atcute/cbor'
import { cidForLex } from '@atproto/lex-cbor'
import { lexParse } from '@atproto/lex-json'
import fc from 'fast-check'
import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'
import { describe, expect, test } from 'vitest'
import { maxDepth } from './data-model.ts'
import { recordCid } from './record-cid.ts'

const post = '{"$type":"app.bsky.feed.post","text":"Hello AT Protocol!","createdAt":"2024-01-01T00:00:00.000Z"}'
const rawLink = { $link: 'bafkreiccldh766hwcnuxnf2wh6jgzepf2nlu2lvcllt63eww5p6chi4ity' }
const blob = { $type: 'blob', ref: rawLink, mimeType: 'image/jpeg', size: 10_000 }

/** The CID by the official codec (`@atproto/lex-json` in its strict mode, `@atproto/lex-cbor`). */
async function officialCid(json: string): Promise<string> {
  const value = lexParse(json, { strict: true })
  return (await cidForLex(value)).toString()
}

/** The CID by an encoder that shares no code with ours; it takes the JSON form, and checks less than we do. */
function atcuteCid(json: string): string {
  const hash = createHash('sha256')
    .update(encodeByAtcute(JSON.parse(json)))
    .digest()
  return CID.createV1(0x71, createDigest(0x12, hash)).toString()
}

describe('CIDs of records', () => {
  test.each([
    ['a post', post, 'bafyreigewvsjohwerwwjpivpxrymadwdxztscewmdrdltkymm2ypx5zcae'],
    [
      'the same post with its members in another order',
      '{"createdAt":"2024-01-01T00:00:00.000Z","text":"Hello AT Protocol!","$type":"app.bsky.feed.post"}',
      'bafyreigewvsjohwerwwjpivpxrymadwdxztscewmdrdltkymm2ypx5zcae',
    ],
    ['an empty record', '{}', 'bafyreigbtj4x7ip5legnfznufuopl4sg4knzc2cof6duas4b3q2fy6swua'],
    [
      'members in the order of their UTF-8 bytes, not of UTF-16',
      '{"😀":1,"ﾮa":2}',
      'bafyreihhv7bwcfysfjilz34jtiuxnrx5lh3ydyhvwdadb5owzxywqfjxpa',
    ],
    [
      'whole numbers, however they are written',
      '{"$type":"com.example.blah","a":123.0,"b":-0.0,"c":1e3}',
      'bafyreiepgdefnadvcmvxihwqp7hdulxhhk4r2t6tr7go7dnvml4uvkaeym',
    ],
    [
      'bytes with padding',
      '{"b":{"$bytes":"aGVsbG8="}}',
      'bafyreigaci3khto2fstcc5odlaye6zxcjbxlxgiajurxdwwg523mhnyamy',
    ],
    ['bytes without', '{"b":{"$bytes":"aGVsbG8"}}', 'bafyreigaci3khto2fstcc5odlaye6zxcjbxlxgiajurxdwwg523mhnyamy'],
    [
      'an integer that looks like a fraction',
      '{"a":123.0}',
      'bafyreifnja3upl32ivyn4jrni2glntdbeuehci7itgjaxp6vwfq6zn4sde',
    ],
  ])('%s', (_name, json, cid) => {
    expect(recordCid(JSON.parse(json))).toBe(cid)
  })

  const samples: readonly (readonly [string, string])[] = [
    [
      'every kind of value',
      JSON.stringify({ a: null, b: [true, false, [], {}], c: 'öñ⽘😀👨‍👩‍👧', d: -7, e: 2 ** 53 - 1 }),
    ],
    [
      'links, bytes and a blob',
      JSON.stringify({ l: rawLink, c: { $bytes: 'nFERjvLLiw9qm45J' }, d: [blob, [rawLink]] }),
    ],
    ['unknown members that begin with $', '{"$new":1,"$":{"$x":"y"}}'],
    ['an empty name', '{"":{"":[]}}'],
    ['no bytes at all', '{"b":{"$bytes":""}}'],
    ['a blob of no bytes', JSON.stringify({ b: { ...blob, size: 0 } })],
  ]
  test.each(samples)('%s: as the official codec and a foreign encoder say', async (_name, json) => {
    const cid = recordCid(JSON.parse(json))
    expect(cid).toBe(await officialCid(json))
    expect(cid).toBe(atcuteCid(json))
  })

  test.each([
    ['two of them', '{"/":"a","bytes":"a"}'],
    ['all of them', '{"x":{"/":"a","bytes":"a","version":1,"code":113,"multihash":{},"asCID":{}}}'],
    ['and one without a name', '{"x":{"/":"a","bytes":"a","":1}}'],
  ])('E13: members that would make a plain object a CID are data: %s', (_name, json) => {
    expect(recordCid(JSON.parse(json))).toBe(atcuteCid(json))
  })

  test('E13: names of the prototype are data', async () => {
    const json = '{"constructor":1,"toString":{"hasOwnProperty":2},"valueOf":[]}'
    expect(recordCid(JSON.parse(json))).toBe(await officialCid(json))
  })

  test('spare bits of base64 are dropped, as the official codec does', async () => {
    expect(recordCid({ b: { $bytes: 'YR' } })).toBe(await officialCid('{"b":{"$bytes":"YR"}}'))
  })

  test('any record that the official codec takes has the same CID here', async () => {
    const integer = fc.oneof(fc.maxSafeInteger(), fc.integer())
    const name = fc.string({ unit: 'grapheme' }).filter((key) => key !== '__proto__' && !key.startsWith('$'))
    const { record } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        integer,
        fc.boolean(),
        fc.constant(null),
        fc.string({ unit: 'grapheme' }),
        fc.uint8Array().map((bytes) => ({ $bytes: Buffer.from(bytes).toString('base64') })),
        fc.constantFrom(rawLink, blob),
        fc.array(tie('value'), { maxLength: 5 }),
        tie('record'),
      ),
      record: fc.dictionary(name, tie('value'), { maxKeys: 6 }),
    }))
    await fc.assert(
      fc.asyncProperty(record, async (value) => {
        const json = JSON.stringify(value)
        expect(recordCid(JSON.parse(json))).toBe(await officialCid(json))
      }),
    )
  })
})

describe('what is no record', () => {
  test.each([
    ['a string', '"blah"', 'record: a record is a JSON object, but this is a string'],
    ['an array', '[]', 'record: a record is a JSON object, but this is an array'],
    ['null', 'null', 'record: a record is a JSON object, but this is null'],
    ['a lone link', JSON.stringify(rawLink), 'record: a record is an object with members'],
    ['a fraction', '{"rcrd":{"$type":"com.example.blah","a":123.456}}', 'record.rcrd.a: 123.456 is a fraction'],
    ['a fraction in an array', '{"a":[1,{"b":0.5}]}', 'record.a[1].b: 0.5 is a fraction'],
    ['an integer of 2^53', '{"a":9007199254740992}', 'record.a: 9007199254740992 is beyond'],
    ['an integer far away', '{"a":-1e300}', 'record.a: -1e+300 is beyond'],
    ['a number that overflows', '{"a":1e400}', 'record.a: Infinity is beyond'],
    ['half a surrogate pair', '{"a":"x\\ud83d"}', 'record.a: this string holds half of a surrogate pair'],
    ['half a pair in a name', '{"\\ud83d":1}', 'record["\\ud83d"]: the name of this member holds half'],
    [
      'E13: a member __proto__',
      '{"a":{"__proto__":{"admin":true}}}',
      'record.a.__proto__: a member must not be called',
    ],
    [
      '$type null',
      '{"a":{"$type":null}}',
      'record.a.$type: $type must be a string that is not empty, but this is null',
    ],
    ['$type 123', '{"$type":123}', 'record.$type: $type must be a string that is not empty, but this is a number'],
    [
      '$type empty',
      '{"a":{"$type":""}}',
      'record.a.$type: $type must be a string that is not empty, but this is an empty',
    ],
    ['$link to a number', '{"l":{"$link":1234}}', 'record.l: $link must be a string, but this is a number'],
    ['$link to nothing', '{"l":{"$link":"."}}', 'record.l: $link "." is not a CIDv1'],
    [
      '$link with company',
      JSON.stringify({ l: { ...rawLink, other: 'x' } }),
      'record.l: an object with $link must have no other',
    ],
    ['$link to a CIDv0', '{"l":{"$link":"QmdfTbBqBPQ7VNxZEYEj14VmRuZBkqFbiwReogJgS1zR1n"}}', 'record.l: $link "Qmdf'],
    [
      '$link in base58',
      '{"l":{"$link":"zdpuAyvkgEDQm9TenwGkd5eNaosSxjgEYd8QatfPetgB1CdEZ"}}',
      'record.l: $link "zdpuAyvk',
    ],
    [
      '$link to a sha-512 hash',
      '{"l":{"$link":"bafkrgqhhyivzstcz3hhswshfjgy6ertgmnqeleynhwt4dlfsthi4hn7zgh4uvlsb5xncykzapi3ocd4lzogukir6ksdy6wzrnz6ohnv4aglcs"}}',
      'is not hashed with sha2-256',
    ],
    ['$bytes of numbers', '{"b":{"$bytes":[1,2,3]}}', 'record.b: $bytes must be a string, but this is an array'],
    [
      '$bytes with company',
      '{"b":{"$bytes":"aGVsbG8","other":1}}',
      'record.b: an object with $bytes must have no other',
    ],
    ['$bytes for URLs', '{"b":{"$bytes":"_-8"}}', 'record.b: $bytes is not base64'],
    ['$bytes cut short', '{"b":{"$bytes":"aGVsb"}}', 'record.b: $bytes is not base64'],
    ['$bytes half padded', '{"b":{"$bytes":"YQ="}}', 'record.b: $bytes is not base64'],
    ['a blob whose size is a string', JSON.stringify({ b: { ...blob, size: '10000' } }), 'record.b: a blob needs size'],
    ['a blob of negative size', JSON.stringify({ b: { ...blob, size: -1 } }), 'record.b: a blob needs size'],
    ['a blob without ref', JSON.stringify({ b: { ...blob, ref: undefined } }), 'record.b: a blob needs ref'],
    ['a blob without type', JSON.stringify({ b: { ...blob, mimeType: '' } }), 'record.b: a blob needs mimeType'],
    ['a blob with more', JSON.stringify({ b: { ...blob, alt: 'x' } }), 'record.b: a blob has no member "alt"'],
    [
      'a blob that refers to a record',
      JSON.stringify({ b: { ...blob, ref: { $link: 'bafyreiclp443lavogvhj3d2ob2cxbfuscni2k5jk7bebjzg7khl3esabwq' } } }),
      'record.b: the ref of a blob must be the CID of raw bytes',
    ],
  ])('%s is refused, with its place', (_name, json, message) => {
    expect(() => recordCid(JSON.parse(json))).toThrow(message)
  })

  test('nesting is bounded, and refused without overflowing the stack', () => {
    const nested = (levels: number): unknown => JSON.parse('{"a":'.repeat(levels - 1) + '{}' + '}'.repeat(levels - 1))
    expect(recordCid(nested(maxDepth))).toMatch(/^bafyrei/)
    expect(() => recordCid(nested(10_000))).toThrow(`nested deeper than ${maxDepth} levels`)
    expect(() => recordCid({ a: JSON.parse('['.repeat(10_000) + ']'.repeat(10_000)) })).toThrow('nested deeper')
  })

  test('what the official codec refuses, apart from numbers and kinds that it tolerates, is refused here', async () => {
    const member = fc.constantFrom('$link', '$bytes', '$type', 'ref', 'mimeType', 'size', 'a')
    const value = fc.constantFrom<unknown>(rawLink, rawLink.$link, 'blob', 'image/png', '', 'aGk=', 3, -1, null, ['x'])
    await fc.assert(
      fc.asyncProperty(fc.dictionary(member, value), async (inner) => {
        const json = JSON.stringify({ x: inner })
        const official = await officialCid(json).catch(() => undefined)
        const ours = (() => {
          try {
            return recordCid(JSON.parse(json))
          } catch {
            return undefined
          }
        })()
        expect(ours).toBe(official)
      }),
      { numRuns: 1_000 },
    )
  })
})
