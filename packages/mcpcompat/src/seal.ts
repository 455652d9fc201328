import { type JsonRecord, type JsonValue, toObject } from './jsonrpc/json.ts'
import { canonicalize } from './jsonrpc/stringify.ts'

/** A key of a seal. Whoever holds its bytes can read and make sealed state. */
export interface SealKey {
  /** Names the key inside sealed state, readable by everyone: 1 to 32 letters, digits, `-` or `_`. */
  readonly id: string
  /** 32 random bytes. */
  readonly bytes: Uint8Array
}

export interface CreateSealOptions {
  /**
   * The first key seals, all of them open: to rotate, put a new key in front and drop the old one when what it sealed has
   * expired. By default one random key, with which nothing survives a restart and no replica opens what another sealed.
   */
  readonly keys?: readonly SealKey[] | undefined
  /** Characters that sealed state may have. Default 64 Ki. */
  readonly maxLength?: number | undefined
  /** Milliseconds since 1970. Default `Date.now`. */
  readonly now?: (() => number) | undefined
}

/** What sealed state is good for, and for nothing else (MC-MRTR-10). */
export interface SealBinding {
  /** Id of the principal who was asked. */
  readonly principal: string
  /** Method of the request that is to be repeated. */
  readonly method: string
  /** Its salient params, without `_meta`, `inputResponses` and `requestState`. The order of members does not matter. */
  readonly params: JsonRecord
}

export interface SealOptions {
  /** Milliseconds until it expires. */
  readonly ttlMs: number
  /** Which round of questions this is, from 1. */
  readonly round: number
}

/** Sealed state that is genuine, of this caller and request, and in time. */
export interface Unsealed {
  readonly ok: true
  readonly state: JsonValue
  readonly round: number
  /** Different for each sealing. Remember it until `expiresAt` where state may be used only once (MC-MRTR-11). */
  readonly nonce: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

/** Why sealed state was refused. For logs only: the caller is told one thing for all of them. */
export type UnsealFailure =
  /** Not in the form of this seal, or too long. */
  | 'malformed'
  /** Sealed with a key that is not (or no longer) ours. */
  | 'unknown-key'
  /** Changed, or made up. */
  | 'tampered'
  | 'expired'
  /** Genuine, but of somebody else. */
  | 'other-principal'
  /** Genuine, but of a request with another method or other params. */
  | 'other-request'

export type UnsealResult = Unsealed | { readonly ok: false; readonly reason: UnsealFailure }

/** Makes `requestState` that a client can carry but neither read nor change, and reads it back (MC-MRTR-08, -09). */
export interface Seal {
  /** A `RangeError` when the state is longer than `maxLength` allows. */
  seal(state: JsonValue, binding: SealBinding, options: SealOptions): Promise<string>
  /** Never throws for what the caller sent. */
  unseal(sealed: string, binding: SealBinding): Promise<UnsealResult>
}

/** The prefix names the form, so that a later one can be told apart. Then: key id, nonce, sealed contents. */
const form = /^(as1\.([\w-]{1,32}))\.([\w-]{16})\.([\w-]+)$/
const keyIdForm = /^[\w-]{1,32}$/
const nonceBytes = 12
const keyBytes = 32

/** What is inside: with the binding in here rather than beside it, a log can tell a foreign state from a forged one. */
interface Contents {
  readonly state: JsonValue
  readonly round: number
  readonly expiresAt: number
  readonly principal: string
  /** Digest of method and params. */
  readonly request: string
}

/** Makes a seal with AES-256-GCM by WebCrypto, which is touched on first use. */
export function createSeal(options: CreateSealOptions = {}): Seal {
  const { maxLength = 65_536, now = Date.now } = options
  const given = options.keys === undefined ? undefined : keyRing(options.keys)
  let own: KeyRing | undefined
  // Made on first use: many servers never ask for anything, and the global `crypto` is not free to touch.
  const ring = (): KeyRing => given ?? (own ??= keyRing([randomKey()]))

  return {
    async seal(state, binding, { ttlMs, round }) {
      const contents: Contents = {
        state,
        round,
        expiresAt: now() + ttlMs,
        principal: binding.principal,
        request: await digestOf(binding),
      }
      const [key] = ring()
      const head = `as1.${key.id}`
      const nonce = crypto.getRandomValues(new Uint8Array(nonceBytes))
      const sealed = await crypto.subtle.encrypt(
        { name: 'AES-GCM', iv: nonce, additionalData: utf8(head) },
        await key.imported(),
        utf8(canonicalize({ ...contents })),
      )
      const text = `${head}.${toBase64Url(nonce)}.${toBase64Url(new Uint8Array(sealed))}`
      if (text.length > maxLength) {
        throw new RangeError(`sealed state has ${text.length} characters, more than the ${maxLength} that are allowed`)
      }
      return text
    },

    async unseal(text, binding) {
      const parts = text.length > maxLength ? undefined : form.exec(text)
      if (!parts) return refused('malformed')
      const [, head = '', keyId = '', nonce = '', sealed = ''] = parts
      const key = ring().find(({ id }) => id === keyId)
      if (key === undefined) return refused('unknown-key')
      let contents: Contents
      try {
        const bytes = await crypto.subtle.decrypt(
          { name: 'AES-GCM', iv: fromBase64Url(nonce), additionalData: utf8(head) },
          await key.imported(),
          fromBase64Url(sealed),
        )
        contents = JSON.parse(new TextDecoder().decode(bytes)) as Contents
      } catch {
        return refused('tampered')
      }
      const { state, round, expiresAt } = contents
      if (contents.principal !== binding.principal) return refused('other-principal')
      if (contents.request !== (await digestOf(binding))) return refused('other-request')
      if (expiresAt <= now()) return refused('expired')
      return { ok: true, state, round, expiresAt, nonce }
    },
  }
}

function refused(reason: UnsealFailure): UnsealResult {
  return { ok: false, reason }
}

interface RingKey {
  readonly id: string
  imported(): Promise<CryptoKey>
}

/** The first one seals. */
type KeyRing = readonly [RingKey, ...RingKey[]]

function keyRing(keys: readonly SealKey[]): KeyRing {
  if (new Set(keys.map(({ id }) => id)).size < keys.length) throw new TypeError('two keys of a seal have the same id')
  const [first, ...others] = keys.map(importOnFirstUse)
  if (first === undefined) throw new TypeError('a seal needs at least one key')
  return [first, ...others]
}

/** Takes a copy of the bytes, so that a caller may wipe its own. */
function importOnFirstUse({ id, bytes }: SealKey): RingKey {
  if (!keyIdForm.test(id)) throw new TypeError('a key id has 1 to 32 letters, digits, "-" or "_"')
  if (bytes.length !== keyBytes) throw new TypeError(`the key "${id}" has ${bytes.length} bytes, not ${keyBytes}`)
  const copy = new Uint8Array(bytes)
  let imported: Promise<CryptoKey> | undefined
  return {
    id,
    imported: () => (imported ??= crypto.subtle.importKey('raw', copy, 'AES-GCM', false, ['encrypt', 'decrypt'])),
  }
}

function randomKey(): SealKey {
  const bytes = crypto.getRandomValues(new Uint8Array(keyBytes))
  return { id: toBase64Url(crypto.getRandomValues(new Uint8Array(6))), bytes }
}

/** Covers what a handler sees: two params are the same when they parse to the same values, in whatever order. */
async function digestOf({ method, params }: SealBinding): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', utf8(canonicalize([method, toObject(params)])))
  return toBase64Url(new Uint8Array(digest))
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}

function toBase64Url(bytes: Uint8Array): string {
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0))
}
