import { stateDir, UsageError } from '@atenea/cli'
import { join, resolve } from 'node:path'
import type { CommonValues, FrontValues } from '../front-flags.ts'
import { type FrontSettings, frontDefaults } from '../front-settings.ts'
import type { FrontConfig } from './front-config.ts'
import { readAuthSettings } from '../auth/read-auth-settings.ts'
import { readHttpSettings } from './read-http-settings.ts'

type Environment = Readonly<Record<string, string | undefined>>

export interface ReadFrontSettingsOptions {
  /** Where the configuration file is, which its paths are relative to. */
  readonly folder: string
  readonly environment: Environment
  /** What the word `default` stands for as a socket, in the state directory. */
  readonly socketFile: string
}

/** Where and how clients are served; flags win over the file. Throws a `UsageError` that says what is wrong. */
export function readFrontSettings(
  values: FrontValues & CommonValues,
  config: FrontConfig,
  { folder, environment, socketFile }: ReadFrontSettingsOptions,
): FrontSettings {
  const named = values.socket ?? config.sockets ?? []
  const from = values.socket === undefined ? folder : '.'
  const sockets = [...new Set(named.map((path) => socketPath(path, environment, socketFile, from)))]
  const http = readHttpSettings(values, config, folder)
  const stdio = values.stdio ?? config.stdio ?? sockets.length + http.http.length === 0
  if (!stdio && sockets.length + http.http.length === 0) {
    throw new UsageError(
      'nothing to serve on: give --stdio, --socket PATH or --http PORT, or take "stdio": false out of the configuration',
    )
  }
  const limits = config.limits ?? {}
  return {
    stdio,
    sockets,
    ...http,
    auth: readAuthSettings(values, config.auth, folder, environment),
    protocol: values.protocol ?? config.protocol ?? frontDefaults.protocol,
    legacyRevisions:
      values['legacy-revisions']?.split(',').map((revision) => revision.trim()) ?? config.legacyRevisions,
    maxBodyBytes: values['max-body-bytes'] ?? limits.maxBodyBytes ?? frontDefaults.maxBodyBytes,
    maxInFlight: limits.maxInFlight ?? frontDefaults.maxInFlight,
    shutdownTimeoutMs: limits.shutdownTimeoutMs ?? frontDefaults.shutdownTimeoutMs,
    logLevel: values['log-level'] ?? config.logLevel ?? frontDefaults.logLevel,
    logFormat: values['log-format'] ?? config.logFormat ?? frontDefaults.logFormat,
  }
}

/** Whether a word on the command line is the URL of a server. */
export function isUrl(word: string): boolean {
  return /^https?:\/\//i.test(word)
}

/**
 * A socket path as given, with `unix:` before it or not, or the usual one for the word `default`. A relative one is below `folder`. Throws a
 * `UsageError` for a URL, which would pass for a path.
 */
export function socketPath(given: string, environment: Environment, socketFile: string, folder = '.'): string {
  if (given === 'default') return join(stateDir(environment), socketFile)
  if (isUrl(given)) throw new UsageError(`${given} is a URL, and a socket has a path; HTTP is served with --http`)
  return resolve(folder, given.replace(/^unix:/, ''))
}
