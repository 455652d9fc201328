import fc from 'fast-check'
import { base16 } from 'multiformats/bases/base16'
import { base36 } from 'multiformats/bases/base36'
import { base58btc } from 'multiformats/bases/base58'
import { base64url } from 'multiformats/bases/base64'
import { CID } from 'multiformats/cid'
import { create as digestOf } from 'multiformats/hashes/digest'
import { sha256 } from 'multiformats/hashes/sha2'
import { describe, expect, test } from 'vitest'
import { BlobError } from './blob-error.ts'
import { BlobId, parseBlobId, UnsupportedCidError } from './blob-id.ts'

const digest = Uint8Array.from({ length: 32 }, (_, index) => index * 7)
const cid = CID.create(1, 0x55, digestOf(0x12, digest))
const text = cid.toString()

function refusalOf(value: string): string {
  try {
    parseBlobId(value)
  } catch (error) {
    if (error instanceof UnsupportedCidError) return error.reason
    throw error
  }
  return 'accepted'
}

/** CIDs that are not those of blobs, made by multiformats. */
const others = {
  v0: CID.create(0, 0x70, digestOf(0x12, digest)).toString(),
  dagCbor: CID.create(1, 0x71, digestOf(0x12, digest)).toString(),
  dagPb: CID.create(1, 0x70, digestOf(0x12, digest)).toString(),
  sha512: CID.create(1, 0x55, digestOf(0x13, new Uint8Array(64).fill(1))).toString(),
  blake3: CID.create(1, 0x55, digestOf(0x1e, digest)).toString(),
  identity: CID.create(1, 0x55, digestOf(0x00, digest)).toString(),
  short: CID.create(1, 0x55, digestOf(0x12, digest.subarray(0, 20))).toString(),
  hexadecimal: cid.toString(base16),
  base36: cid.toString(base36),
  base58: cid.toString(base58btc),
  base64url: cid.toString(base64url),
}

/** The last character holds two bits that belong to no byte: these three texts decode to the same bytes in a lax decoder. */
const spareBits = ['b', 'c', 'd'].map((last) => text.slice(0, -1) + last)

/** The bytes of a CID whose version is written in two bytes, where one is enough. */
const longVarint = base32Of([0x81, 0x00, ...cid.bytes.subarray(1)])

function base32Of(bytes: readonly number[]): string {
  const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'
  const bits = bytes.map((byte) => byte.toString(2).padStart(8, '0')).join('')
  const groups = bits.match(/.{1,5}/g) ?? []
  return `b${groups.map((group) => alphabet[Number.parseInt(group.padEnd(5, '0'), 2)]).join('')}`
}

describe('G4: only the canonical CID of a blob is one', () => {
  test('of the empty blob too', () => {
    const id = parseBlobId('bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku')
    expect(id.hex).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  })

  test.each([
    ['a CID of version 0', others.v0, 'cid-v0'],
    ['one of a record', others.dagCbor, 'codec'],
    ['one of another codec', others.dagPb, 'codec'],
    ['one by sha2-512', others.sha512, 'hash'],
    ['one by blake3', others.blake3, 'hash'],
    ['one by no hash', others.identity, 'hash'],
    ['one by a hash that was cut', others.short, 'digest-length'],
    ['one in capitals', text.toUpperCase(), 'upper-case'],
    ['one with one capital', text.replace('bafkrei', 'bafKrei'), 'upper-case'],
    ['one of a record in capitals', others.dagCbor.toUpperCase(), 'upper-case'],
    ['one in hexadecimal', others.hexadecimal, 'encoding'],
    ['one in base36', others.base36, 'encoding'],
    ['one in base58', others.base58, 'encoding'],
    ['one in base64', others.base64url, 'encoding'],
    ['one with another spare bit', spareBits[0], 'not-canonical'],
    ['one with other spare bits', spareBits[2], 'not-canonical'],
    ['one with a varint that is too long', longVarint, 'not-a-cid'],
    ['one that is cut', text.slice(0, -1), 'not-a-cid'],
    ['one that goes on', `${text}a`, 'not-a-cid'],
    ['nothing', '', 'not-a-cid'],
    ['a path', '../x', 'not-a-cid'],
    ['a path behind a CID', `${text}/../../etc/passwd`, 'not-a-cid'],
    ['a percent escape', `%62${text.slice(1)}`, 'not-a-cid'],
    ['a URI', `ipfs://${text}`, 'not-a-cid'],
    ['space around it', ` ${text}`, 'not-a-cid'],
    ['a line feed behind it', `${text}\n`, 'not-a-cid'],
    ['a zero byte in it', `${text.slice(0, 20)}\0${text.slice(20)}`, 'not-a-cid'],
    ['full-width letters', text.replace('bafkrei', 'ｂafkrei'), 'not-a-cid'],
    ['letters that lower case turns into ASCII', text.replace('bafk', 'baf\u212a'), 'not-a-cid'],
    ['a very long text', 'z'.repeat(1_000_000), 'not-a-cid'],
    ['the name of a prototype', '__proto__', 'not-a-cid'],
  ])('%s is refused', (_what, value, reason) => {
    expect(refusalOf(value ?? '')).toBe(reason)
  })

  test('what is no string is refused, not taken for its text', () => {
    expect(() => parseBlobId(undefined as unknown as string)).toThrow(UnsupportedCidError)
    expect(() => parseBlobId([text] as unknown as string)).toThrow(UnsupportedCidError)
  })

  test('an error says what was given, what is wrong, and what would be right', () => {
    expect(() => parseBlobId(others.dagCbor)).toThrow(
      `"${others.dagCbor}" has the codec dag-cbor, a record or a node of a repository, not raw. The CID of a blob is bafkrei… with 59 characters: version 1, raw, sha2-256, lower-case base32.`,
    )
    const error: unknown = new UnsupportedCidError('codec', 'x')
    expect(BlobError.is(error) && error.kind).toBe('unsupported-cid')
  })

  test('a hostile text does not come into an error in full', () => {
    const long = `${'x'.repeat(79)}\u{1f389}`.repeat(2000)
    const message = (() => {
      try {
        parseBlobId(long)
      } catch (error) {
        return (error as Error).message
      }
      return ''
    })()
    expect(message.length).toBeLessThan(300)
    expect(message.isWellFormed()).toBe(true)
  })
})

test('every digest has one text, which is the one that multiformats gives it, and which leads back to it', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
      const id = new BlobId(bytes)
      const canonical = CID.create(1, 0x55, digestOf(0x12, bytes)).toString()
      expect(id.text).toBe(canonical)
      expect(id.text).toMatch(/^bafkrei[a-z2-7]{52}$/)
      expect([...parseBlobId(id.text).digest]).toEqual([...bytes])
    }),
  )
})

test('whatever multiformats reads as a CID is accepted if and only if it is the canonical one of a blob', () => {
  const codec = fc.constantFrom(0x55, 0x70, 0x71, 0x0129)
  const hash = fc.constantFrom(0x12, 0x13, 0x1e, 0x00)
  fc.assert(
    fc.property(codec, hash, fc.uint8Array({ minLength: 30, maxLength: 33 }), (code, hashCode, bytes) => {
      const made = CID.create(1, code, digestOf(hashCode, bytes)).toString()
      const isBlob = code === 0x55 && hashCode === 0x12 && bytes.length === 32
      expect(refusalOf(made) === 'accepted').toBe(isBlob)
    }),
  )
})

test('no text is accepted but in the spelling that comes out again', () => {
  const mutated = fc
    .tuple(fc.nat({ max: text.length - 1 }), fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz234567018_/.%'.split('')))
    .map(([at, character]) => text.slice(0, at) + character + text.slice(at + 1))
  fc.assert(
    fc.property(fc.oneof(mutated, fc.string(), fc.string({ unit: 'binary' })), (value) => {
      const accepted = refusalOf(value) === 'accepted'
      expect(!accepted || parseBlobId(value).text === value).toBe(true)
    }),
    { numRuns: 1000 },
  )
})

test('an id is what the hash of multiformats says too', async () => {
  const bytes = new TextEncoder().encode('hello')
  const { digest: hashed } = await sha256.digest(bytes)
  expect(new BlobId(hashed).text).toBe(CID.create(1, 0x55, await sha256.digest(bytes)).toString())
})

test('an id cannot be changed from outside, and prints and serializes as its text', () => {
  const bytes = new Uint8Array(digest)
  const id = new BlobId(bytes)
  bytes.fill(0)
  id.digest.fill(0)
  expect(id.hex).toBe(Buffer.from(digest).toString('hex'))
  expect([String(id), JSON.stringify({ id })]).toEqual([text, JSON.stringify({ id: text })])
  expect(id.equals(parseBlobId(text))).toBe(true)
  expect(id.equals(new BlobId(new Uint8Array(32)))).toBe(false)
  expect([BlobId.is(id), BlobId.is({ text }), BlobId.is(null)]).toEqual([true, false, false])
  expect(() => new BlobId(new Uint8Array(31))).toThrow(RangeError)
})
