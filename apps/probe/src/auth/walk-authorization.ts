import type { AuthChallenge as Challenge, HttpSend } from '@atenea/transport-http'
import {
  discoverIssuer,
  discoverResource,
  type DiscoverOptions,
  type DiscoveryStep,
  type IssuerInfo,
  OAuthError,
  OAuthHttp,
  type ResourceInfo,
} from '@atenea/transport-http/oauth'
import type { FindingId } from '../findings/catalog.ts'
import type { Recorder } from '../recorder.ts'
import type { AuthorizationReport } from '../report.ts'

export interface WalkOptions {
  /** The server that wants credentials. */
  readonly url: string
  readonly status: number
  readonly challenges: readonly Challenge[]
  readonly send: HttpSend
  readonly signal: AbortSignal
  readonly recorder: Recorder
}

/**
 * Walks the way that a client takes to a token, as far as its documents go, and records each defect on it: from the challenge to the metadata
 * of the resource, and to those of every authorization server. `undefined` for a server that wants something else than OAuth.
 */
export async function walkAuthorization(options: WalkOptions): Promise<AuthorizationReport | undefined> {
  const { url, status, challenges, send, signal, recorder } = options
  const isOAuth = challenges.some(({ scheme }) => scheme === 'bearer' || scheme === 'dpop')
  if (!isOAuth && (status !== 401 || challenges.length > 0)) return undefined
  recorder.doing('sign-in: metadata')
  if (challenges.length === 0) {
    recorder.found('auth-challenge-missing', { evidence: `${url} answers 401 without WWW-Authenticate` })
  }
  const documents: AuthorizationReport['documents'][number][] = []
  const discover: DiscoverOptions = {
    http: new OAuthHttp({ send, serverUrl: url }),
    signal,
    onStep: (step) => documents.push(shown(step, recorder)),
  }
  const resource = await attempt(
    recorder,
    resourceFinding,
    async () => await discoverResource(url, challenges, discover),
  )
  if (resource === undefined) return { documents, issuers: [], registration: [], flows: [] }
  judgeResource(resource, challenges, documents, recorder)
  const issuers: IssuerInfo[] = []
  for (const name of resource.issuers) {
    const legacy = resource.metadata === undefined
    const issuer = await attempt(
      recorder,
      issuerFinding,
      async () => await discoverIssuer(name, { ...discover, legacy }),
    )
    if (issuer === undefined) continue
    issuers.push(issuer)
    judgeIssuer(issuer, recorder)
  }
  return {
    documents,
    resource: recorder.clean(resource.resource),
    issuers: resource.issuers.map((name) => recorder.clean(name)),
    ...(resource.scopes !== undefined && { scopes: resource.scopes.map((scope) => recorder.clean(scope, 100)) }),
    registration: unique(issuers.flatMap(registrationOf)),
    flows: unique(issuers.flatMap(flowsOf)),
  }
}

type FindingOf = (error: OAuthError) => FindingId

/** Records why a document could not be used. */
async function attempt<T>(recorder: Recorder, findingOf: FindingOf, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (!OAuthError.is(error)) throw error
    recorder.found(findingOf(error), { evidence: error.message })
    return undefined
  }
}

const resourceFinding: FindingOf = ({ code }) =>
  code === 'resource-mismatch'
    ? 'auth-resource-mismatch'
    : code === 'forbidden-url'
      ? 'auth-insecure-url'
      : code === 'unreachable'
        ? 'auth-metadata-unreachable'
        : 'auth-metadata-invalid'

const issuerFinding: FindingOf = ({ code }) =>
  code === 'issuer-mismatch'
    ? 'auth-issuer-mismatch'
    : code === 'forbidden-url'
      ? 'auth-insecure-url'
      : code === 'unreachable'
        ? 'auth-metadata-unreachable'
        : 'auth-issuer-metadata'

function judgeResource(
  { metadata }: ResourceInfo,
  challenges: readonly Challenge[],
  documents: AuthorizationReport['documents'],
  recorder: Recorder,
): void {
  const asked = documents.map(({ url, status }) => `${url} → ${status ?? 'nothing'}`).join(', ')
  const named = challenges.some(({ parameters }) => parameters.has('resource_metadata'))
  if (metadata === undefined) recorder.found('auth-metadata-missing', { evidence: asked })
  else if (named && documents[0]?.outcome === 'absent') recorder.found('auth-metadata-misplaced', { evidence: asked })
}

function judgeIssuer({ issuer, metadata, legacy }: IssuerInfo, recorder: Recorder): void {
  const subject = issuer
  if (metadata.code_challenge_methods_supported?.includes('S256') !== true) {
    const said = JSON.stringify(metadata.code_challenge_methods_supported ?? null)
    recorder.found('auth-pkce-missing', { subject, evidence: `code_challenge_methods_supported: ${said}` })
  }
  if (metadata.token_endpoint === undefined) {
    recorder.found('auth-issuer-metadata', { subject, evidence: 'no token_endpoint' })
  }
  if (!legacy && registrationOf({ issuer, metadata, legacy }).length === 0) {
    recorder.found('auth-registration-missing', {
      subject,
      evidence: 'neither registration_endpoint nor client_id_metadata_document_supported',
    })
  }
}

function registrationOf({ metadata }: IssuerInfo): AuthorizationReport['registration'] {
  return [
    ...(metadata['client_id_metadata_document_supported'] === true ? (['client-id-metadata-document'] as const) : []),
    ...(metadata.registration_endpoint === undefined ? [] : (['dynamic'] as const)),
  ]
}

function flowsOf({ metadata }: IssuerInfo): AuthorizationReport['flows'] {
  const grants = metadata.grant_types_supported ?? []
  return [
    ...(metadata.authorization_endpoint === undefined ? [] : (['browser'] as const)),
    ...(metadata.device_authorization_endpoint === undefined ? [] : (['device'] as const)),
    ...(grants.includes('client_credentials') ? (['client-credentials'] as const) : []),
  ]
}

function shown(
  { document, url, status, outcome }: DiscoveryStep,
  recorder: Recorder,
): AuthorizationReport['documents'][number] {
  return { document, url: recorder.clean(url), ...(status !== undefined && { status }), outcome }
}

function unique<T>(items: readonly T[]): readonly T[] {
  return [...new Set(items)]
}
