import { isJsonObject, type Json, type JsonValue } from './jsonrpc/json.ts'

/** A JSON-RPC answer as a verdict reads it. Its id is not looked at: the HTTP exchange correlates. */
export type RpcOutcome =
  | { readonly kind: 'result'; readonly result: Json }
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data?: Json }

/** What the body of an HTTP answer holds. */
export type AnswerBody =
  | { readonly kind: 'rpc'; readonly outcome: RpcOutcome }
  /** A batch that holds an answer, as 2025-03-26 had them. */
  | { readonly kind: 'batch' }
  | { readonly kind: 'empty' }
  /** JSON, but no JSON-RPC answer. */
  | { readonly kind: 'other-json' }
  | { readonly kind: 'not-json' }

/** Reads the body of an HTTP answer, or the data of the SSE event that holds the response. Never throws. */
export function readAnswerBody(text: string): AnswerBody {
  if (/^\s*$/.test(text)) return { kind: 'empty' }
  let value: JsonValue
  try {
    value = JSON.parse(text) as JsonValue
  } catch {
    return { kind: 'not-json' }
  }
  const outcome = rpcOutcomeOf(value)
  if (outcome !== undefined) return { kind: 'rpc', outcome }
  return isAnswerBatch(value) ? { kind: 'batch' } : { kind: 'other-json' }
}

/** The answer in a parsed value: an object with `jsonrpc: "2.0"` and an `error` with an integer code, or a `result`. */
function rpcOutcomeOf(value: JsonValue): RpcOutcome | undefined {
  if (!isJsonObject(value) || value['jsonrpc'] !== '2.0') return undefined
  const { error, result } = value
  if (isJsonObject(error) && typeof error['code'] === 'number' && Number.isInteger(error['code'])) {
    const { code, message, data } = error
    return {
      kind: 'error',
      code,
      message: typeof message === 'string' ? message : '',
      ...(data !== undefined && { data }),
    }
  }
  return result === undefined ? undefined : { kind: 'result', result }
}

/** Whether a parsed value is a batch with an answer in it. With an id, only the answer to that request counts. */
export function isAnswerBatch(value: JsonValue, id?: string | number): boolean {
  return (
    Array.isArray(value) &&
    (value as readonly JsonValue[]).some(
      (entry) =>
        isJsonObject(entry) &&
        rpcOutcomeOf(entry) !== undefined &&
        (id === undefined || entry['id'] === id || entry['id'] == null),
    )
  )
}
