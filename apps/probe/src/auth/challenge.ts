import { parseChallenges } from '@atenea/transport-http'
import type { AuthChallenge } from '../report.ts'
import type { HttpPart } from '../wire/answer.ts'

/** What a refusal says about how to get in (MC-AUTH-03). `redact` takes secrets out of what the server repeats. */
export function challengeOf(http: HttpPart, redact: (text: string) => string): AuthChallenge {
  const [first] = parseChallenges(http.headers['www-authenticate'])
  const parameters = [...(first?.parameters ?? [])].map(([name, value]) => [name, redact(value).slice(0, 500)])
  const metadata = first?.parameters.get('resource_metadata')
  return {
    status: http.status,
    ...(first !== undefined && { scheme: first.scheme }),
    parameters: Object.fromEntries(parameters) as Record<string, string>,
    ...(metadata !== undefined && { resourceMetadata: redact(metadata) }),
  }
}

/** The challenge in one line for people. */
export function describeChallenge({ status, scheme, parameters, resourceMetadata }: AuthChallenge): string {
  if (scheme === undefined) return `${status} without a WWW-Authenticate challenge`
  const { error, error_description: description, scope } = parameters
  const parts = [
    `${status}, scheme ${scheme}`,
    error === undefined ? undefined : `error ${error}${description === undefined ? '' : ` (${description})`}`,
    scope === undefined ? undefined : `scope ${scope}`,
    resourceMetadata === undefined ? undefined : `metadata at ${resourceMetadata}`,
  ]
  return parts.filter((part) => part !== undefined).join(', ')
}
