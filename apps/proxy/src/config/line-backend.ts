import { UsageError } from '@atenea/cli'
import type { Root } from '@atenea/mcpcompat'
import { signInOf } from '../auth/read-sign-in.ts'
import type { CommandLine } from '../command-line.ts'
import type { BackendSetting } from '../settings.ts'
import { readHeaderFile, readHeaders } from './header-lines.ts'
import { readRoots } from './read-roots.ts'
import { commandTarget, type NamedTarget, urlTarget, wordTarget } from './read-target.ts'

export interface ReadLineOptions {
  readonly commandLine: CommandLine
  /** What stood after `--`. */
  readonly command: readonly string[] | undefined
  readonly environment: Readonly<Record<string, string | undefined>>
}

type Values = CommandLine['values']

/** The one server that the command line names. Throws a `UsageError` when it names none or several, or says what does not fit. */
export function readLineBackend(options: ReadLineOptions): BackendSetting {
  const { values } = options.commandLine
  const { name, target } = namedTarget(options)
  const headers = {
    ...(values['header-file'] !== undefined && readHeaderFile(values['header-file'])),
    ...readHeaders(values.header ?? [], () => 'what follows --header'),
  }
  const isHttp = target.kind === 'http' || target.kind === 'sse'
  if (!isHttp && Object.keys(headers).length > 0) {
    throw new UsageError('--header and --header-file are for servers that are reached by HTTP')
  }
  if (target.kind !== 'command' && values['pass-env'] !== undefined) {
    throw new UsageError('--pass-env is for servers that are started as a command')
  }
  if (target.kind === 'sse' && values['backend-protocol'] === 'modern') {
    throw new UsageError('a server of HTTP+SSE is a legacy one; leave out --backend-protocol modern')
  }
  if (values['backend-protocol'] === 'modern' && values.root !== undefined) {
    throw new UsageError('--root is for legacy servers: a modern one asks for roots in a call, and its caller answers')
  }
  return {
    name,
    target: isHttp ? { ...target, headers } : target,
    mode: values['backend-protocol'] ?? 'auto',
    legacyRevisions: undefined,
    tools: { enabled: values['allow-tool'], disabled: values['deny-tool'] },
    renames: {},
    inheritEnv: inheritedOf(values['pass-env']),
    roots: rootsOf(values),
    signIn: signInOf(values, options.environment),
    ...boundsOf(values),
  }
}

function namedTarget({ commandLine, command }: ReadLineOptions): NamedTarget {
  const { values, positionals } = commandLine
  const named = [
    ...(command === undefined ? [] : [() => commandTarget(command)]),
    ...(values['http-sse'] === undefined ? [] : [() => urlTarget(values['http-sse'] ?? '', 'sse')]),
    ...positionals.map((word) => () => wordTarget(word)),
  ]
  const [only, ...more] = named
  if (only === undefined) {
    throw new UsageError(
      'no server is named: give a URL, unix:PATH, --config FILE, or a command after two hyphens, such as: atenea-proxy -- npx -y some-server',
    )
  }
  if (more.length > 0) {
    // Most often a command without the hyphens.
    for (const read of named) read()
    throw new UsageError('one server can be named on the command line; put several into a file for --config')
  }
  return only()
}

/** Which variables `--pass-env` lets through. */
export function inheritedOf(names: readonly string[] = []): BackendSetting['inheritEnv'] {
  return names.includes('*') ? 'all' : names
}

/** What `--root` names, relative to where the proxy was started. */
export function rootsOf({ root = [] }: Values): readonly Root[] {
  return readRoots(root, '.', () => 'what follows --root')
}

/** What flags say about how long things may take. */
export function boundsOf(values: Values): Pick<BackendSetting, 'startTimeoutMs' | 'callTimeoutMs' | 'maxCallMs'> {
  return {
    startTimeoutMs: values['start-timeout-ms'],
    callTimeoutMs: values['call-timeout-ms'],
    maxCallMs: values['max-call-ms'],
  }
}
