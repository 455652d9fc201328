import { printable } from '@atenea/cli'
import { isUrl } from '@atenea/fronts'
import { isJsonObject, type JsonObject, type JsonValue, TransportError, toObject } from '@atenea/mcpcompat'
import { linkSignals } from '@atenea/mcpcompat/transport'
import { dialSocket } from '@atenea/transport-stdio'
import { statusMethod } from './status-line.ts'

const timeoutMs = 10_000

/** How a running proxy is. */
export interface ProxyStatus {
  readonly ready: boolean
  /** As the proxy told it. */
  readonly report: JsonObject
}

/** Asks the proxy at a socket or a URL how it and its servers are. Rejects with a `TransportError` when it does not say. */
export async function askStatus(place: string, shutdown: AbortSignal): Promise<ProxyStatus> {
  using linked = linkSignals([shutdown], { timeoutMs })
  const { signal } = linked
  try {
    const report = isUrl(place) ? await askUrl(place, signal) : await askSocket(place, signal)
    if (typeof report?.['ready'] !== 'boolean')
      throw new TransportError('protocol', `there is no atenea-proxy at ${place}`)
    return { ready: report['ready'], report }
  } catch (error) {
    if (TransportError.is(error) || shutdown.aborted) throw error
    const text = signal.aborted
      ? `the proxy at ${place} did not answer within ${timeoutMs / 1000} s`
      : `nobody answers at ${place}: ${reasonOf(error)}`
    throw new TransportError(signal.aborted ? 'timeout' : 'unreachable', text, { cause: error })
  }
}

/** What fetch says itself is only that it failed. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(cause instanceof Error)) return String(cause)
  return cause.message !== '' ? cause.message : 'code' in cause ? String(cause.code) : cause.name
}

async function askSocket(path: string, signal: AbortSignal): Promise<JsonObject | undefined> {
  await using connection = await dialSocket(path, { signal })
  const hangUp = (): void => void connection[Symbol.asyncDispose]()
  signal.addEventListener('abort', hangUp, { once: true })
  try {
    await connection.send({ kind: 'request', id: 1, method: statusMethod, params: {} })
    for await (const [first] of connection.inbound) {
      return first?.message.kind === 'result' ? toObject(first.message.result) : undefined
    }
    signal.throwIfAborted()
    return undefined
  } finally {
    signal.removeEventListener('abort', hangUp)
  }
}

async function askUrl(url: string, signal: AbortSignal): Promise<JsonObject | undefined> {
  const answer = await fetch(new URL('/readyz', url), { signal, redirect: 'error' })
  const report = (await answer.json().catch(() => undefined)) as JsonValue | undefined
  return report !== undefined && isJsonObject(report) ? report : undefined
}

/** The same for people. */
export function statusText(place: string, { ready, report }: ProxyStatus): string {
  const { version, servers } = report
  const head = `atenea-proxy${typeof version === 'string' ? ` ${version}` : ''} at ${place}: ${ready ? 'ready' : 'not ready'}`
  if (servers === undefined || !isJsonObject(servers)) return `${printable(head)}\n`
  const width = Math.max(...Object.keys(servers).map((name) => name.length))
  const lines = Object.entries(servers).map(
    ([name, server]) => `  ${name.padEnd(width)}  ${serverText(server ?? null)}`,
  )
  return `${[head, ...lines].map(printable).join('\n')}\n`
}

function serverText(server: JsonValue): string {
  const name = textAt(server, 'name')
  const observed = textAt(server, 'observed')
  const requested = textAt(server, 'requested')
  const error = textAt(server, 'lastError', 'message')
  const retryAt = textAt(server, 'retryAt')
  const parts = [
    name === undefined ? undefined : `${name} ${textAt(server, 'version') ?? ''}`.trim(),
    observed === undefined
      ? undefined
      : `speaks ${observed}${requested === observed ? '' : `, asked for ${requested}`}`,
    counted(textAt(server, 'connections'), 'connection'),
    counted(textAt(server, 'openCalls'), 'open call'),
    textAt(server, 'restarts') === '0' ? undefined : counted(textAt(server, 'restarts'), 'restart'),
    told(server),
    textAt(server, 'signIn'),
    error === undefined ? undefined : `last error at ${textAt(server, 'lastError', 'at')}: ${error}`,
    retryAt === undefined ? undefined : `tried again from ${retryAt} on`,
  ]
  return `${textAt(server, 'state')}: ${parts.filter((part) => part !== undefined).join('; ')}`
}

/** The roots that it is told of. */
function told(server: JsonValue): string | undefined {
  const roots = isJsonObject(server) ? server['roots'] : undefined
  return Array.isArray(roots) ? `told of ${roots.map(String).join(', ')}` : undefined
}

/** The text or number that lies there, if there is one. */
function textAt(value: JsonValue | undefined, ...path: readonly string[]): string | undefined {
  const [key, ...rest] = path
  if (key !== undefined) return value !== undefined && isJsonObject(value) ? textAt(value[key], ...rest) : undefined
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}

function counted(number: string | undefined, what: string): string {
  return number === '1' ? `1 ${what}` : `${number} ${what}s`
}
