import { type JsonObject, type JsonValue, isJsonObject } from '@atenea/mcpcompat'
import type { JWK, LocalJWKSet } from 'jose'
import { safeUrl } from '../safe-url.ts'
import type { AskJson } from './ask-json.ts'
import { discoverIssuer } from './issuer-metadata.ts'

/** Far more than any issuer has; a token without a key id is tried with each. */
const maxKeys = 100

export interface LoadKeySetOptions {
  readonly issuer: string
  /** Where the keys are; found by the metadata of the issuer when absent. */
  readonly jwksUri: string | undefined
  readonly ask: AskJson
}

/** The public keys with which an issuer signs now. */
export async function loadKeySet({ issuer, jwksUri, ask }: LoadKeySetOptions): Promise<LocalJWKSet> {
  const url = jwksUri ?? (await discoverIssuer(issuer, ask)).jwksUri
  if (url === undefined) throw new Error(`The metadata of ${safeUrl(issuer)} names no jwks_uri`)
  const { status, value } = await ask({ method: 'GET', url })
  const listed = status === 200 ? value?.['keys'] : undefined
  if (!Array.isArray(listed)) throw new Error(`${safeUrl(url)} answers ${status} without a set of keys`)
  const keys = (listed as readonly JsonValue[]).filter(isJsonObject).filter(isForSignatures).slice(0, maxKeys)
  // loaded with the first keys: servers without OAuth never need it
  const { createLocalJWKSet } = await import('jose')
  return createLocalJWKSet({ keys: keys.map(publicPart) })
}

/** Symmetric keys have no place in a public set, and whoever takes them from there takes tokens of everybody. */
function isForSignatures({ kty, use }: JsonObject): boolean {
  return (kty === 'RSA' || kty === 'EC' || kty === 'OKP' || kty === 'AKP') && (use === undefined || use === 'sig')
}

/** Without what an issuer should never have published. */
function publicPart({
  d: _d,
  p: _p,
  q: _q,
  dp: _dp,
  dq: _dq,
  qi: _qi,
  oth: _oth,
  priv: _priv,
  ...key
}: JsonObject): JWK {
  return key
}
