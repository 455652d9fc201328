import { readTextFile, type Redactor, UsageError } from '@atenea/cli'
import type { OnDiagnostic } from '@atenea/mcpcompat'
import { type Authenticate, createBearerAuthenticator, type ProtectedResource } from '@atenea/transport-http'
import { createNodeSend } from '@atenea/transport-http/node'
import type { ResourceServer } from '@atenea/transport-http/resource-server'
import type { AuthSettings, IntrospectionSettings } from '../auth/auth-settings.ts'
import type { FrontSettings } from '../front-settings.ts'
import { type BearerTokens, readBearerTokens } from './bearer-tokens.ts'

/** Who is let in by HTTP. */
export interface FrontAuth extends Disposable {
  readonly authenticate: Authenticate
  /** Leads clients to the authorization server, where there is one. */
  readonly protectedResource: ProtectedResource | undefined
}

export interface CreateFrontAuthOptions {
  /** Gets every secret that is read. */
  readonly redactor: Pick<Redactor, 'add'>
  readonly onDiagnostic: OnDiagnostic
}

/**
 * Who is let in by HTTP, as the settings say: holders of a token of the file, or of one of the authorization server; `undefined` when
 * nobody has to sign in. The one place where the fronts of all programs get their authenticator. The authorization server is asked for
 * its keys at once, but nobody waits for it. Rejects with a `UsageError` for settings that cannot work.
 */
export async function createFrontAuth(
  { bearerTokenFile, auth }: Pick<FrontSettings, 'bearerTokenFile' | 'auth'>,
  { redactor, onDiagnostic }: CreateFrontAuthOptions,
): Promise<FrontAuth | undefined> {
  if (bearerTokenFile === undefined && auth === undefined) return undefined
  const tokens: BearerTokens | undefined = bearerTokenFile === undefined ? undefined : readBearerTokens(bearerTokenFile)
  for (const secret of tokens?.secrets ?? []) redactor.add(secret)
  const send = auth && createNodeSend()
  const server = auth && (await createServer(auth, { redactor, onDiagnostic, send }))
  void server?.prepare()
  return {
    authenticate: createBearerAuthenticator(
      (token, request) => tokens?.verify(token) ?? server?.verify(token, request),
      {
        scopes: server?.scopes,
      },
    ),
    protectedResource: server?.protectedResource,
    [Symbol.dispose]: () => send?.[Symbol.dispose](),
  }
}

async function createServer(
  { issuer, audiences, resource, scopes, offeredScopes, jwksUri, algorithms, introspection }: AuthSettings,
  {
    redactor,
    onDiagnostic,
    send,
  }: CreateFrontAuthOptions & { readonly send: ReturnType<typeof createNodeSend> | undefined },
): Promise<ResourceServer> {
  const { createResourceServer } = await import('@atenea/transport-http/resource-server')
  const client = introspection && { ...introspection, clientSecret: readSecret(introspection) }
  redactor.add(client?.clientSecret)
  try {
    return createResourceServer({
      issuer,
      audience: audiences,
      resource,
      requiredScopes: scopes,
      offeredScopes,
      jwksUri,
      algorithms,
      introspection: client,
      send,
      onDiagnostic,
    })
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(`about signing in by HTTP: ${error.message}`, { cause: error })
    throw error
  }
}

function readSecret({ clientSecret, clientSecretFile }: IntrospectionSettings): string {
  if (clientSecretFile === undefined) return clientSecret ?? ''
  const text = readTextFile(clientSecretFile, 'the client secret').trim()
  if (text === '' || /[\r\n]/.test(text))
    throw new UsageError(`${clientSecretFile} must hold one secret and nothing else`)
  return text
}
