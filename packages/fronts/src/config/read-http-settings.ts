import { UsageError } from '@atenea/cli'
import { resolve } from 'node:path'
import type { FrontValues } from '../front-flags.ts'
import { defaultHttpHost, type FrontSettings, type HttpSetting } from '../front-settings.ts'
import type { FrontConfig } from './front-config.ts'

type HttpSettings = Pick<FrontSettings, 'http' | 'bearerTokenFile' | 'allowUnauthenticated' | 'allowedOrigins'>

/** Where HTTP is served and to whom. Throws a `UsageError` that says what is wrong. */
export function readHttpSettings(values: FrontValues, config: FrontConfig, folder: string): HttpSettings {
  const http = (values.http ?? config.http ?? []).map(readAddress)
  const given = values['bearer-token-file'] ?? config.bearerTokenFile
  const fileFolder = values['bearer-token-file'] === undefined ? folder : '.'
  const bearerTokenFile = given === undefined ? undefined : resolve(fileFolder, given)
  const allowUnauthenticated = values['allow-unauthenticated'] ?? config.allowUnauthenticated ?? false
  const allowedOrigins = values['allow-origin'] ?? config.allowedOrigins ?? []
  const fault = allowedOrigins.find((origin) => !isOrigin(origin))
  if (fault !== undefined) {
    throw new UsageError(`--allow-origin must be an origin, such as https://example.com, not ${JSON.stringify(fault)}`)
  }
  return { http, bearerTokenFile, allowUnauthenticated, allowedOrigins }
}

/** Whether a text is an origin as browsers write it. */
export function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, host } = new URL(text)
  return host !== '' && text.toLowerCase().replace(/\/$/, '') === `${protocol}//${host}`
}

function readAddress(text: string): HttpSetting {
  const match = /^(?:(.+):)?(\d{1,5})$/.exec(text)
  const port = Number(match?.[2] ?? Number.NaN)
  const host = match?.[1] ?? defaultHttpHost
  // an address of IPv6 holds colons itself
  const isClear = !host.includes(':') || /^\[[\da-f:.]+\]$/i.test(host)
  if (port <= 65_535 && isClear) return { host, port }
  throw new UsageError(
    `--http must be a port, or a host and a port such as 0.0.0.0:8420 or [::1]:8420, not ${JSON.stringify(text)}`,
  )
}
