import { cacheDir, suggest, UsageError } from '@atenea/cli'
import type { ServerTarget } from '@atenea/cli/config'
import { readFrontSettings, revisionPolicy } from '@atenea/fronts'
import { dirname, join, resolve } from 'node:path'
import { signInOf, signInOfKeys } from '../auth/read-sign-in.ts'
import type { CommandLine } from '../command-line.ts'
import { type BackendSetting, type Settings, socketFile } from '../settings.ts'
import { readHeaderFile, readHeaders } from './header-lines.ts'
import { chainWith } from './own-chain.ts'
import { commandTarget, type NamedTarget, urlTarget, wordTarget } from './read-target.ts'
import type { TopKeys } from './schema.ts'

type Environment = Readonly<Record<string, string | undefined>>
type Values = CommandLine['values']

export interface ReadSettingsOptions {
  readonly commandLine: CommandLine
  /** What stood after `--`. */
  readonly command: readonly string[] | undefined
  readonly environment: Environment
}

export interface ReadSettings {
  readonly settings: Settings
  /** What was not understood in the configuration and changes nothing. */
  readonly warnings: readonly string[]
}

/** Settings from the command line and the configuration that it names. Throws a `UsageError` that says what is wrong where. */
export async function readSettings(options: ReadSettingsOptions): Promise<ReadSettings> {
  const { commandLine, environment } = options
  const { values } = commandLine
  const file = fileOf(options)
  const { top, folder, warnings, backends, chain } =
    file === undefined
      ? {
          top: {},
          folder: '.',
          warnings: [],
          chain: undefined,
          backends: [oneBackend(namedTarget(options), values, environment)],
        }
      : await fileBackends(file, values, environment)
  const fronts = readFrontSettings(values, top, { folder, environment, socketFile })
  const lock = values.lock ?? top.lockFile
  const settings: Settings = {
    ...fronts,
    policy: top.policy,
    backends: withRenames(backends, values.rename ?? []),
    separator: values.separator ?? top.separator,
    passExtensions: values['pass-extensions'] ?? top.passExtensions ?? false,
    bridgeInput: values['bridge-input'] ?? top.bridgeInput ?? false,
    lockFile: lock === undefined ? undefined : resolve(values.lock === undefined ? folder : '.', lock),
    verdictFile: verdictFile(values['verdict-file'], environment),
    configChain: chain,
  }
  for (const backend of settings.backends) refuseUnknownRevisions(backend)
  return { settings, warnings }
}

/** The one server that the command line names. */
function namedTarget({ commandLine, command }: ReadSettingsOptions): NamedTarget {
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

function fileOf({ commandLine, command }: ReadSettingsOptions): string | undefined {
  const { values, positionals } = commandLine
  if (values.config === undefined) {
    if (values.server !== undefined)
      throw new UsageError('--server takes servers of a configuration: name it with --config')
    return undefined
  }
  if (command !== undefined || positionals.length > 0 || values['http-sse'] !== undefined) {
    throw new UsageError('--config names the servers; leave out the command or the URL, or the configuration')
  }
  return values.config
}

// one server

function oneBackend({ name, target }: NamedTarget, values: Values, environment: Environment): BackendSetting {
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
  return {
    name,
    target: isHttp ? { ...target, headers } : target,
    mode: values['backend-protocol'] ?? 'auto',
    legacyRevisions: undefined,
    tools: { enabled: values['allow-tool'], disabled: values['deny-tool'] },
    renames: {},
    inheritEnv: inherited(values['pass-env']),
    signIn: signInOf(values, environment),
    ...boundsOf(values),
  }
}

function inherited(names: readonly string[] = []): BackendSetting['inheritEnv'] {
  return names.includes('*') ? 'all' : names
}

function boundsOf(values: Values): Pick<BackendSetting, 'startTimeoutMs' | 'callTimeoutMs' | 'maxCallMs'> {
  return {
    startTimeoutMs: values['start-timeout-ms'],
    callTimeoutMs: values['call-timeout-ms'],
    maxCallMs: values['max-call-ms'],
  }
}

// the servers of a file

interface FileBackends {
  readonly top: TopKeys
  readonly folder: string
  readonly warnings: readonly string[]
  readonly backends: readonly BackendSetting[]
  readonly chain: string
}

async function fileBackends(file: string, values: Values, environment: Environment): Promise<FileBackends> {
  if (values.header !== undefined || values['header-file'] !== undefined) {
    throw new UsageError(
      '--header and --header-file are for a server of the command line; a configuration has "headers" for each server',
    )
  }
  const { loadServers } = await import('@atenea/cli/config')
  const { serverSchema, topSchema } = await import('./schema.ts')
  const { servers, own: top = {}, warnings } = await loadServers({ file, environment, serverSchema, topSchema })
  const folder = dirname(resolve(file))
  const chosen = values.server ?? servers.filter(({ disabled }) => !disabled).map(({ name }) => name)
  const flags = boundsOf(values)
  const limits = top.limits ?? {}
  const faults: string[] = []
  const backends = [...new Set(chosen)].flatMap((name): BackendSetting[] => {
    const server = servers.find((candidate) => candidate.name === name)
    if (server === undefined)
      throw unknownServer(
        name,
        file,
        servers.map((known) => known.name),
      )
    if (server.disabled) throw new UsageError(`the server ${JSON.stringify(name)} is disabled in ${file}`)
    faults.push(...server.faults)
    const { target, own = {} } = server
    if (target === undefined) return []
    return [
      {
        name,
        target: withHeaderFile(target, own.headerFile, folder),
        mode: server.protocol ?? values['backend-protocol'] ?? 'auto',
        legacyRevisions: own.legacyRevisions,
        tools: {
          enabled: values['allow-tool'] ?? server.enabledTools,
          disabled: [...(server.disabledTools ?? []), ...(values['deny-tool'] ?? [])],
        },
        renames: own.renames ?? {},
        inheritEnv: own.inheritEnv ?? inherited(values['pass-env']),
        signIn: signInOfKeys(own.signIn, folder, values['sign-in']),
        startTimeoutMs: flags.startTimeoutMs ?? own.startTimeoutMs ?? limits.startTimeoutMs,
        callTimeoutMs: flags.callTimeoutMs ?? own.callTimeoutMs ?? server.timeoutMs ?? limits.callTimeoutMs,
        maxCallMs: flags.maxCallMs ?? own.maxCallMs ?? limits.maxCallMs,
      },
    ]
  })
  if (faults.length > 0) throw new UsageError(faults.join('\n'))
  if (backends.length === 0) throw new UsageError(`${file} names no server that is not disabled`)
  return { top, folder, warnings, backends, chain: chainWith(file, environment) }
}

function unknownServer(name: string, file: string, known: readonly string[]): UsageError {
  const meant = suggest(name, known)
  const hint =
    meant === undefined
      ? `it has ${known.map((one) => JSON.stringify(one)).join(', ')}`
      : `did you mean ${JSON.stringify(meant)}?`
  return new UsageError(`${file} has no server ${JSON.stringify(name)}; ${hint}`)
}

function withHeaderFile(target: ServerTarget, file: string | undefined, folder: string): ServerTarget {
  if (file === undefined) return target
  if (target.kind !== 'http' && target.kind !== 'sse') {
    throw new UsageError('headerFile is for servers that are reached by HTTP')
  }
  return { ...target, headers: { ...readHeaderFile(resolve(folder, file)), ...target.headers } }
}

// for all of them

/** `OLD=NEW`, where OLD is the name of a tool, with the server before it where there are several. */
function withRenames(backends: readonly BackendSetting[], renames: readonly string[]): readonly BackendSetting[] {
  const [only] = backends
  const added = new Map<string, Record<string, string>>()
  for (const rename of renames) {
    const match = /^(?:([^=:]+):)?([^=]+)=(.+)$/.exec(rename)
    const server = match?.[1] ?? (backends.length === 1 ? only?.name : undefined)
    if (match === null || server === undefined) {
      throw new UsageError(
        `--rename must be OLD=NEW, with the server before it where there are several (server:OLD=NEW), not ${JSON.stringify(rename)}`,
      )
    }
    if (!backends.some(({ name }) => name === server))
      throw new UsageError(`--rename names no server ${JSON.stringify(server)}`)
    added.set(server, { ...added.get(server), [match[2] ?? '']: match[3] ?? '' })
  }
  return backends.map((backend) => ({ ...backend, renames: { ...backend.renames, ...added.get(backend.name) } }))
}

function verdictFile(given: string | undefined, environment: Environment): string | undefined {
  if (given === 'none') return undefined
  if (given !== undefined) return resolve(given)
  try {
    return join(cacheDir(environment), 'verdicts.json')
  } catch {
    // A user without a home directory, as in a container: nothing depends on what could be remembered.
    return undefined
  }
}

function refuseUnknownRevisions({ name, legacyRevisions }: BackendSetting): void {
  if (legacyRevisions === undefined) return
  try {
    revisionPolicy({ protocol: 'both', legacyRevisions })
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`${name}: ${error.message}`, { cause: error })
    throw error
  }
}
