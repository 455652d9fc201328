import { type ParsedFlags, UsageError } from '@atenea/cli'
import { resolve } from 'node:path'
import type { AuthConfig } from '../config/front-config.ts'
import type { authFlags } from './auth-flags.ts'
import { type AuthSettings, clientSecretVariable, type IntrospectionSettings } from './auth-settings.ts'

type AuthValues = ParsedFlags<typeof authFlags>['values']
type Environment = Readonly<Record<string, string | undefined>>

/** Whose tokens are taken; `undefined` when none of an authorization server are. Throws a `UsageError` for half a setting. */
export function readAuthSettings(
  values: AuthValues,
  config: AuthConfig | undefined,
  folder: string,
  environment: Environment,
): AuthSettings | undefined {
  const issuer = values['auth-issuer'] ?? config?.issuer
  const audiences = values['auth-audience'] ?? textsOf(config?.audience)
  if (issuer === undefined) {
    const stray = Object.entries(values).find(([name, value]) => name.startsWith('auth-') && value !== undefined)
    if (stray === undefined && config === undefined) return undefined
    throw new UsageError(
      `${stray === undefined ? 'auth' : `--${stray[0]}`} needs an authorization server: --auth-issuer URL`,
    )
  }
  if (audiences === undefined || audiences.length === 0) {
    throw new UsageError(
      '--auth-issuer needs --auth-audience: a token for somebody else would be taken otherwise. Give the URL of the endpoint as clients know it',
    )
  }
  return {
    issuer,
    audiences,
    resource: values['auth-resource'] ?? config?.resource,
    scopes: values['auth-scope'] ?? config?.scopes ?? [],
    offeredScopes: config?.offeredScopes ?? [],
    jwksUri: config?.jwksUri,
    algorithms: config?.algorithms,
    introspection: readIntrospection(values, config?.introspection, folder, environment),
  }
}

function readIntrospection(
  values: AuthValues,
  config: AuthConfig['introspection'],
  folder: string,
  environment: Environment,
): IntrospectionSettings | undefined {
  const flagged = values['auth-client-secret-file']
  const clientId = values['auth-client-id'] ?? config?.clientId
  if (clientId === undefined) {
    if (flagged === undefined) return undefined
    throw new UsageError('--auth-client-secret-file needs --auth-client-id: whose secret is it?')
  }
  const configured = config?.clientSecretFile
  const clientSecretFile =
    flagged !== undefined ? resolve(flagged) : configured !== undefined ? resolve(folder, configured) : undefined
  const clientSecret = environment[clientSecretVariable]
  if (clientSecretFile === undefined && (clientSecret === undefined || clientSecret === '')) {
    throw new UsageError(
      `--auth-client-id needs a secret: name a file with --auth-client-secret-file, or set ${clientSecretVariable}`,
    )
  }
  return { clientId, clientSecret, clientSecretFile, endpoint: config?.endpoint }
}

function textsOf(value: string | readonly string[] | undefined): readonly string[] | undefined {
  return typeof value === 'string' ? [value] : value
}
