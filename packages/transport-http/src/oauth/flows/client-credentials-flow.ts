import { OAuthError } from '../oauth-error.ts'
import { type Flow, type FlowContext, type FlowResult, requestTokens } from './flow.ts'

/** A program signs in as itself: with the secret or the private key of its configured client. */
export function createClientCredentialsFlow(): Flow {
  return { interactive: false, run: signIn }
}

async function signIn(context: FlowContext): Promise<FlowResult> {
  const { issuer, resource, scopes } = context
  const client = await context.knownClient()
  if (client === undefined || (client.clientSecret === undefined && client.privateKeyPem === undefined)) {
    throw new OAuthError(
      'no-registration',
      `Signing in at ${issuer.issuer} as a program needs a configured client with a secret or a private key.`,
    )
  }
  const tokens = await requestTokens(context, client, {
    what: 'the credentials of the client',
    request: (oauth, known, auth, options) =>
      oauth.clientCredentialsGrantRequest(
        issuer.metadata,
        known,
        auth,
        { resource, ...(scopes !== undefined && { scope: scopes.join(' ') }) },
        options,
      ),
    read: (oauth, known, response) => oauth.processClientCredentialsResponse(issuer.metadata, known, response),
  })
  return { client, tokens }
}
