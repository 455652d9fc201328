import { isJsonObject, type JsonObject, JsonText, type JsonValue } from '@atenea/mcpcompat'

/** One JSON-RPC message as it came, with its source text, since a defect must be seen as it was sent. */
export interface Received {
  readonly kind: 'response' | 'request' | 'notification'
  readonly text: string
  readonly value: JsonObject
  /** The source text of `id`; undefined when there is none. */
  readonly idText: string | undefined
}

/** Text that is no message, and why. */
export interface Junk {
  readonly kind: 'junk'
  readonly text: string
  readonly reason: string
}

/** Reads one message leniently: whatever could be one is one, and what is wrong with it is for the checks to say. */
export function readReceived(text: string): Received | Junk {
  let value: JsonValue
  try {
    value = JSON.parse(text) as JsonValue
  } catch {
    return { kind: 'junk', text, reason: 'not JSON' }
  }
  if (!isJsonObject(value)) {
    return { kind: 'junk', text, reason: Array.isArray(value) ? 'an array' : 'JSON, but no object' }
  }
  const idText = Object.hasOwn(value, 'id') ? new JsonText(text).member('id')?.text.trim() : undefined
  if (Object.hasOwn(value, 'result') || Object.hasOwn(value, 'error')) return { kind: 'response', text, value, idText }
  if (typeof value['method'] === 'string') {
    return { kind: idText === undefined ? 'notification' : 'request', text, value, idText }
  }
  return { kind: 'junk', text, reason: 'JSON, but no JSON-RPC message' }
}

/** A JSON-RPC error as it came. */
export interface ReceivedError {
  readonly code: number | undefined
  readonly message: string | undefined
  readonly data: JsonValue | undefined
}

/** The error of a response, read leniently. */
export function errorOf(received: Received | undefined): ReceivedError | undefined {
  const error = received?.value['error']
  if (error === undefined || error === null) return undefined
  if (!isJsonObject(error)) return { code: undefined, message: undefined, data: undefined }
  const { code, message, data } = error
  return {
    code: typeof code === 'number' && Number.isInteger(code) ? code : undefined,
    message: typeof message === 'string' ? message : undefined,
    data,
  }
}

/** The result of a response, if it is an object and there is no error beside it. */
export function resultOf(received: Received | undefined): JsonObject | undefined {
  const result = received?.value['result']
  return isJsonObject(result) && errorOf(received) === undefined ? result : undefined
}
