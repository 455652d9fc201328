import type { JsonObject } from '@atenea/mcpcompat'
import { guardedUrl } from '../oauth/guarded-url.ts'
import { issuerMetadataUrls } from '../oauth/well-known.ts'
import { safeUrl } from '../safe-url.ts'
import type { AskJson } from './ask-json.ts'

/** What an authorization server says of itself, as far as whoever checks its tokens has to know. */
export interface IssuerMetadata {
  readonly jwksUri: string | undefined
  readonly introspectionEndpoint: string | undefined
  /** Ways to authenticate there; the default of RFC 8414 when it names none. */
  readonly introspectionAuthMethods: readonly string[]
}

/**
 * Finds the metadata of an issuer (RFC 8414, OpenID Connect Discovery). A document that calls its issuer anything else is not used. The
 * error says, for the operator, what each place answered.
 */
export async function discoverIssuer(issuer: string, ask: AskJson): Promise<IssuerMetadata> {
  const faults: string[] = []
  for (const url of issuerMetadataUrls(issuer)) {
    const found = await ask({ method: 'GET', url }).then(
      ({ status, value }) =>
        status === 200 && value !== undefined ? value : `${url} answers ${status} without metadata`,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    )
    if (typeof found === 'string') faults.push(found)
    else if (found['issuer'] !== issuer) {
      faults.push(`${url} is of the issuer ${JSON.stringify(found['issuer'])}, which is not ${JSON.stringify(issuer)}`)
    } else return read(found, issuer)
  }
  throw new Error(`No metadata of ${safeUrl(issuer)}: ${faults.join('; ')}`)
}

function read(document: JsonObject, issuer: string): IssuerMetadata {
  const methods = document['introspection_endpoint_auth_methods_supported']
  return {
    jwksUri: endpoint(document, 'jwks_uri', issuer),
    introspectionEndpoint: endpoint(document, 'introspection_endpoint', issuer),
    introspectionAuthMethods: Array.isArray(methods) ? methods.map(String) : ['client_secret_basic'],
  }
}

function endpoint(document: JsonObject, name: string, issuer: string): string | undefined {
  const url = document[name]
  if (url === undefined) return undefined
  return guardedUrl(typeof url === 'string' ? url : '', `${name} of the issuer`, issuer).href
}
