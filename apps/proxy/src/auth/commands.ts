import {
  type AppContext,
  type ExitCode,
  ExitError,
  exitCode,
  printable,
  printOut,
  stateDir,
  UsageError,
} from '@atenea/cli'
import { logDiagnostics } from '@atenea/fronts'
import { createRevisionPolicy, revisionsOf, TransportError } from '@atenea/mcpcompat'
import { connectHttp, HttpAuthError } from '@atenea/transport-http'
import { createNodeSend } from '@atenea/transport-http/node'
import { OAuthError, type SignIn, serverName, signOut } from '@atenea/transport-http/oauth'
import type { CommandLine } from '../command-line.ts'
import { version } from '../version.ts'
import { signInOf } from './read-sign-in.ts'
import { readSettings } from '../config/read-settings.ts'
import { createSignIn, identityOf, signInStore, type SignInTarget } from './sign-ins.ts'

/** `login URL`: somebody signs in now, for every proxy of this user. */
export async function login(
  commandLine: CommandLine,
  words: readonly string[],
  context: AppContext,
): Promise<ExitCode> {
  const { values } = commandLine
  const { environment, redactor, shutdown } = context
  const named = await targetOf('login', commandLine, words, environment)
  const { url, setting } = named
  if (setting.tokenFile !== undefined)
    throw new UsageError(`the token for ${url} comes from ${setting.tokenFile}; nobody signs in`)
  // What a proxy must not do by itself is what somebody asks for here.
  const target = { ...named, setting: { ...setting, way: setting.way === 'never' ? 'auto' : setting.way } } as const
  // Without a place to keep it nobody would have anything of it.
  stateDir(environment)
  const logger = context.log(values['log-level'] ?? 'warning', values['log-format'] ?? 'text')
  const store = signInStore(environment)
  // Who asks for it now wants to be asked, whatever came of it before.
  await told(store.setFailure(url, undefined))
  const before = await told(store.get(url))
  using send = createNodeSend()
  const around = { environment, redactor, send, onDiagnostic: logDiagnostics(logger), config: values.config }
  using authorizer = createSignIn(target, around, true)
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
    // Somebody does not want to any more.
    if (shutdown.aborted) return exitCode.failed
    throw loginFailure(error)
  }
  const signIn = await told(store.get(url))
  const isJson = values['log-format'] === 'json'
  if (isJson) printOut(`${JSON.stringify(signIn === undefined ? { server: url, signedIn: false } : shown(signIn))}\n`)
  else if (signIn === undefined) printOut(`${url} wants no sign-in.\n`)
  else
    printOut(
      `${before?.accessToken === signIn.accessToken ? 'Signed in already' : 'Signed in'} at ${url}, by ${signIn.issuer}.\n`,
    )
  return exitCode.ok
}

/** A place where sign-ins cannot be read or kept is no surprise, and its user can mend it. */
async function told<T>(work: Promise<T>): Promise<T> {
  return await work.catch((error: unknown) => {
    throw OAuthError.is(error) ? new ExitError(exitCode.failed, error.message, { cause: error }) : error
  })
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
  const { url, setting } = await targetOf('logout', commandLine, words, environment)
  using send = createNodeSend()
  const identity = identityOf(setting)
  const store = signInStore(environment)
  const ended = await signOut(url, { store, identity, send, signal: shutdown }).catch((error: unknown) => {
    if (!shutdown.aborted) throw loginFailure(error)
    return 'given up' as const
  })
  if (ended === 'given up') return exitCode.failed
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
  const signIns = [...(await told(signInStore(environment).list()))].sort((a, b) => (a.server < b.server ? -1 : 1))
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
  const granted = scopes === undefined ? '' : `; scopes: ${printable(scopes)}`
  return `${server}\n  by ${issuer}, since ${new Date(signedInAt).toISOString()}, ${end}${granted}\n`
}

/** The server that a command is about: a URL, or the name or the URL of one in a configuration. */
async function targetOf(
  word: string,
  commandLine: CommandLine,
  words: readonly string[],
  environment: AppContext['environment'],
): Promise<SignInTarget> {
  const { values } = commandLine
  const [name, ...more] = words
  if (name === undefined || more.length > 0) {
    throw new UsageError(`${word} takes one server, such as: atenea-proxy ${word} https://example.com/mcp`)
  }
  if (values.config === undefined) {
    return { name, url: serverUrl(word, name), setting: signInOf(values, environment) }
  }
  const { settings } = await readSettings({
    commandLine: { ...commandLine, positionals: [] },
    command: undefined,
    environment,
  })
  for (const { name: known, target, signIn } of settings.backends) {
    const isHttp = target.kind === 'http' || target.kind === 'sse'
    if (isHttp && (known === name || target.url === name)) {
      return { name: known, url: serverUrl(word, target.url), setting: signIn }
    }
  }
  throw new UsageError(`${values.config} names no server ${JSON.stringify(name)} that is reached by HTTP`)
}

function serverUrl(word: string, url: string): string {
  if (!URL.canParse(url) || !/^https?:/i.test(url)) {
    throw new UsageError(`${word} takes the URL of a server, or its name and --config FILE, not ${JSON.stringify(url)}`)
  }
  return serverName(url)
}
