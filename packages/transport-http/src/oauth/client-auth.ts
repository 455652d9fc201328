import type { AuthorizationServer, ClientAuth } from 'oauth4webapi'
import { basicAuthorization } from '../auth/basic.ts'
import { OAuthError } from './oauth-error.ts'

/** How a client shows at the token endpoint who it is. */
export type ClientAuthMethod = 'none' | 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt'

/** A client as an authorization server knows it. */
export interface OAuthClient {
  readonly clientId: string
  readonly clientSecret?: string | undefined
  /** In PEM (PKCS #8), for `private_key_jwt`. */
  readonly privateKeyPem?: string | undefined
  /** Algorithm of that key, such as `ES256`. */
  readonly algorithm?: string | undefined
  readonly authMethod?: ClientAuthMethod | undefined
}

/** The method that fits what the client has and the authorization server takes. */
export function authMethodOf(client: OAuthClient, server: AuthorizationServer): ClientAuthMethod {
  if (client.authMethod !== undefined) return client.authMethod
  if (client.privateKeyPem !== undefined) return 'private_key_jwt'
  if (client.clientSecret === undefined) return 'none'
  // Without a word of the server it is the basic one (RFC 8414, section 2).
  const taken = server.token_endpoint_auth_methods_supported
  return taken?.includes('client_secret_post') === true && !taken.includes('client_secret_basic')
    ? 'client_secret_post'
    : 'client_secret_basic'
}

/** What adds the proof to a request. */
export async function clientAuth(client: OAuthClient, server: AuthorizationServer): Promise<ClientAuth> {
  const method = authMethodOf(client, server)
  switch (method) {
    case 'none':
      return (_server, { client_id: id }, body) => body.set('client_id', id)
    case 'client_secret_post': {
      const secret = secretOf(client)
      return (_server, { client_id: id }, body) => {
        body.set('client_id', id)
        body.set('client_secret', secret)
      }
    }
    case 'client_secret_basic': {
      const secret = secretOf(client)
      return (_server, { client_id: id }, _body, headers) =>
        headers.set('authorization', basicAuthorization(id, secret))
    }
    case 'private_key_jwt':
      return await privateKeyJwt(client)
  }
}

async function privateKeyJwt({ privateKeyPem, algorithm = 'ES256' }: OAuthClient): Promise<ClientAuth> {
  if (privateKeyPem === undefined) throw new TypeError('A client with private_key_jwt needs a private key')
  const [{ importPKCS8 }, { PrivateKeyJwt }] = await Promise.all([import('jose'), import('oauth4webapi')])
  try {
    return PrivateKeyJwt(await importPKCS8(privateKeyPem, algorithm))
  } catch (cause) {
    throw new OAuthError('no-registration', `The private key of the client cannot be read as one for ${algorithm}.`, {
      cause,
    })
  }
}

function secretOf({ clientSecret }: OAuthClient): string {
  if (clientSecret === undefined)
    throw new OAuthError('no-registration', 'The client has no secret, which its method needs.')
  return clientSecret
}
