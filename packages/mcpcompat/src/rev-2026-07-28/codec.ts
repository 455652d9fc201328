import { errorForModern } from '../bridge.ts'
import type { Call, Outcome } from '../contract/call.ts'
import type { Resume, WireHints } from '../contract/context.ts'
import type { Implementation } from '../contract/dispatcher.ts'
import { method } from '../contract/methods.ts'
import { internalError, toErrorObject, toRpcError } from '../contract/failure.ts'
import type { AnswerContext, Decoded, DecodedCall, DecodeFailure, RequestContext, WireCodec } from '../contract/wire.ts'
import { standardHeaders } from '../headers.ts'
import { askingMethods } from '../input-requests.ts'
import { rpcCode } from '../jsonrpc/errors.ts'
import type { Json, JsonObject, JsonRecord, JsonValue } from '../jsonrpc/json.ts'
import { JsonText } from '../jsonrpc/json-text.ts'
import type { RpcErrorObject, RpcFailure, RpcId, RpcNotification, RpcRequest, RpcResponse } from '../jsonrpc/message.ts'
import { checkEnvelope, metaOf } from '../meta.ts'
import { checkParams, duplicateFault } from '../method-params.ts'
import { isPlainToolCall, plainToolCall } from '../plain-tool-call.ts'
import { parseResult } from '../results.ts'
import type { RevisionOffer } from '../revisions.ts'
import { methods as legacyMethods } from '../rev-2025-06-18/methods.ts'
import { readArguments, readResume, RequestEnvelope, writeParams } from './envelope.ts'
import { methods } from './methods.ts'
import { decodeNotice, encodeNotice } from './notices.ts'
import { ResultWriter } from './result.ts'

export interface CreateModernCodecOptions {
  readonly revision: string
  /** Who we are, for the `_meta` of results (MC-META-10). Left out: results do not name their server. */
  readonly serverInfo?: Implementation | undefined
  /** Result types of extensions that both sides have agreed on (MC-RT-05). */
  readonly extensionResultTypes?: readonly string[]
}

/**
 * The wire form of a modern revision. It decodes requests that claim exactly this revision, and whose structure fits; whether
 * a tool, a prompt or an extension's method exists is for the dispatcher to say. Stateless: one codec serves any number of peers.
 */
export function createModernCodec(options: CreateModernCodecOptions): WireCodec {
  return new ModernCodec(options)
}

class ModernCodec implements WireCodec {
  readonly revision: string
  readonly #offer: RevisionOffer
  readonly #results: ResultWriter
  readonly #extensionResultTypes: readonly string[]
  #cleanMeta: JsonValue | undefined

  constructor(options: CreateModernCodecOptions) {
    this.revision = options.revision
    this.#offer = { modern: [options.revision], legacy: [] }
    this.#results = new ResultWriter(options.serverInfo)
    this.#extensionResultTypes = options.extensionResultTypes ?? []
  }

  decodeCall(message: RpcRequest): Decoded<DecodedCall> {
    const { params } = message
    const meta = metaOf(params)
    const envelopeFault = checkEnvelope(meta, this.#offer)
    if (envelopeFault !== undefined) return failed('invalid-envelope', envelopeFault.message, params)
    const plain = plainToolCall(message.method, params)
    if (plain !== undefined) return decoded(message.method, plain, meta, undefined, undefined)
    if (isPlainToolCall(message.method, params)) return this.#decodedText(message.method, params, meta, undefined)
    if (!methods.has(message.method) && legacyMethods.has(message.method)) {
      return failed('not-in-revision', `Method not found: ${message.method}`, params)
    }
    const known = params as JsonRecord // a good envelope means that there are params
    const twice = duplicateFault(known)
    if (twice !== undefined) return failed('invalid-params', twice, params)
    const paramsFault = checkParams(message.method, known)
    if (paramsFault !== undefined) return failed('invalid-params', paramsFault, params)
    const resume = readResume(known)
    return JsonText.is(known)
      ? this.#decodedText(message.method, known, meta, resume)
      : decoded(message.method, readArguments(known), meta, undefined, resume)
  }

  #decodedText(
    methodName: string,
    known: JsonText,
    meta: JsonValue | undefined,
    resume: Resume | undefined,
  ): Decoded<DecodedCall> {
    const metaText = known.member('_meta')
    const context = new RequestEnvelope(meta as JsonObject, metaText, resume) // its form was checked
    const call: Call = { method: methodName, params: readArguments(known) }
    const { revision } = this
    const isClean = metaText !== undefined && this.#isClean(metaText, meta)
    const source = isClean ? { call, params: known, revision } : undefined
    return { ok: true, value: { call, context, source } }
  }

  /** Whether `_meta` says nothing twice, which the next hop could read otherwise. `value` is the same object for the same text. */
  #isClean(meta: JsonText, value: JsonValue | undefined): boolean {
    if (value === this.#cleanMeta) return true
    if (meta.duplicates.length > 0) return false
    this.#cleanMeta = value
    return true
  }

  encodeOutcome(call: Call, outcome: Outcome, context: AnswerContext, id: RpcId): RpcResponse {
    switch (outcome.kind) {
      case 'result':
        return { kind: 'result', id, result: this.#writeResult(call, outcome, context, id) }
      case 'ask':
        if (askingMethods.has(call.method)) return { kind: 'result', id, result: this.#results.ask(outcome) }
        //
        return { kind: 'error', id, error: { ...internalError, message: `${call.method} cannot ask for input` } }
      case 'other':
        return { kind: 'result', id, result: this.#results.other(outcome) }
    }
  }

  #writeResult(call: Call, outcome: Outcome & { kind: 'result' }, context: AnswerContext, id: RpcId): JsonRecord {
    if (call.method === method.listen) return this.#results.closing(id)
    const rule = methods.get(call.method)
    if (rule === undefined) return this.#results.complete(outcome, false, false)
    if (rule.steady) return this.#results.steady(outcome, rule.cacheable)
    return this.#results.complete(outcome, rule.cacheable, context.resume !== undefined)
  }

  encodeNotice(call: Call, notice: Call, context: AnswerContext, id: RpcId): RpcNotification | undefined {
    return encodeNotice(call, notice, context, id)
  }

  encodeError(error: unknown, id: RpcId | undefined): RpcFailure {
    return { kind: 'error', id, error: emittable(toErrorObject(error)) }
  }

  encodeCall(call: Call, context: RequestContext, id: RpcId): { message: RpcRequest; hints: WireHints } {
    const { revision } = this
    const { source } = context
    const isAsItCame = source !== undefined && source.call === call && source.revision === revision
    const params = isAsItCame ? source.params : writeParams(call, context, revision)
    return new EncodedCall({ kind: 'request', id, method: call.method, params }, call, revision)
  }

  decodeOutcome(call: Call, message: RpcResponse): Decoded<Outcome> {
    if (message.kind === 'error') throw toRpcError(message.error)
    const { result } = message
    const parsed = parseResult(call.method, result, { extensionResultTypes: this.#extensionResultTypes })
    switch (parsed.kind) {
      case 'complete':
        return { ok: true, value: { kind: 'result', value: result } }
      case 'input_required':
        return { ok: true, value: { kind: 'ask', ...parsed.ask } }
      case 'extension':
        return { ok: true, value: { kind: 'other', resultType: parsed.resultType, raw: parsed.raw } }
      case 'invalid':
        // A type that nobody here knows is kept and reported, never used as a result (MC-RT-04); anything else is a defect.
        return parsed.resultType === undefined
          ? failed('invalid-params', parsed.reason, result)
          : { ok: true, value: { kind: 'other', resultType: parsed.resultType, raw: result } }
    }
  }

  decodeNotice(message: RpcNotification): Decoded<Call> {
    return decodeNotice(message)
  }
}

/** A class, since every literal with a getter gets a shape of its own, which costs more than the whole request. */
class EncodedCall {
  readonly message: RpcRequest
  readonly #call: Call
  readonly #revision: string

  constructor(message: RpcRequest, call: Call, revision: string) {
    this.message = message
    this.#call = call
    this.#revision = revision
  }

  /** Made when a carrier with headers asks: a name that no header can hold is no fault where there are none. */
  get hints(): WireHints {
    return standardHeaders(this.#call, this.#revision)
  }
}

function decoded(
  methodName: string,
  params: JsonRecord,
  meta: JsonValue | undefined,
  metaText: JsonText | undefined,
  resume: Resume | undefined,
): Decoded<DecodedCall> {
  const context = new RequestEnvelope(meta as JsonObject, metaText, resume) // its form was checked
  return { ok: true, value: { call: { method: methodName, params }, context } }
}

/** Codes that a modern peer may be sent (MC-ERR-02, -04, -08). What an older server or a handler means by others goes into `data`. */
function emittable(error: RpcErrorObject): RpcErrorObject {
  return error.code <= rpcCode.headerMismatch && error.code >= rpcCode.unsupportedVersion
    ? error
    : errorForModern(error)
}

function failed<T>(reason: DecodeFailure, message: string, raw: Json | undefined): Decoded<T> {
  return { ok: false, reason, message, raw }
}
