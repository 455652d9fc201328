import { type AppContext, type ExitCode, ExitError, exitCode, printOut, UsageError } from '@atenea/cli'
import { logDiagnostics } from '@atenea/fronts'
import { createRevisionPolicy, revisionsOf, TransportError } from '@atenea/mcpcompat'
import { connectHttp, HttpAuthError } from '@atenea/transport-http'
import { createNodeSend } from '@atenea/transport-http/node'
import { OAuthError, type SignIn, serverName, signOut } from '@atenea/transport-http/oauth'
import type { CommandLine } from '../command-line.ts'
import { version } from '../version.ts'
import { signInOf } from './read-sign-in.ts'
import { createSignIn, identityOf, signInStore } from './sign-ins.ts'

/** `login URL`: somebody signs in now, for every proxy of this user. */
export async function login(
  commandLine: CommandLine,
  words: readonly string[],
  context: AppContext,
): Promise<ExitCode> {
  const { values } = commandLine
  const { environment, redactor, shutdown } = context
  const url = serverUrl('login', words)
  const setting = signInOf(values, environment)
  if (setting.way === 'never' || setting.tokenFile !== undefined) {
    throw new UsageError('login signs in: leave out --sign-in never and --token-file')
  }
  const logger = context.log(values['log-level'] ?? 'warning', values['log-format'] ?? 'text')
  const store = signInStore(environment)
  // Who asks for it now wants to be asked, whatever came of it before.
  await store.setFailure(url, undefined)
  const before = await store.get(url)
  using send = createNodeSend()
  using authorizer = createSignIn(
    url,
    setting,
    { environment, redactor, send, onDiagnostic: logDiagnostics(logger) },
    true,
  )
  try {
    await using _connection = await connectHttp(url, {
      policy: createRevisionPolicy({ legacy: revisionsOf('legacy') }),
      info: { name: 'atenea-proxy', version },
      authorization: authorizer,
      openStream: false,
      send,
      signal: shutdown,
    })
  } catch (error) {
    throw loginFailure(error)
  }
  const signIn = await store.get(url)
  const isJson = values['log-format'] === 'json'
  if (isJson) printOut(`${JSON.stringify(signIn === undefined ? { server: url, signedIn: false } : shown(signIn))}\n`)
  else if (signIn === undefined) printOut(`${url} wants no sign-in.\n`)
  else
    printOut(
      `${before?.accessToken === signIn.accessToken ? 'Signed in already' : 'Signed in'} at ${url}, by ${signIn.issuer}.\n`,
    )
  return exitCode.ok
}

function loginFailure(error: unknown): unknown {
  if (!TransportError.is(error)) return error
  const isRefused = OAuthError.is(error) || HttpAuthError.is(error)
  return new ExitError(
    isRefused && error.kind === 'auth' ? exitCode.authRequired : exitCode.unreachable,
    error.message,
    {
      cause: error,
    },
  )
}

/** `logout URL`: the sign-in is revoked and forgotten. */
export async function logout(
  commandLine: CommandLine,
  words: readonly string[],
  context: AppContext,
): Promise<ExitCode> {
  const { environment, shutdown } = context
  const url = serverUrl('logout', words)
  using send = createNodeSend()
  const identity = identityOf(signInOf(commandLine.values, environment))
  const ended = await signOut(url, { store: signInStore(environment), identity, send, signal: shutdown })
  if (ended === undefined)
    throw new ExitError(exitCode.failed, `nobody is signed in at ${url}; see: atenea-proxy accounts`)
  const { signIn, revoked, cause } = ended
  const reason = cause instanceof Error ? ` (${cause.message})` : ''
  const rest = revoked ? '' : ` ${signIn.issuer} was not told${reason}, so that what it issued is good until it ends.`
  printOut(`Signed out of ${url}.${rest}\n`)
  return exitCode.ok
}

/** `accounts`: where this user is signed in. */
export async function accounts(
  { values }: CommandLine,
  words: readonly string[],
  { environment }: AppContext,
): Promise<ExitCode> {
  if (words.length > 0) throw new UsageError('accounts takes no words')
  const signIns = [...(await signInStore(environment).list())].sort((a, b) => (a.server < b.server ? -1 : 1))
  if (values['log-format'] === 'json') printOut(`${JSON.stringify(signIns.map(shown))}\n`)
  else printOut(signIns.length === 0 ? 'Nobody is signed in anywhere.\n' : signIns.map(accountText).join(''))
  return exitCode.ok
}

/** What may be seen of a sign-in. */
function shown({
  server,
  issuer,
  clientId,
  scope,
  requestedScopes,
  signedInAt,
  expiresAt,
  refreshToken,
}: SignIn): object {
  return {
    server,
    issuer,
    clientId,
    scope: scope ?? requestedScopes?.join(' '),
    signedInAt: new Date(signedInAt).toISOString(),
    accessEndsAt: expiresAt === undefined ? undefined : new Date(expiresAt).toISOString(),
    renewable: refreshToken !== undefined,
  }
}

function accountText(signIn: SignIn): string {
  const { server, issuer, scope, requestedScopes, signedInAt, expiresAt, refreshToken } = signIn
  const scopes = scope ?? requestedScopes?.join(' ')
  const end =
    refreshToken !== undefined
      ? 'renewed by itself'
      : expiresAt === undefined
        ? 'its end is not known'
        : `${expiresAt < Date.now() ? 'ended' : 'ends'} ${new Date(expiresAt).toISOString()}`
  return `${server}\n  by ${issuer}, since ${new Date(signedInAt).toISOString()}, ${end}${scopes === undefined ? '' : `; scopes: ${scopes}`}\n`
}

function serverUrl(word: string, words: readonly string[]): string {
  const [url, ...more] = words
  if (url === undefined || more.length > 0 || !URL.canParse(url) || !/^https?:/i.test(url)) {
    throw new UsageError(`${word} takes the URL of one server, such as: atenea-proxy ${word} https://example.com/mcp`)
  }
  return serverName(url)
}
