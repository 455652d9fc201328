import type { Era, JsonObject, JsonValue } from '@atenea/mcpcompat'
import type { Answer } from './wire/answer.ts'
import type { Received } from './wire/received.ts'

/** How one message departs from what a good client sends. */
export interface AskOptions {
  /** The id as source text, so that any JSON can be sent. A fresh number if left out; `null` sends none. */
  readonly idText?: string | null | undefined
  /** In place of the `_meta` that the era asks for; null leaves it out. */
  readonly meta?: JsonObject | null | undefined
  /** On top of the usual headers; undefined takes one away. HTTP alone. */
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined
  /** In place of the whole message. */
  readonly text?: string | undefined
  readonly httpMethod?: string | undefined
  readonly timeoutMs?: number | undefined
  /** Silence is an answer too, and not reported. */
  readonly mayBeSilent?: boolean | undefined
  /** HTTP: do not wait for the body. */
  readonly headOnly?: boolean | undefined
  /** HTTP: a stream is read until so long nothing more came. */
  readonly quietMs?: number | undefined
  readonly stopAt?: ((message: Received) => boolean) | undefined
}

/** A way to send messages of one era to one server. */
export interface Talk {
  readonly era: Era
  readonly carrier: 'http' | 'lines'
  /** The revision that is spoken. */
  readonly revision: string
  /** Sends one message as a client of the era does, save for what the options change. */
  send(method: string, params: JsonObject, options: AskOptions): Promise<Answer>
  /** Lines only: what arrives without having been asked for. */
  listen(timeoutMs: number): Promise<readonly Received[]>
}

/** What the envelope of a message is made from. */
export interface Envelope {
  readonly method: string
  readonly params: JsonObject
  readonly meta: JsonObject | undefined
  readonly idText: string | null
}

/** The text of one message; members in the usual order. */
export function messageText({ method, params, meta, idText }: Envelope): string {
  const all: JsonObject = meta === undefined ? params : { ...params, _meta: meta }
  const id = idText === null ? '' : `"id":${idText},`
  const body = Object.keys(all).length === 0 ? '' : `,"params":${JSON.stringify(all satisfies JsonValue)}`
  return `{"jsonrpc":"2.0",${id}"method":${JSON.stringify(method)}${body}}`
}
