import type { AuthChallenge } from '../report.ts'

/** What is shown of a refusal and of the way to a token, for people. */
export function factsOfAuth(challenge: AuthChallenge): readonly (readonly [string, string | undefined])[] {
  const { status, scheme, parameters, resourceMetadata, authorization, signedIn } = challenge
  const { issuers, scopes, registration, flows, documents = [] } = authorization ?? {}
  return [
    ['status', String(status)],
    ['scheme', scheme ?? 'no challenge was sent'],
    ...Object.entries(parameters),
    ['metadata', parameters['resource_metadata'] === undefined ? resourceMetadata : undefined],
    ...documents.map(({ document, url, status: answered, outcome }): readonly [string, string] => [
      document === 'resource' ? 'about itself' : 'about its issuer',
      `${url}: ${outcome}${answered === undefined ? '' : ` (${answered})`}`,
    ]),
    ['issuers', listed(issuers)],
    ['all scopes', listed(scopes)],
    ['registration', listed(registration)],
    ['sign-in by', listed(flows)],
    ['signed in', signedIn === undefined ? undefined : signedIn ? 'yes' : 'no'],
  ]
}

function listed(items: readonly string[] | undefined): string | undefined {
  return items === undefined || items.length === 0 ? undefined : items.join(', ')
}
