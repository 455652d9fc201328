import { cacheDir, stateDir, UsageError } from '@atenea/cli'
import { isAbsolute, join, resolve } from 'node:path'
import { accountVariables, atprotoDefaults, type AtprotoSettings } from '../atproto/atproto-settings.ts'
import type { CommandLine } from '../command-line.ts'
import type { Config } from './schema.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** How accounts are reached. Throws a `UsageError` for a folder that is none, and for what is no origin or no URL of a directory. */
export function readAtprotoSettings(
  { values }: Pick<CommandLine, 'values'>,
  config: Config,
  folder: string,
  environment: Environment,
): AtprotoSettings {
  const limits = config.limits ?? {}
  const roots =
    values['file-root']?.map((path) => resolve(path)) ?? config.fileRoots?.map((path) => resolve(folder, path)) ?? []
  const plcDirectory = values['plc-directory'] ?? config.plcDirectory
  if (plcDirectory !== undefined && !isDirectoryUrl(plcDirectory)) {
    throw new UsageError(
      `--plc-directory must be a URL such as https://plc.directory, without user name, query or fragment, not ${JSON.stringify(plcDirectory)}`,
    )
  }
  const allowEndpoints = values['allow-endpoint'] ?? config.allowEndpoints ?? []
  const fault = allowEndpoints.find((origin) => !isHttpOrigin(origin))
  if (fault !== undefined) {
    throw new UsageError(
      `--allow-endpoint must be an exact origin such as http://localhost:2583, not ${JSON.stringify(fault)}`,
    )
  }
  const nameservers = values.nameserver ?? config.nameservers ?? []
  const noAddress = nameservers.find((address) => !isServerAddress(address))
  if (noAddress !== undefined) {
    throw new UsageError(
      `--nameserver must be an address such as 192.0.2.53, 192.0.2.53:5353 or [2001:db8::1]:53, not ${JSON.stringify(noAddress)}`,
    )
  }
  const account = { identifier: given(environment, 'identifier'), password: given(environment, 'password') }
  return {
    fileRoots: [...new Set(roots.map(realFolder))],
    plcDirectory,
    allowEndpoints,
    nameservers,
    dids: suggested(config.dids ?? [], account.identifier),
    inlineLimitBytes: values['inline-limit-bytes'] ?? limits.inlineBytes ?? atprotoDefaults.inlineLimitBytes,
    cacheDir: cacheFolder(values['cache-dir'], config.cacheDir, { folder, environment }),
    cacheMaxBytes: values['cache-max-bytes'] ?? limits.cacheBytes ?? atprotoDefaults.cacheMaxBytes,
    stateDir: stateDir(environment),
    account,
  }
}

/** Whether a text is an origin of HTTP or HTTPS, without anything else. */
export function isHttpOrigin(text: string): boolean {
  if (!URL.canParse(text) || text.includes('*')) return false
  const { protocol, href, origin } = new URL(text)
  return /^https?:$/.test(protocol) && href === `${origin}/`
}

/** Whether a text can be the URL of a directory. */
export function isDirectoryUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, search, hash } = new URL(text)
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === ''
}

/** Whether a text is the address of a name server, with its port or not. */
export function isServerAddress(text: string): boolean {
  const { isIP } = process.getBuiltinModule('node:net')
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? []
  return isIP(text) !== 0 || (isIP(bracketed ?? plain ?? '') !== 0 && Number(port ?? 53) <= 65_535)
}

function given(environment: Environment, what: keyof typeof accountVariables): string | undefined {
  const value = environment[accountVariables[what]]?.trim()
  return value === '' ? undefined : value
}

function suggested(dids: readonly string[], identifier: string | undefined): readonly string[] {
  return [...new Set([...dids, ...(identifier?.startsWith('did:') === true ? [identifier] : [])])]
}

/** A missing folder is told at the start, not when a tool is called. Real, since paths are compared with it. */
function realFolder(path: string): string {
  const { realpathSync, statSync } = process.getBuiltinModule('node:fs')
  try {
    const real = realpathSync(path)
    if (statSync(real).isDirectory()) return real
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new UsageError(`--file-root cannot be used: ${reason}`, { cause })
  }
  throw new UsageError(`--file-root must be a folder, and ${path} is none`)
}

function cacheFolder(
  flagged: string | undefined,
  configured: string | undefined,
  { folder, environment }: { readonly folder: string; readonly environment: Environment },
): string {
  if (flagged !== undefined) return resolve(flagged)
  if (configured !== undefined) return isAbsolute(configured) ? configured : resolve(folder, configured)
  return join(cacheDir(environment), 'blobs')
}
