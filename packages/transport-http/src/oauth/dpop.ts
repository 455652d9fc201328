import type { JsonObject } from '@atenea/mcpcompat'
import type { DPoPHandle } from 'oauth4webapi'

/** A key that tokens are bound to (RFC 9449), with the nonces that servers gave for it. */
export interface DpopKey {
  /** For requests to the authorization server. */
  readonly handle: DPoPHandle
  /** The private key, to be kept with the tokens. */
  readonly jwk: JsonObject
  /** A fresh proof for one request with this token. */
  proof(request: { readonly method: string; readonly url: string }, accessToken: string): Promise<string>
  /** Takes the nonce that a server gave. */
  setNonce(url: string, nonce: string): void
  nonce(url: string): string | undefined
}

const algorithm = 'ES256'

/** Whether an authorization server can bind tokens to such a key. */
export function supportsDpop(algorithms: readonly string[] | undefined): boolean {
  return algorithms?.includes(algorithm) === true
}

/** Takes up a key that was kept, or makes one. */
export async function openDpopKey(kept?: JsonObject): Promise<DpopKey> {
  const [jose, oauth] = await Promise.all([import('jose'), import('oauth4webapi')])
  const jwk: JsonObject =
    kept ?? (await jose.exportJWK((await jose.generateKeyPair(algorithm, { extractable: true })).privateKey))
  const { d: _private, ...publicJwk } = jwk
  const privateKey = (await jose.importJWK(jwk, algorithm)) as CryptoKey
  const publicKey = (await jose.importJWK(publicJwk, algorithm, { extractable: true })) as CryptoKey
  const nonces = new Map<string, string>()
  const originOf = (url: string): string => new URL(url).origin
  return {
    handle: oauth.DPoP({}, { privateKey, publicKey }),
    jwk,
    async proof({ method, url }, accessToken) {
      const { origin, pathname } = new URL(url)
      const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(accessToken))
      const nonce = nonces.get(origin)
      return await new jose.SignJWT({
        htm: method,
        htu: origin + pathname,
        ath: jose.base64url.encode(new Uint8Array(digest)),
        ...(nonce !== undefined && { nonce }),
      })
        .setProtectedHeader({ alg: algorithm, typ: 'dpop+jwt', jwk: publicJwk })
        .setJti(crypto.randomUUID())
        .setIssuedAt()
        .sign(privateKey)
    },
    setNonce: (url, nonce) => void nonces.set(originOf(url), nonce),
    nonce: (url) => nonces.get(originOf(url)),
  }
}
