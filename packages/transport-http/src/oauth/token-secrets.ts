/** Parameters of requests that an answer may repeat without harm. */
const harmless: ReadonlySet<string> = new Set([
  'grant_type',
  'client_id',
  'redirect_uri',
  'resource',
  'scope',
  'audience',
  'token_type_hint',
  'subject_token_type',
  'requested_token_type',
  'client_assertion_type',
])

/** What of a request to an authorization server must not come back in a message: codes, tokens, verifiers, secrets. */
export function secretsOf(body: URLSearchParams): readonly string[] {
  return [...body].flatMap(([name, value]) => (harmless.has(name) || value.length < 6 ? [] : [value]))
}
