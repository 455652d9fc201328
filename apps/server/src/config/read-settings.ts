import { stateDir, UsageError } from '@atenea/cli'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import type { CommandLine } from '../command-line.ts'
import { defaults, type Settings } from '../settings.ts'
import { readAtprotoSettings } from './atproto-settings.ts'
import { readHttpSettings } from './http-settings.ts'
import type { Config } from './schema.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Settings from the command line and the configuration file that it names. Throws a `UsageError` that says what is wrong where. */
export async function readSettings({ values }: CommandLine, environment: Environment): Promise<Settings> {
  const file = values.config
  const config: Config = file === undefined ? {} : await readConfig(file, environment)
  const folder = file === undefined ? '.' : dirname(resolve(file))
  const sockets = [...new Set((values.socket ?? config.sockets ?? []).map((path) => socketPath(path, environment)))]
  const http = readHttpSettings({ values }, config, folder)
  const stdio = values.stdio ?? config.stdio ?? sockets.length + http.http.length === 0
  if (!stdio && sockets.length + http.http.length === 0) {
    throw new UsageError(
      'nothing to serve on: give --stdio, --socket PATH or --http PORT, or take "stdio": false out of the configuration',
    )
  }
  const staticResources = (config.resources ?? []).map((resource) => ({
    ...resource,
    ...(resource.file !== undefined && { file: readableFile(resource.file, folder) }),
  }))
  const legacyRevisions =
    values['legacy-revisions']?.split(',').map((revision) => revision.trim()) ?? config.legacyRevisions
  const limits = config.limits ?? {}
  return {
    stdio,
    sockets,
    ...http,
    protocol: values.protocol ?? config.protocol ?? defaults.protocol,
    legacyRevisions,
    tools: {
      enabled: values['allow-tool'] ?? config.enabledTools,
      disabled: [...(config.disabledTools ?? []), ...(values['deny-tool'] ?? [])],
    },
    prompts: { enabled: config.enabledPrompts, disabled: config.disabledPrompts },
    resources: { enabled: config.enabledResources, disabled: config.disabledResources },
    staticResources,
    atproto: readAtprotoSettings({ values }, config, folder, environment),
    maxBodyBytes: values['max-body-bytes'] ?? limits.maxBodyBytes ?? defaults.maxBodyBytes,
    maxInFlight: limits.maxInFlight ?? defaults.maxInFlight,
    shutdownTimeoutMs: limits.shutdownTimeoutMs ?? defaults.shutdownTimeoutMs,
    logLevel: values['log-level'] ?? config.logLevel ?? defaults.logLevel,
    logFormat: values['log-format'] ?? config.logFormat ?? defaults.logFormat,
  }
}

/** Whether a word on the command line is the URL of a server. */
export function isUrl(word: string): boolean {
  return /^https?:\/\//i.test(word)
}

/** A socket path as given, or the usual one for the word `default`. */
export function socketPath(given: string, environment: Environment): string {
  if (given === 'default') return join(stateDir(environment), 'server.sock')
  return isAbsolute(given) ? given : resolve(given)
}

/** The absolute path of a file that a resource serves. A missing file is told at the start, not when a client asks for it. */
function readableFile(given: string, folder: string): string {
  const file = resolve(folder, given)
  const { accessSync, constants, statSync } = process.getBuiltinModule('node:fs')
  try {
    accessSync(file, constants.R_OK)
    if (statSync(file).isFile()) return file
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new UsageError(`the file of a resource cannot be read: ${reason}`, { cause })
  }
  throw new UsageError(`the file of a resource is no regular file: ${file}`)
}

async function readConfig(file: string, environment: Environment): Promise<Config> {
  const { loadConfig } = await import('@atenea/cli/config')
  const { configSchema } = await import('./schema.ts')
  return await loadConfig({ file, schema: configSchema, environment })
}
