import type { Redactor } from '@atenea/cli'
import { type Authenticate, createBearerAuthenticator } from '@atenea/transport-http'
import type { FrontSettings } from '../front-settings.ts'
import { readBearerTokens } from './bearer-tokens.ts'

/**
 * Who is let in by HTTP, as the settings say; `undefined` when nobody has to sign in. The one place where the fronts of all programs get
 * their authenticator. Throws a `UsageError` for a file of tokens that is no good.
 */
export function createFrontAuthenticator(
  { bearerTokenFile }: FrontSettings,
  redactor: Pick<Redactor, 'add'>,
): Authenticate | undefined {
  if (bearerTokenFile === undefined) return undefined
  const tokens = readBearerTokens(bearerTokenFile)
  for (const secret of tokens.secrets) redactor.add(secret)
  return createBearerAuthenticator((token) => tokens.verify(token))
}
