import type { AbortOptions } from '@atenea/mcpcompat'
import { createFetchSend } from '../fetch-send.ts'
import type { HttpSend } from '../send.ts'
import { answerFailure } from './answer-failure.ts'
import { clientAuth } from './client-auth.ts'
import { discoverIssuer } from './discovery.ts'
import { OAuthHttp } from './oauth-http.ts'
import { type ClientIdentity, clientOf, requestOptions } from './registration.ts'
import type { SignIn, SignInStore } from './sign-in-store.ts'

export interface SignOutOptions extends AbortOptions {
  readonly store: SignInStore
  readonly identity: ClientIdentity
  readonly send?: HttpSend | undefined
}

export interface SignedOut {
  readonly signIn: SignIn
  /** Whether the authorization server was told; else its tokens are good until they end. */
  readonly revoked: boolean
  /** Why it was not told. */
  readonly cause?: unknown
}

/**
 * Forgets the sign-in at a server and has its tokens revoked where the authorization server offers that (RFC 7009). `undefined` when there is
 * none. What cannot be revoked is forgotten all the same. A process that is at work with it goes on until its access token ends or is refused.
 */
export async function signOut(server: string, options: SignOutOptions): Promise<SignedOut | undefined> {
  const { store, signal } = options
  return await store.exclusive(
    server,
    async () => {
      const signIn = await store.get(server)
      await store.setFailure(server, undefined)
      if (signIn === undefined) return undefined
      await store.delete(server)
      try {
        return { signIn, revoked: await revoke(signIn, options) }
      } catch (cause) {
        signal?.throwIfAborted()
        return { signIn, revoked: false, cause }
      }
    },
    { signal },
  )
}

async function revoke(signIn: SignIn, options: SignOutOptions): Promise<boolean> {
  const { identity, store, send = createFetchSend(), signal } = options
  const http = new OAuthHttp({ send, serverUrl: signIn.server })
  const issuer = await discoverIssuer(signIn.issuer, { http, signal, legacy: signIn.legacy ?? false })
  if (issuer.metadata.revocation_endpoint === undefined) return false
  const client = await clientOf(signIn, issuer, { identity, store, http, signal })
  if (client === undefined) return false
  const oauth = await import('oauth4webapi')
  const auth = await clientAuth(client, issuer.metadata)
  const revokeOne = async (token: string): Promise<void> => {
    const response = await oauth.revocationRequest(issuer.metadata, { client_id: client.clientId }, auth, token, {
      ...requestOptions(oauth, http),
      ...(signal !== undefined && { signal }),
    })
    await oauth.processRevocationResponse(response)
  }
  const { refreshToken, accessToken } = signIn
  const secrets = [accessToken, refreshToken, client.clientSecret].filter((secret) => secret !== undefined)
  try {
    await revokeOne(refreshToken ?? accessToken)
    // Many cannot take back an access token that says all by itself; without the other it ends soon (RFC 7009, section 2.1).
    if (refreshToken !== undefined) await revokeOne(accessToken).catch(() => signal?.throwIfAborted())
  } catch (error) {
    signal?.throwIfAborted()
    throw answerFailure(error, `${issuer.issuer} did not revoke the sign-in`, { secrets })
  }
  return true
}
