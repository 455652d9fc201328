import type { Json, JsonRecord } from './json.ts'

/** A JSON-RPC id as MCP allows it: a string, or an integer that JavaScript holds exactly (MC-ID-01, A-22). */
export type RpcId = string | number

/** A request: it has an id and is owed exactly one response (MC-MSG-03). */
export interface RpcRequest {
  readonly kind: 'request'
  readonly id: RpcId
  readonly method: string
  readonly params: JsonRecord | undefined
}

/** A notification: it has no id and is never answered (MC-MSG-07, MC-MSG-08). */
export interface RpcNotification {
  readonly kind: 'notification'
  readonly method: string
  readonly params: JsonRecord | undefined
}

/** A success response (MC-MSG-04). */
export interface RpcResult {
  readonly kind: 'result'
  readonly id: RpcId
  readonly result: JsonRecord
}

/** An error response. `id` is absent when the message that failed had none that could be read (MC-MSG-06, A-11). */
export interface RpcFailure {
  readonly kind: 'error'
  readonly id: RpcId | undefined
  readonly error: RpcErrorObject
}

/** The `error` member of an error response. */
export interface RpcErrorObject {
  readonly code: number
  readonly message: string
  readonly data?: Json
}

export type RpcResponse = RpcResult | RpcFailure

/** One JSON-RPC message as this library passes it around: without `jsonrpc`, with its kind decided once. */
export type RpcMessage = RpcRequest | RpcNotification | RpcResponse

/** Input that is no valid message. `reason` tells why; `id` is set when one could be read. Not to be confused with a broken connection. */
export interface RpcReject {
  readonly kind: 'reject'
  /** -32700 for bytes that are not JSON, -32600 for JSON that is no message (MC-MSG-15). */
  readonly code: number
  readonly reason: string
  readonly id: RpcId | undefined
  /** An array: a batch of the revisions that had them (MC-MSG-13). The client's era verdict looks at this. */
  readonly batch?: boolean
  /** The source text of a batch, for a client's probe, whose answer may be in it (row S17). */
  readonly text?: string
  /**
   * What the message would have been, as far as that can be told. A broken notification or response is owed no answer
   * (MC-MSG-08); where nothing can be told, the sender may wait for one.
   */
  readonly like?: 'request' | 'notification' | 'response'
}
