import { suggest, UsageError } from '@atenea/cli'
import type { ConfiguredServer, ServerTarget } from '@atenea/cli/config'
import { dirname, resolve } from 'node:path'
import { signInOfKeys } from '../auth/read-sign-in.ts'
import type { CommandLine } from '../command-line.ts'
import type { BackendSetting } from '../settings.ts'
import { readHeaderFile } from './header-lines.ts'
import { boundsOf, inheritedOf, rootsOf } from './line-backend.ts'
import { readRoots } from './read-roots.ts'
import type { ServerKeys, TopKeys } from './schema.ts'

type Values = CommandLine['values']

export interface FileBackends {
  /** What the file says about the proxy as a whole. */
  readonly top: TopKeys
  /** Where the file is, which its paths are relative to. */
  readonly folder: string
  /** What was not understood and changes nothing. */
  readonly warnings: readonly string[]
  readonly backends: readonly BackendSetting[]
}

/** The servers of a configuration, those of `--server` or all that are not disabled. Throws a `UsageError` that says what is wrong where. */
export async function readFileBackends(
  file: string,
  values: Values,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<FileBackends> {
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
  const found = [...new Set(chosen)].map((name) => serverNamed(name, servers, file))
  const faults = found.flatMap((server) => server.faults)
  if (faults.length > 0) throw new UsageError([...faults, ...wayAround(found)].join('\n'))
  if (found.length === 0) throw new UsageError(`${file} names no server that is not disabled`)
  return { top, folder, warnings, backends: found.map((server) => backendOf(server, { top, folder, values })) }
}

/** The file may belong to another client, so that it is not to be changed for us. */
function wayAround(servers: readonly ConfiguredServer<ServerKeys>[]): readonly string[] {
  const sound = servers
    .filter(({ faults }) => faults.length === 0)
    .map(({ name }) => `--server ${JSON.stringify(name)}`)
  return sound.length === 0 ? [] : [`The file can stay as it is: the others are taken with ${sound.join(' ')}`]
}

interface Around {
  readonly top: TopKeys
  readonly folder: string
  readonly values: Values
}

function backendOf(
  { name, target, own = {}, ...server }: ConfiguredServer<ServerKeys>,
  { top: { limits = {} }, folder, values }: Around,
): BackendSetting {
  if (target === undefined) throw new TypeError('a server without faults that is not disabled can be reached')
  const flags = boundsOf(values)
  return {
    name,
    target: withHeaderFile(target, own.headerFile, folder),
    mode: server.protocol ?? values['backend-protocol'] ?? 'auto',
    legacyRevisions: own.legacyRevisions,
    tools: {
      enabled: values['allow-tool'] ?? server.enabledTools,
      disabled: [...(server.disabledTools ?? []), ...(values['deny-tool'] ?? [])],
    },
    renames: own.renames ?? {},
    roots:
      own.roots === undefined
        ? rootsOf(values)
        : readRoots(own.roots, folder, (index) => `atenea.roots[${index}] of ${JSON.stringify(name)}`),
    inheritEnv: own.inheritEnv ?? inheritedOf(values['pass-env']),
    signIn: signInOfKeys(own.signIn, folder, values['sign-in']),
    startTimeoutMs: flags.startTimeoutMs ?? own.startTimeoutMs ?? limits.startTimeoutMs,
    callTimeoutMs: flags.callTimeoutMs ?? own.callTimeoutMs ?? server.timeoutMs ?? limits.callTimeoutMs,
    maxCallMs: flags.maxCallMs ?? own.maxCallMs ?? limits.maxCallMs,
  }
}

function serverNamed<T extends ConfiguredServer<ServerKeys>>(name: string, servers: readonly T[], file: string): T {
  const server = servers.find((candidate) => candidate.name === name)
  if (server === undefined) {
    const known = servers.map((one) => one.name)
    const meant = suggest(name, known)
    const hint =
      meant === undefined
        ? `it has ${known.map((one) => JSON.stringify(one)).join(', ')}`
        : `did you mean ${JSON.stringify(meant)}?`
    throw new UsageError(`${file} has no server ${JSON.stringify(name)}; ${hint}`)
  }
  if (server.disabled) throw new UsageError(`the server ${JSON.stringify(name)} is disabled in ${file}`)
  return server
}

function withHeaderFile(target: ServerTarget, file: string | undefined, folder: string): ServerTarget {
  if (file === undefined) return target
  if (target.kind !== 'http' && target.kind !== 'sse') {
    throw new UsageError('headerFile is for servers that are reached by HTTP')
  }
  return { ...target, headers: { ...readHeaderFile(resolve(folder, file)), ...target.headers } }
}
