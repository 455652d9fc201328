import type { RpcId } from '@atenea/mcpcompat'
import { encodeMessage, type HttpRefusal, type RpcErrorObject } from '@atenea/mcpcompat/transport'
import type { HeaderFields, HttpExchange } from './http-exchange.ts'

/** Head of an answer that is one JSON object. */
export const jsonFields: HeaderFields = ['Content-Type', 'application/json']

const textFields: HeaderFields = ['Content-Type', 'text/plain; charset=utf-8']

/** Answers with a JSON-RPC error; one without an id when none could be read. */
export function answerError(
  exchange: HttpExchange,
  status: number,
  error: RpcErrorObject,
  id?: RpcId,
  fields: HeaderFields = [],
): void {
  exchange.whole(status, [...jsonFields, ...fields], encodeMessage({ kind: 'error', id, error }))
}

/** Answers as the ladder has decided. */
export function answerRefusal(exchange: HttpExchange, refusal: HttpRefusal): void {
  const fields = refusal.allow === undefined ? [] : ['Allow', refusal.allow]
  if (refusal.error === undefined) exchange.whole(refusal.status, fields, '')
  else answerError(exchange, refusal.status, refusal.error, refusal.id, fields)
}

/** What was accepted and needs no words (MH-POST-05, LG-HTTP-04, C25). */
export function answerAccepted(exchange: HttpExchange): void {
  exchange.whole(202, [], '')
}

/** What is not about MCP at all. */
export function answerText(exchange: HttpExchange, status: number, text: string): void {
  exchange.whole(status, textFields, text)
}

/** We are ending, or full, or cannot tell who asks. The request was not acted upon, so that it may be sent again. */
export function answerUnavailable(exchange: HttpExchange, reason: string, id?: RpcId, retryAfterMs = 5_000): void {
  answerError(exchange, 503, { code: -32_603, message: reason }, id, retryAfterField(retryAfterMs))
}

export function retryAfterField(ms: number): HeaderFields {
  return ['Retry-After', String(Math.max(1, Math.ceil(ms / 1_000)))]
}

/** Answers with JSON that is no message. */
export function answerJson(exchange: HttpExchange, status: number, body: string): void {
  exchange.whole(status, jsonFields, body)
}
