import type { Call } from '../contract/call.ts'
import type { LogLevel, Peer } from '../contract/context.ts'
import type { DecodedContext, RequestContext } from '../contract/wire.ts'
import { addMembers, omitMembers } from '../jsonrpc/edit.ts'
import { type JsonObject, type JsonRecord, type JsonValue, isJsonObject, toText } from '../jsonrpc/json.ts'
import { JsonText } from '../jsonrpc/json-text.ts'
import type { RpcId } from '../jsonrpc/message.ts'
import { metaKey, stripReservedMeta, stripReservedText } from '../meta.ts'

/** What a legacy request does not carry itself because the session agreed on it before. */
export interface SessionFacts {
  readonly peer: Peer
  readonly logLevel: LogLevel | undefined
}

const noParams: JsonObject = Object.freeze({})

/**
 * The params of a method without `_meta`. Members that would mean something in the modern envelope mean nothing here and are
 * left out as well, so that nobody takes them for answers to an ask.
 */
export function readArguments(params: JsonRecord | undefined): JsonRecord {
  if (params === undefined) return noParams
  if (JsonText.is(params)) return omitMembers(params, isEnvelopeMember)
  let clean = true
  for (const key in params) {
    if (isEnvelopeMember(key)) {
      clean = false
      break
    }
  }
  if (clean) return params
  const { _meta, inputResponses: _responses, requestState: _state, ...rest } = params
  return rest
}

function isEnvelopeMember(key: string): boolean {
  return key === '_meta' || key === 'inputResponses' || key === 'requestState'
}

/** What is wrong with the `_meta` of a legacy request, in words, or `undefined`. */
export function metaFault(meta: JsonValue | undefined): string | undefined {
  if (meta === undefined) return undefined
  if (!isJsonObject(meta)) return '"_meta" must be an object'
  const token = meta[metaKey.progressToken]
  return token === undefined || typeof token === 'string' || Number.isSafeInteger(token)
    ? undefined
    : '"_meta.progressToken" must be a string or an integer'
}

/** What the envelope of a request and its session say together. */
export class RequestEnvelope implements DecodedContext {
  readonly peer: Peer
  readonly rawMeta: JsonObject | undefined
  readonly rawMetaText: JsonText | undefined
  readonly progressToken: RpcId | undefined
  readonly logLevel: LogLevel | undefined
  readonly resume = undefined

  constructor(meta: JsonValue | undefined, metaText: JsonText | undefined, session: SessionFacts) {
    this.peer = session.peer
    this.rawMetaText = metaText
    this.rawMeta = isJsonObject(meta) ? meta : undefined
    this.progressToken = this.rawMeta?.[metaKey.progressToken] as RpcId | undefined
    this.logLevel = session.logLevel
  }
}

/** The params of a request: `_meta` holds nothing that only the modern revision knows (A-61, BR-202). */
export function writeParams(call: Call, context: RequestContext): JsonRecord {
  const { progressToken, metaText } = context
  if (metaText !== undefined && JsonText.is(call.params)) {
    const text = writeText(stripReservedText(metaText), progressToken)
    return text === undefined ? call.params : addMembers(call.params, `"_meta":${text}`)
  }
  if (progressToken === undefined && metaText === undefined && isEmpty(context.meta)) return call.params
  const meta = {
    ...stripReservedMeta(context.meta),
    ...(progressToken !== undefined && { [metaKey.progressToken]: progressToken }),
  }
  if (Object.keys(meta).length === 0) return call.params
  return JsonText.is(call.params) ? addMembers(call.params, `"_meta":${toText(meta)}`) : { ...call.params, _meta: meta }
}

/** The text of a `_meta` with the token, or `undefined` when nothing is in it. */
function writeText(meta: JsonText, progressToken: RpcId | undefined): string | undefined {
  if (progressToken === undefined) return meta.members === '' ? undefined : meta.line
  return addMembers(meta, `"${metaKey.progressToken}":${JSON.stringify(progressToken)}`).line
}

function isEmpty(meta: JsonObject): boolean {
  for (const _key in meta) return false
  return true
}
