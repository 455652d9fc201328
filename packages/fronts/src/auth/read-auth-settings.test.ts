import { parseFlags, UsageError } from '@atenea/cli'
import { describe, expect, test } from 'vitest'
import type { AuthConfig } from '../config/front-config.ts'
import { authFlags } from './auth-flags.ts'
import type { AuthSettings } from './auth-settings.ts'
import { readAuthSettings } from './read-auth-settings.ts'

function read(args: string, config?: AuthConfig, environment = {}): AuthSettings | undefined {
  const { values } = parseFlags(authFlags, args === '' ? [] : args.split(' '))
  return readAuthSettings(values, config, '/etc/atenea', environment)
}

const issuer = 'https://auth.example.com'
const audience = 'https://mcp.example.com/mcp'
const base = { issuer, audience }
const plain: AuthSettings = {
  issuer,
  audiences: [audience],
  resource: undefined,
  scopes: [],
  offeredScopes: [],
  jwksUri: undefined,
  algorithms: undefined,
  introspection: undefined,
}

describe('whose tokens are taken', () => {
  test('nobody’s, unless an authorization server is named', () => {
    expect(read('')).toBeUndefined()
    expect(read(`--auth-issuer ${issuer} --auth-audience ${audience}`)).toEqual(plain)
    expect(read('', base)).toEqual(plain)
  })

  test('flags win over the file, one by one', () => {
    const config: AuthConfig = {
      ...base,
      scopes: ['a'],
      offeredScopes: ['b'],
      algorithms: ['ES256'],
      resource: audience,
    }
    expect(read('--auth-audience api://x --auth-audience api://y --auth-scope c --auth-scope d', config)).toEqual({
      ...plain,
      audiences: ['api://x', 'api://y'],
      resource: audience,
      scopes: ['c', 'd'],
      offeredScopes: ['b'],
      algorithms: ['ES256'],
    })
  })

  test('the secret of introspection is in a file, relative to where it was named, or in the environment', () => {
    const config: AuthConfig = { ...base, introspection: { clientId: 'front', clientSecretFile: 'secret' } }
    expect(read('', config)?.introspection).toMatchObject({ clientSecretFile: '/etc/atenea/secret' })
    const variable = { ATENEA_AUTH_CLIENT_SECRET: 's' }
    expect(read('--auth-client-id me', base, variable)?.introspection).toEqual({
      clientId: 'me',
      clientSecret: 's',
      clientSecretFile: undefined,
      endpoint: undefined,
    })
  })

  test.each<[string, AuthConfig | undefined, RegExp]>([
    [`--auth-audience ${audience}`, undefined, /--auth-audience needs an authorization server/],
    ['--auth-scope a', undefined, /--auth-scope needs an authorization server/],
    ['', { audience }, /auth needs an authorization server/],
    [`--auth-issuer ${issuer}`, undefined, /needs --auth-audience/],
    ['', { issuer, audience: [] }, /needs --auth-audience/],
    ['--auth-client-id me', base, /needs a secret/],
    ['--auth-client-secret-file x', base, /needs --auth-client-id/],
  ])('%s with %j says what is missing', (args, config, message) => {
    expect(() => read(args, config)).toThrow(UsageError)
    expect(() => read(args, config)).toThrow(message)
  })
})
