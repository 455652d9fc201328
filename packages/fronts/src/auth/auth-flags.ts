import { type Flag, flag } from '@atenea/cli'

/** Flags for HTTP fronts whose clients sign in at an authorization server. */
export const authFlags: Readonly<{
  'auth-issuer': Flag<string>
  'auth-audience': Flag<readonly string[]>
  'auth-resource': Flag<string>
  'auth-scope': Flag<readonly string[]>
  'auth-client-id': Flag<string>
  'auth-client-secret-file': Flag<string>
}> = {
  'auth-issuer': flag.text('URL', 'serve HTTP to clients that send an access token of this OAuth authorization server'),
  'auth-audience': flag.texts(
    'URL',
    'what those tokens must be issued for: the URL of the endpoint as clients know it, such as https://example.com/mcp',
  ),
  'auth-resource': flag.text('URL', 'that URL, where the audience is another name', { default: 'the first audience' }),
  'auth-scope': flag.texts('SCOPE', 'a scope that those tokens must have'),
  'auth-client-id': flag.text(
    'ID',
    'ask the authorization server about each token, as this client, in place of verifying its signature',
  ),
  'auth-client-secret-file': flag.text('FILE', 'a file with the secret of that client'),
}
