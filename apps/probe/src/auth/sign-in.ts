import { printErr, stateDir } from '@atenea/cli'
import type { AuthChallenge as Challenge, HttpSend } from '@atenea/transport-http'
import {
  createMemorySignInStore,
  createOAuthAuthorizer,
  OAuthError,
  type SignInStore,
} from '@atenea/transport-http/oauth'
import { createFileSignInStore, createPersonFlow, signInPromptText } from '@atenea/transport-http/oauth/node'
import { join } from 'node:path'

type Environment = Readonly<Record<string, string | undefined>>

export interface SignInRequest {
  readonly url: string
  readonly status: number
  readonly challenges: readonly Challenge[]
  readonly send: HttpSend
  readonly signal: AbortSignal
}

/**
 * Gets the value of `Authorization` for a server: that of a sign-in which this user has already made, also with atenea-proxy, or of one that
 * somebody makes now. Rejects with an `OAuthError` that says why there is none.
 */
export async function signIn(
  { url, status, challenges, send, signal }: SignInRequest,
  environment: Environment,
): Promise<string> {
  using authorizer = createOAuthAuthorizer(url, {
    identity: { name: 'Atenea probe' },
    flow: createPersonFlow({ name: 'atenea-probe', environment, tell: (prompt) => printErr(signInPromptText(prompt)) }),
    store: storeOf(environment),
    send,
  })
  await authorizer.renew({ status, challenges, sent: undefined }, { signal })
  const fields = await authorizer.fields({ method: 'POST', url }, { signal })
  const { authorization } = fields
  if (authorization === undefined || fields['dpop'] !== undefined) {
    throw new OAuthError('no-flow', `The tokens of ${url} are bound to a key, with which only a client can use them.`)
  }
  return authorization
}

function storeOf(environment: Environment): SignInStore {
  try {
    return createFileSignInStore(join(stateDir(environment), 'oauth'))
  } catch {
    return createMemorySignInStore()
  }
}
