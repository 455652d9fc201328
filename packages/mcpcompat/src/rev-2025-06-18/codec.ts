import { errorForLegacy, errorForModern, resultForLegacy, resultForModern } from '../bridge.ts'
import type { Call, Outcome } from '../contract/call.ts'
import type { WireHints } from '../contract/context.ts'
import { internalError, toErrorObject, toRpcError } from '../contract/failure.ts'
import { method } from '../contract/methods.ts'
import type { AnswerContext, Decoded, DecodedCall, DecodeFailure, RequestContext, WireCodec } from '../contract/wire.ts'
import { RpcError } from '../jsonrpc/errors.ts'
import { type Json, type JsonRecord, toObject, toText } from '../jsonrpc/json.ts'
import { JsonText } from '../jsonrpc/json-text.ts'
import type { RpcErrorObject, RpcFailure, RpcId, RpcNotification, RpcRequest, RpcResponse } from '../jsonrpc/message.ts'
import { memberOf } from '../member.ts'
import { metaOf } from '../meta.ts'
import { checkParams, duplicateFault } from '../method-params.ts'
import { isPlainToolCall, plainToolCall } from '../plain-tool-call.ts'
import { methods as modernMethods } from '../rev-2026-07-28/methods.ts'
import { decodeNotice, requestNotice } from '../rev-2026-07-28/notices.ts'
import { metaFault, readArguments, RequestEnvelope, type SessionFacts, writeParams } from './envelope.ts'
import { featuresOf, type LegacyFeatures } from './features.ts'
import { methods } from './methods.ts'
import { carriesEverything, fitResult } from './older-content.ts'

export interface CreateLegacyCodecOptions {
  readonly revision: string
  /** What the session knows about its peer, read anew for each call. A nameless peer without wishes when left out. */
  readonly session?: SessionFacts
}

/**
 * The wire form of a legacy revision. What needs memory (the handshake, subscriptions, questions to the client) is the
 * business of a session; this is everything else. Modern members never reach a legacy peer (LG-MSG-06).
 */
export function createLegacyCodec(options: CreateLegacyCodecOptions): WireCodec {
  return new LegacyCodec(options.revision, options.session ?? { peer: { capabilities: {} }, logLevel: undefined })
}

class LegacyCodec implements WireCodec {
  readonly revision: string
  readonly #features: LegacyFeatures
  readonly #session: SessionFacts

  constructor(revision: string, session: SessionFacts) {
    this.revision = revision
    this.#features = featuresOf(revision)
    this.#session = session
  }

  decodeCall(message: RpcRequest): Decoded<DecodedCall> {
    const { params } = message
    const meta = metaOf(params)
    const envelopeFault = metaFault(meta)
    if (envelopeFault !== undefined) return failed('invalid-envelope', envelopeFault, params)
    let args: JsonRecord | undefined = plainToolCall(message.method, params)
    if (args === undefined && isPlainToolCall(message.method, params)) args = readArguments(params)
    if (args === undefined) {
      if (!methods.has(message.method) && modernMethods.has(message.method)) {
        return failed('not-in-revision', `Method not found: ${message.method}`, params)
      }
      const twice = duplicateFault(params)
      if (twice !== undefined) return failed('invalid-params', twice, params)
      args = readArguments(params)
      const paramsFault = checkParams(message.method, args)
      if (paramsFault !== undefined) return failed('invalid-params', paramsFault, params)
    }
    const call: Call = { method: message.method, params: args }
    const metaText = JsonText.is(params) ? params.member('_meta') : undefined
    return { ok: true, value: { call, context: new RequestEnvelope(meta, metaText, this.#session) } }
  }

  encodeOutcome(call: Call, outcome: Outcome, _context: AnswerContext, id: RpcId): RpcResponse {
    switch (outcome.kind) {
      case 'result':
        return { kind: 'result', id, result: writeResult(call, outcome.value, this.#features) }
      case 'ask':
        // Nobody here could put the question to the client.
        return {
          kind: 'error',
          id,
          error: { ...internalError, data: new JsonText(`{"inputRequired":${toText(outcome.raw)}}`) },
        }
      case 'other':
        return unknownResult(call, outcome.resultType, id)
    }
  }

  encodeNotice(_call: Call, notice: Call, context: AnswerContext): RpcNotification | undefined {
    return requestNotice(notice, context)
  }

  encodeError(error: unknown, id: RpcId | undefined, call?: Call): RpcFailure {
    const own = RpcError.is(error) ? ownErrors.get(error) : undefined
    if (own !== undefined) return { kind: 'error', id, error: own }
    const uri = call?.method === method.readResource ? memberOf(call.params, 'uri') : undefined
    const context = { method: call?.method ?? '', ...(typeof uri === 'string' && { uri }) }
    return { kind: 'error', id, error: errorForLegacy(toErrorObject(error), context) }
  }

  encodeCall(call: Call, context: RequestContext, id: RpcId): { message: RpcRequest; hints: WireHints } {
    return {
      message: { kind: 'request', id, method: call.method, params: writeParams(call, context) },
      hints: noHints,
    }
  }

  decodeOutcome(call: Call, message: RpcResponse): Decoded<Outcome> {
    if (message.kind === 'error') {
      const uri = call.method === method.readResource ? memberOf(call.params, 'uri') : undefined
      const context = { method: call.method, ...(typeof uri === 'string' && { uri }) }
      throw translated(message.error, errorForModern(message.error, context))
    }
    const value = resultForModern(call.method, message.result)
    if (value !== message.result) ownResults.set(value, message.result)
    return { ok: true, value: { kind: 'result', value } }
  }

  decodeNotice(message: RpcNotification): Decoded<Call> {
    return decodeNotice(message)
  }
}

const noHints: WireHints = Object.freeze({})

/**
 * What legacy servers said in words that the neutral model does not have, by what became of it there: to a legacy client it goes as it came
 * (decisions 7).
 */
const ownErrors = new WeakMap<RpcError, RpcErrorObject>()
const ownResults = new WeakMap<JsonRecord, JsonRecord>()

function translated(own: RpcErrorObject, told: RpcErrorObject): RpcError {
  const error = toRpcError(told)
  if (told !== own) ownErrors.set(error, own)
  return error
}

/** Wire forms of source text that a dispatcher gives again and again, such as the list of its tools. Each is a function of its key. */
const steady = new WeakMap<JsonText, Map<LegacyFeatures, JsonRecord>>()
const steadyMethods: ReadonlySet<string> = new Set(
  [...modernMethods].filter(([, rule]) => rule.steady).map(([name]) => name),
)

function writeResult(call: Call, value: JsonRecord, features: LegacyFeatures): JsonRecord {
  if (!JsonText.is(value) || !steadyMethods.has(call.method)) return fit(call, value, features)
  let forms = steady.get(value)
  if (forms === undefined) {
    forms = new Map()
    steady.set(value, forms)
  }
  let wire = forms.get(features)
  if (wire === undefined) {
    wire = fit(call, value, features)
    forms.set(features, wire)
  }
  return wire
}

/** Always text, so that a value which JSON cannot hold fails here, where the caller can still be answered. */
function fit(call: Call, value: JsonRecord, features: LegacyFeatures): JsonRecord {
  let fitted = ownResults.get(value) ?? resultForLegacy(call.method, value)
  if (!carriesEverything(features)) fitted = fitResult(call.method, toObject(fitted), features)
  return JsonText.is(fitted) ? fitted : JsonText.ofLine(toText(fitted))
}

/** BR-125: a result of a type that the caller cannot know. A model can read why its tool gave nothing. */
function unknownResult(call: Call, resultType: string, id: RpcId): RpcResponse {
  const text = `The server answered with a result of the unknown type ${JSON.stringify(resultType.slice(0, 80))}.`
  if (call.method !== method.callTool) return { kind: 'error', id, error: { ...internalError, message: text } }
  return { kind: 'result', id, result: { content: [{ type: 'text', text }], isError: true } }
}

function failed<T>(reason: DecodeFailure, message: string, raw: Json | undefined): Decoded<T> {
  return { ok: false, reason, message, raw }
}
