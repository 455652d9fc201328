import type { OAuthClient } from '../client-auth.ts'
import { discoverIssuer } from '../discovery.ts'
import { OAuthError } from '../oauth-error.ts'
import { type Flow, type FlowContext, requestTokens } from './flow.ts'
import { exchangeAssertion } from './workload-flow.ts'

export interface CreateEnterpriseFlowOptions {
  /** The identity provider of the organisation, where its people are signed in already. */
  readonly identityProvider: string
  /** Who we are there. */
  readonly client: OAuthClient
  /** The ID token of the one who is signed in; asked for anew each time. */
  readonly idToken: () => string | Promise<string>
}

const exchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange'
const idTokenType = 'urn:ietf:params:oauth:token-type:id_token'
const grantType = 'urn:ietf:params:oauth:token-type:id-jag'

/**
 * Enterprise-managed authorization: the identity provider exchanges the ID token for a grant for one authorization server (RFC 8693), which
 * exchanges that for its tokens (RFC 7523). Nobody is asked.
 */
export function createEnterpriseFlow(options: CreateEnterpriseFlowOptions): Flow {
  return {
    interactive: false,
    run: async (context) =>
      await exchangeAssertion(context, await identityGrant(context, options), 'the grant of the identity provider'),
  }
}

async function identityGrant(
  context: FlowContext,
  { identityProvider, client, idToken }: CreateEnterpriseFlowOptions,
): Promise<string> {
  const { http, signal, issuer, resource, scopes } = context
  const provider = await discoverIssuer(identityProvider, { http, signal, legacy: false })
  const subject = await idToken()
  const answer = await requestTokens({ http, signal, issuer: provider, dpop: undefined }, client, {
    what: 'the ID token',
    request: (oauth, known, auth, requestOptions) =>
      oauth.genericTokenEndpointRequest(
        provider.metadata,
        known,
        auth,
        exchangeGrant,
        {
          requested_token_type: grantType,
          subject_token: subject,
          subject_token_type: idTokenType,
          audience: issuer.issuer,
          resource,
          ...(scopes !== undefined && { scope: scopes.join(' ') }),
        },
        requestOptions,
      ),
    // A grant is no access token, which its type says.
    read: (oauth, known, response) =>
      oauth.processGenericTokenEndpointResponse(provider.metadata, known, response, {
        recognizedTokenTypes: { n_a: () => undefined },
      }),
  })
  if (answer['issued_token_type'] !== grantType) {
    throw new OAuthError(
      'invalid-response',
      `${identityProvider} answered with a token of another type than was asked for.`,
    )
  }
  return answer.access_token
}
