import { type Flags, flag } from '@atenea/cli'
import { signInWays } from './sign-in-setting.ts'

/** How to come to tokens for servers that want some. Of one server; a configuration has `signIn` for each. */
export const signInFlags = {
  'sign-in': flag.choice(
    signInWays,
    'how to sign in where a server wants it: with a browser, with another device and a code, or as a program of its own (client)',
    { default: 'auto, which asks somebody where there is a browser or a terminal' },
  ),
  'token-file': flag.text('FILE', 'a file that holds the access token; read anew when it has changed'),
  'oauth-client-id': flag.text('ID', 'a client that was registered at the authorization server by hand'),
  'oauth-client-secret-file': flag.text('FILE', 'its secret; or put it into ATENEA_OAUTH_CLIENT_SECRET'),
  'oauth-private-key-file': flag.text('FILE', 'its private key (PKCS #8 PEM), in place of a secret'),
  'oauth-key-algorithm': flag.text('ALG', 'the algorithm of that key', { default: 'ES256' }),
  'oauth-issuer': flag.text('URL', 'the authorization server where it is registered; it is used with no other'),
  'oauth-client-metadata-url': flag.text(
    'URL',
    'a client-ID metadata document, for authorization servers that take one',
  ),
  'oauth-scope': flag.texts('SCOPE', 'asked for beside what the server wants'),
} satisfies Flags

export const signInEnvironment: readonly (readonly [string, string])[] = [
  ['ATENEA_OAUTH_CLIENT_SECRET', 'the secret of the client that --oauth-client-id names'],
  ['BROWSER', 'the command that shows a page to sign in; the word none for no browser'],
]
