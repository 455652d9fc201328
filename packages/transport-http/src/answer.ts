import { isJsonType, isSseType, parseMessage, type RpcMessage, type RpcReject } from '@atenea/mcpcompat/transport'
import type { Endpoint } from './endpoint.ts'
import { discard, readSome, readText } from './read-body.ts'
import type { HttpAnswer } from './send.ts'
import { createSseDecoder } from './sse/decode.ts'

/** How the payload of messages is wanted: parsed, or as source text by those who relay it. */
export type Payload = 'parsed' | 'text'

/** What an answer to a POST or GET holds. */
export type AnswerContent =
  /** One message, or something in its place that is none. */
  | { readonly kind: 'message'; readonly message: RpcMessage | RpcReject; readonly text: string }
  | { readonly kind: 'stream'; readonly stream: MessageStream }
  | { readonly kind: 'nothing' }

export interface ReadAnswerOptions {
  readonly endpoint: Endpoint
  readonly payload: Payload
  /** Whether the request was one that changes nothing; decides what a failure means. */
  readonly repeatable: boolean
}

/**
 * Reads an answer as far as needed to know what it is (MH-POST-08). A JSON-RPC error counts with any status but those that want credentials
 * . Rejects with an `HttpAuthError`, or an `HttpStatusError` for what is no message, with a piece of what came (field report C16).
 */
export async function readAnswer(answer: HttpAnswer, options: ReadAnswerOptions): Promise<AnswerContent> {
  const { endpoint, payload, repeatable } = options
  const { status, headers } = answer
  if (status === 401 || status === 403 || status === 407) {
    void discard(answer.body, endpoint.clock)
    throw endpoint.authError(answer)
  }
  const type = headers['content-type']
  if (status >= 200 && status < 300) {
    if (status === 202 || status === 204) {
      void discard(answer.body, endpoint.clock)
      return { kind: 'nothing' }
    }
    if (isSseType(type)) {
      return { kind: 'stream', stream: new MessageStream(answer.body, endpoint.maxMessageBytes, payload) }
    }
    if (isJsonType(type)) {
      const read = readText(answer.body, endpoint.maxMessageBytes)
      const text = typeof read === 'string' ? read : await read
      return blank.test(text) ? { kind: 'nothing' } : { kind: 'message', message: parseMessage(text, payload), text }
    }
    const text = await readSome(answer.body, maxForeignBytes)
    if (blank.test(text)) return { kind: 'nothing' }
    throw endpoint.statusError(answer, text, repeatable)
  }
  const text = await readSome(answer.body, endpoint.maxMessageBytes)
  const message = parseMessage(text, payload)
  if (message.kind === 'error') return { kind: 'message', message, text }
  throw endpoint.statusError(answer, text, repeatable)
}

const blank = /^\s*$/
const maxForeignBytes = 65_536

/** Longer ones do not fit into the head of a request that most servers take. */
const maxEventIdBytes = 4_096

/** The id of an event as the value of a field, which holds its bytes in UTF-8 (WHATWG); `undefined` for one that no field can hold. */
function fieldOfEventId(id: string): string | undefined {
  if (id.length > maxEventIdBytes) return undefined
  const bytes = new TextEncoder().encode(id)
  if (bytes.length > maxEventIdBytes) return undefined
  const field = String.fromCharCode(...bytes)
  return /^[\t\x20-\x7E\x80-\xFF]+$/.test(field) ? field : undefined
}

/** The messages of an event stream. */
export class MessageStream implements AsyncIterable<RpcMessage | RpcReject> {
  readonly #body: AsyncIterable<Uint8Array>
  readonly #decoder: ReturnType<typeof createSseDecoder>
  readonly #payload: Payload

  constructor(body: AsyncIterable<Uint8Array>, maxEventBytes: number, payload: Payload) {
    this.#body = body
    this.#decoder = createSseDecoder({ maxEventBytes })
    this.#payload = payload
  }

  /** Where the stream can be taken up again, if it can: the value of `Last-Event-ID`. */
  get lastEventId(): string | undefined {
    const id = this.#decoder.lastEventId
    return id === undefined || id === '' ? undefined : fieldOfEventId(id)
  }

  /** How long the server wants us to wait before we do. */
  get retryMs(): number | undefined {
    return this.#decoder.retryMs
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RpcMessage | RpcReject> {
    for await (const chunk of this.#body) {
      for (const { type, data } of this.#decoder.push(chunk)) {
        // Events of other types are not ours, and one without data only carries an id.
        if (type === 'message' && data !== '') yield parseMessage(data, this.#payload)
      }
    }
  }
}
