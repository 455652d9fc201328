import { OAuthError } from '../oauth-error.ts'
import { type Flow, type FlowContext, type FlowResult, requestTokens } from './flow.ts'

const jwtBearerGrant = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

export interface CreateWorkloadFlowOptions {
  /** The JWT by which the platform vouches for this workload, for an authorization server; asked for anew each time. */
  readonly assertion: (issuer: string) => string | Promise<string>
}

/** Workload identity federation: the platform's JWT is the grant (RFC 7523). What is refused is not tried again or in another way. */
export function createWorkloadFlow({ assertion }: CreateWorkloadFlowOptions): Flow {
  return {
    interactive: false,
    run: async (context) =>
      await exchangeAssertion(context, await assertion(context.issuer.issuer), 'the JWT of the workload'),
  }
}

/** Exchanges a JWT that somebody else signed for tokens of the authorization server. */
export async function exchangeAssertion(context: FlowContext, assertion: string, what: string): Promise<FlowResult> {
  const { issuer, resource, scopes } = context
  const client = await context.knownClient()
  if (client === undefined) {
    throw new OAuthError('no-registration', `Exchanging ${what} at ${issuer.issuer} needs a configured client.`)
  }
  const tokens = await requestTokens(context, client, {
    what,
    request: (oauth, known, auth, options) =>
      oauth.genericTokenEndpointRequest(
        issuer.metadata,
        known,
        auth,
        jwtBearerGrant,
        { assertion, resource, ...(scopes !== undefined && { scope: scopes.join(' ') }) },
        options,
      ),
    read: (oauth, known, response) => oauth.processGenericTokenEndpointResponse(issuer.metadata, known, response),
  })
  return { client, tokens }
}
