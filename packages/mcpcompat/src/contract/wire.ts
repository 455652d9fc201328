import type { Json, JsonRecord } from '../jsonrpc/json.ts'
import type { JsonText } from '../jsonrpc/json-text.ts'
import type { RpcFailure, RpcId, RpcNotification, RpcRequest, RpcResponse } from '../jsonrpc/message.ts'
import type { Call, Outcome } from './call.ts'
import type { CallContext, CallSource, LogLevel, Peer, Resume, WireHints } from './context.ts'

/** Three ways in which a message can fail to be what a revision says. */
export type DecodeFailure = 'not-in-revision' | 'invalid-params' | 'invalid-envelope'

export type Decoded<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: DecodeFailure; readonly message: string; readonly raw: Json | undefined }

/** What a codec reads from the envelope of a request; the serving loop makes a `CallContext` of it. */
export interface DecodedContext {
  readonly peer: Peer
  /** The whole `_meta` as received; `CallContext.meta` is made from it when somebody asks. */
  readonly rawMeta: JsonRecord | undefined
  /** Its source text, where there is one. */
  readonly rawMetaText?: JsonText | undefined
  readonly progressToken: RpcId | undefined
  readonly logLevel: LogLevel | undefined
  readonly resume: Resume | undefined
}

export interface DecodedCall {
  readonly call: Call
  /** The params as they came, where they can be passed on as they are. */
  readonly source?: CallSource | undefined
  readonly context: DecodedContext
}

/** The part of a context that decides how an answer is written. */
export type AnswerContext = Pick<CallContext, 'progressToken' | 'logLevel' | 'resume'>

/** The part of a context that decides how a request is written. */
export type RequestContext = Pick<
  CallContext,
  'peer' | 'meta' | 'metaText' | 'progressToken' | 'logLevel' | 'resume' | 'source'
>

/**
 * The wire form of one revision. Functions only: callers never see a schema and never ask which era it is.
 * Both directions are here, since a proxy decodes with one codec and encodes with another.
 */
export interface WireCodec {
  /** For logs, never for branching. */
  readonly revision: string

  // serving
  decodeCall(message: RpcRequest, hints: WireHints): Decoded<DecodedCall>
  encodeOutcome(call: Call, outcome: Outcome, context: AnswerContext, id: RpcId): RpcResponse
  /** Adds the progress token or subscription id. `undefined`: the caller did not ask for it, send nothing. */
  encodeNotice(call: Call, notice: Call, context: AnswerContext, id: RpcId): RpcNotification | undefined
  /**
   * `RpcError`s keep code and data as far as the era allows; anything else becomes an internal error without its text. What an
   * era calls an error can depend on the call that failed, so it is given where there is one.
   */
  encodeError(error: unknown, id: RpcId | undefined, call?: Call): RpcFailure

  // calling
  encodeCall(
    call: Call,
    context: RequestContext,
    id: RpcId,
  ): { readonly message: RpcRequest; readonly hints: WireHints }
  /** An error response is thrown as an `RpcError` in the form of the modern revision. */
  decodeOutcome(call: Call, message: RpcResponse): Decoded<Outcome>
  /** Gives the notice without what the carrier used to route it: progress token and subscription id. */
  decodeNotice(message: RpcNotification): Decoded<Call>
}
