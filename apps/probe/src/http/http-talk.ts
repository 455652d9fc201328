import type { Era, JsonObject } from '@atenea/mcpcompat'
import { headerName, HeaderValueError, standardHeaders } from '@atenea/mcpcompat/transport'
import { usualMeta } from '../eras.ts'
import { type AskOptions, messageText, type Talk } from '../talk.ts'
import type { HttpExchange, HttpWire } from '../wire/http-wire.ts'
import { patiently } from '../wire/patience.ts'

/** A talk over HTTP, which may have a session. */
export interface HttpTalk extends Talk {
  readonly url: URL
  /** The session that the server gave, in the legacy era. */
  sessionId: string | undefined
  /** Legacy: whether the handshake is done, so that the revision is named in each request. */
  isInitialized: boolean
  send(method: string, params: JsonObject, options: AskOptions): Promise<HttpExchange>
}

export interface CreateHttpTalkOptions {
  readonly wire: HttpWire
  readonly era: Era
  readonly revision: string
  /** What the user wants to be sent with every request. */
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  /** Fresh ids; one source for all talks over one session. */
  readonly ids: () => number
  /** Ends the waiting for a busy server. */
  readonly signal: AbortSignal
}

/** Makes the requests of one era; every one is written anew from its message, as a good client does. */
export function createHttpTalk(options: CreateHttpTalkOptions): HttpTalk {
  const { wire, era, revision } = options

  function usualHeaders(method: string, params: JsonObject, talk: HttpTalk): Record<string, string> {
    const base = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
    if (era === 'modern') return { ...base, ...mirrored(method, params, revision) }
    return {
      ...base,
      ...(talk.isInitialized && { [headerName.protocolVersion]: revision }),
      ...(talk.sessionId !== undefined && { [headerName.sessionId]: talk.sessionId }),
    }
  }

  const talk: HttpTalk = {
    era,
    carrier: 'http',
    revision,
    url: wire.url,
    sessionId: undefined,
    isInitialized: false,
    async send(method, params, ask) {
      const meta = ask.meta === undefined ? usualMeta(era, revision) : (ask.meta ?? undefined)
      const idText = ask.idText === undefined ? String(options.ids()) : ask.idText
      const httpMethod = ask.httpMethod ?? 'POST'
      const usual = { ...lower(options.headers), ...usualHeaders(method, params, talk) }
      const headers = merged(usual, { ...(httpMethod !== 'POST' && { 'content-type': undefined }), ...ask.headers })
      const request = {
        method: httpMethod,
        headers,
        body: httpMethod === 'POST' ? (ask.text ?? messageText({ method, params, meta, idText })) : undefined,
        timeoutMs: ask.timeoutMs ?? options.timeoutMs,
        stopAt: ask.stopAt,
        headOnly: ask.headOnly,
        quietMs: ask.quietMs,
        idText: idText ?? undefined,
      }
      return await patiently(async () => await wire.send(request), options.signal)
    },
    listen: async () => await Promise.resolve([]),
  }
  return talk
}

/** The standard headers of a modern request. */
function mirrored(method: string, params: JsonObject, revision: string): Readonly<Record<string, string>> {
  try {
    return standardHeaders({ method, params }, revision) as Readonly<Record<string, string>>
  } catch (error) {
    if (error instanceof HeaderValueError)
      return { [headerName.protocolVersion]: revision, [headerName.method]: method }
    throw error
  }
}

function lower(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

function merged(
  usual: Record<string, string>,
  changes: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const all = Object.entries({ ...usual, ...changes }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  )
  return Object.fromEntries(all)
}
