import { type JsonObject, legacyRevision, modernRevision } from '@atenea/mcpcompat'
import { expect } from 'vitest'
import type { HttpAnswer, HttpCarrier } from './http-carriers.ts'

export const both = 'application/json, text/event-stream'

/** The fields that every POST has. */
export const postFields: Readonly<Record<string, string>> = { 'content-type': 'application/json', accept: both }

export const modernMeta: JsonObject = {
  'io.modelcontextprotocol/protocolVersion': modernRevision,
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** What a test says in place of what is usual. A header that is `undefined` is left out. */
export interface AskOptions {
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly meta?: JsonObject
  readonly id?: string | number
  readonly signal?: AbortSignal
}

function fieldsOf(usual: Record<string, string>, given: AskOptions['headers'] = {}): Record<string, string> {
  const all = Object.entries({ ...usual, ...given })
  return Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== undefined))
}

/** Sends a modern request with the headers that belong to it. */
export async function askModern(
  carrier: Pick<HttpCarrier, 'ask'>,
  method: string,
  params: JsonObject = {},
  { headers, meta, id = 1, signal }: AskOptions = {},
): Promise<HttpAnswer> {
  const name = params['name'] ?? params['uri']
  const usual = {
    ...postFields,
    'mcp-protocol-version': modernRevision,
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': name }),
  }
  const body = { jsonrpc: '2.0', id, method, params: { ...params, _meta: { ...modernMeta, ...meta } } }
  return await carrier.ask({ headers: fieldsOf(usual, headers), body: JSON.stringify(body), signal })
}

export interface LegacySession {
  readonly id: string
  /** Sends a request. */
  ask(method: string, params?: JsonObject, options?: AskOptions): Promise<HttpAnswer>
  /** Sends any other message. */
  tell(message: JsonObject, headers?: AskOptions['headers'], signal?: AbortSignal): Promise<HttpAnswer>
  /** Sends a request without a body. */
  bare(method: string, headers?: AskOptions['headers']): Promise<HttpAnswer>
}

export interface OpenSessionOptions {
  readonly revision?: string
  readonly capabilities?: JsonObject
  readonly headers?: AskOptions['headers']
}

/** Opens a legacy session: `initialize` and `notifications/initialized`. */
export async function openSession(
  carrier: Pick<HttpCarrier, 'ask'>,
  options: OpenSessionOptions = {},
): Promise<LegacySession> {
  const { revision = legacyRevision, capabilities = {}, headers } = options
  const params = { protocolVersion: revision, capabilities, clientInfo: { name: 'test', version: '1.0.0' } }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params })
  const opened = await carrier.ask({ headers: fieldsOf(postFields, headers), body })
  expect(opened.status).toBe(200)
  const id = opened.headers['mcp-session-id'] ?? ''
  await opened.text()
  const usual = { ...postFields, 'mcp-session-id': id, 'mcp-protocol-version': revision }
  const tell: LegacySession['tell'] = async (message, given, signal) =>
    await carrier.ask({
      headers: fieldsOf(usual, { ...headers, ...given }),
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      signal,
    })
  expect((await tell({ method: 'notifications/initialized' })).status).toBe(202)
  return {
    id,
    tell,
    ask: async (method, asked = {}, { headers: given, meta, id: asks = 1, signal } = {}) =>
      await tell({ id: asks, method, params: { ...asked, ...(meta !== undefined && { _meta: meta }) } }, given, signal),
    bare: async (method, given) =>
      await carrier.ask({
        method,
        headers: fieldsOf(
          { accept: 'text/event-stream', 'mcp-session-id': id, 'mcp-protocol-version': revision },
          { ...headers, ...given },
        ),
      }),
  }
}

/** The one message of a JSON answer. */
export async function messageOf(answer: HttpAnswer): Promise<JsonObject> {
  const text = await answer.text()
  if (answer.headers['content-type'] !== 'application/json') throw new Error(`not JSON: ${answer.status} ${text}`)
  return JSON.parse(text) as JsonObject
}

export interface SseEvent {
  readonly id?: string
  readonly message: JsonObject
}

/** Events of a stream, one after the other; comments and events without data are passed over. */
export class Events {
  readonly #answer: HttpAnswer
  #buffer = ''

  constructor(answer: HttpAnswer) {
    if (answer.headers['content-type'] !== 'text/event-stream') throw new Error(`not a stream: ${answer.status}`)
    this.#answer = answer
  }

  async next(): Promise<SseEvent | undefined> {
    for (;;) {
      const end = this.#buffer.indexOf('\n\n')
      if (end === -1) {
        const chunk = await this.#answer.next()
        if (chunk === undefined) return undefined
        this.#buffer += chunk
        continue
      }
      const block = this.#buffer.slice(0, end)
      this.#buffer = this.#buffer.slice(end + 2)
      const data = /^data: (.+)$/m.exec(block)?.[1]
      if (data === undefined) continue
      const id = /^id: (.+)$/m.exec(block)?.[1]
      return { ...(id !== undefined && { id }), message: JSON.parse(data) as JsonObject }
    }
  }

  async rest(): Promise<SseEvent[]> {
    const all: SseEvent[] = []
    for (let event = await this.next(); event !== undefined; event = await this.next()) all.push(event)
    return all
  }
}
