import type { Call } from '../contract/call.ts'
import type { LogLevel, Peer, Resume } from '../contract/context.ts'
import type { DecodedContext, RequestContext } from '../contract/wire.ts'
import { addMembers, omitMembers } from '../jsonrpc/edit.ts'
import { type JsonObject, type JsonRecord, isJsonObject, toText } from '../jsonrpc/json.ts'
import { JsonText } from '../jsonrpc/json-text.ts'
import type { RpcId } from '../jsonrpc/message.ts'
import { metaKey } from '../meta.ts'

const metaMember = '_meta'
const responsesMember = 'inputResponses'
const stateMember = 'requestState'

/** The params of a method without what belongs to the envelope: `_meta`, `inputResponses` and `requestState`. */
export function readArguments(params: JsonRecord): JsonRecord {
  if (JsonText.is(params)) return omitMembers(params, isEnvelopeMember)
  const { [metaMember]: _meta, [responsesMember]: _responses, [stateMember]: _state, ...rest } = params
  return rest
}

function isEnvelopeMember(key: string): boolean {
  return key === metaMember || key === responsesMember || key === stateMember
}

/** The answers that a retried request brings, or `undefined` for a first attempt. Their types were checked before. */
export function readResume(params: JsonRecord): Resume | undefined {
  const responsesText = JsonText.is(params) ? params.member(responsesMember) : undefined
  const responses = JsonText.is(params) ? responsesText?.value : params[responsesMember]
  const state = JsonText.is(params) ? params.member(stateMember)?.value : params[stateMember]
  if (responses === undefined && state === undefined) return undefined
  return {
    ...(typeof state === 'string' && { requestState: state }),
    inputResponses: isJsonObject(responses) ? responses : {},
    ...(responsesText !== undefined && { responsesText }),
  }
}

/** What the envelope of a request says. Who sent it is put together only when somebody asks. */
export class RequestEnvelope implements DecodedContext {
  readonly rawMeta: JsonObject
  readonly rawMetaText: JsonText | undefined
  readonly progressToken: RpcId | undefined
  readonly logLevel: LogLevel | undefined
  readonly resume: Resume | undefined
  #peer: Peer | undefined

  constructor(meta: JsonObject, metaText: JsonText | undefined, resume: Resume | undefined) {
    this.rawMeta = meta
    this.rawMetaText = metaText
    this.progressToken = meta[metaKey.progressToken] as RpcId | undefined
    this.logLevel = meta[metaKey.logLevel] as LogLevel | undefined
    this.resume = resume
  }

  get peer(): Peer {
    this.#peer ??= readPeer(this.rawMeta)
    return this.#peer
  }
}

function readPeer(meta: JsonObject): Peer {
  const capabilities = meta[metaKey.clientCapabilities] as JsonObject
  const info = meta[metaKey.clientInfo]
  return isJsonObject(info)
    ? { name: info['name'] as string, version: info['version'] as string, info, capabilities }
    : { capabilities }
}

/** The params of a request with their envelope (MC-REQ-01, -02, -03). */
export function writeParams(call: Call, context: RequestContext, revision: string): JsonRecord {
  const { resume } = context
  const answers =
    resume !== undefined && Object.keys(resume.inputResponses).length > 0 ? resume.inputResponses : undefined
  if (!JsonText.is(call.params)) {
    return {
      ...call.params,
      ...(answers !== undefined && { [responsesMember]: answers }),
      ...(resume?.requestState !== undefined && { [stateMember]: resume.requestState }),
      [metaMember]: { ...context.meta, ...writeMeta(context, revision) },
    }
  }
  let added = `"${metaMember}":${metaText(context, revision)}`
  if (answers !== undefined) added += `,"${responsesMember}":${resume?.responsesText?.line ?? toText(answers)}`
  if (resume?.requestState !== undefined) added += `,"${stateMember}":${JSON.stringify(resume.requestState)}`
  return addMembers(call.params, added)
}

/** The envelope in front of whatever else the caller's `_meta` holds, which stays as it came where it is at hand as text. */
function metaText(context: RequestContext, revision: string): string {
  const envelope = writeMeta(context, revision)
  if (context.metaText === undefined) return toText({ ...context.meta, ...envelope })
  return context.metaText.members === ''
    ? toText(envelope)
    : addMembers(context.metaText, toText(envelope).slice(1, -1)).line
}

function writeMeta(context: RequestContext, revision: string): JsonObject {
  const { peer, progressToken, logLevel } = context
  const { name, version } = peer
  const info = peer.info ?? (name !== undefined && version !== undefined ? { name, version } : undefined)
  return {
    [metaKey.protocolVersion]: revision,
    ...(info !== undefined && { [metaKey.clientInfo]: info }),
    [metaKey.clientCapabilities]: peer.capabilities,
    ...(progressToken !== undefined && { [metaKey.progressToken]: progressToken }),
    ...(logLevel !== undefined && { [metaKey.logLevel]: logLevel }),
  }
}
