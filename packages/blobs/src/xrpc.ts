import { BlobError, type BlobErrorDetails, type BlobErrorKind } from './blob-error.ts'
import type { HttpResponse } from './http-client.ts'

/** The object that a JSON text is, with members of any kind. */
export type JsonRecord = Readonly<Record<string, unknown>>

/** The URL of a method at a PDS. */
export function xrpcUrl(origin: string, method: string, params: Readonly<Record<string, string>> = {}): URL {
  const url = new URL(`/xrpc/${method}`, origin)
  url.search = new URLSearchParams(params).toString()
  return url
}

/** All of a body as text. The caller has limited its size. */
export async function readText(response: HttpResponse): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of response.body) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

/** The body of an answer that must be a JSON object. */
export async function readJson(response: HttpResponse): Promise<JsonRecord> {
  const parsed = parseRecord(await readText(response))
  if (parsed !== undefined) return parsed
  throw new BlobError('bad-answer', `${response.url.origin} answers with something that is not a JSON object`, {
    details: { source: response.url.origin, status: response.status },
  })
}

/** Undefined for what is no JSON object. */
export function parseRecord(text: string): JsonRecord | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Whether a value is an object and no array. */
export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A member that is a string. */
export function stringOf(record: JsonRecord, key: string): string | undefined {
  const value = Object.hasOwn(record, key) ? record[key] : undefined
  return typeof value === 'string' ? value : undefined
}

/** Errors by which a PDS says that credentials do not do. */
const authErrors = new Set([
  'AuthMissing',
  'AuthenticationRequired',
  'AuthFactorTokenRequired',
  'BadJwt',
  'BadJwtAudience',
  'BadJwtLexiconMethod',
  'BadJwtSignature',
  'ExpiredToken',
  'InvalidToken',
  'JwtExpired',
])
const accountErrors = new Set([
  'AccountDeactivated',
  'AccountNotFound',
  'AccountSuspended',
  'AccountTakedown',
  'RepoDeactivated',
  'RepoNotFound',
  'RepoSuspended',
  'RepoTakendown',
])

const shownCharacters = 200

/** What an answer that is not a success means. Its body is read, as far as it is small. */
export async function answerError(response: HttpResponse, secrets: readonly string[] = []): Promise<BlobError> {
  const { status, url } = response
  const body = parseRecord(await readText(response).catch(() => '')) ?? {}
  const named = /^\w{1,64}$/.exec(stringOf(body, 'error') ?? '')?.[0]
  const name = named !== undefined && secrets.includes(named) ? undefined : named
  const said = printable(stringOf(body, 'message') ?? '', secrets)
  const retryAfterMs = retryAfterOf(response)
  const details: BlobErrorDetails = {
    source: url.origin,
    status,
    ...(name !== undefined && { upstreamError: name }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  }
  const why = [name, said].filter((part) => part !== undefined && part !== '').join(': ')
  const message = `${url.origin} answers ${status}${why === '' ? '' : ` (${why})`}`
  const kind = kindOf(status, name)
  return new BlobError(kind, message, { details, retryable: kind === 'upstream' || kind === 'rate-limited' })
}

function kindOf(status: number, name: string | undefined): BlobErrorKind {
  if (name !== undefined && authErrors.has(name)) return 'auth'
  if (name !== undefined && accountErrors.has(name)) return 'account-unavailable'
  if (name === 'BlobNotFound') return 'not-found'
  if (status === 401) return 'auth'
  if (status === 404 || status === 410) return 'not-found'
  if (status === 413) return 'too-large'
  if (status === 429) return 'rate-limited'
  if (status >= 500) return 'upstream'
  return status >= 400 ? 'refused' : 'bad-answer'
}

/** The form of access, refresh and service tokens. */
const jsonWebToken = /[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/g

/** What others wrote, for people: on one line, not long, and without what must not be seen. */
export function printable(text: string, secrets: readonly string[] = []): string {
  const clean = secrets.filter((secret) => secret !== '').reduce((rest, secret) => rest.replaceAll(secret, '…'), text)
  const line = clean.replaceAll(jsonWebToken, '…').replaceAll(/[\p{C}\s]+/gu, ' ')
  return line.trim().slice(0, shownCharacters).toWellFormed()
}

/** Longest time that a server can ask us to wait for; more says that it is wrong. */
const maxRetryAfterMs = 24 * 60 * 60 * 1000

function retryAfterOf(response: HttpResponse): number | undefined {
  const retryAfter = response.header('retry-after')
  const resetAt = response.status === 429 ? response.header('ratelimit-reset') : undefined
  const ms = /^\d+$/.test(retryAfter ?? '')
    ? Number(retryAfter) * 1000
    : retryAfter !== undefined
      ? Date.parse(retryAfter) - Date.now()
      : Number(resetAt) * 1000 - Date.now()
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), maxRetryAfterMs) : undefined
}
