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
  const responses = JsonText.is(params) ? params.member(responsesMember)?.value : params[responsesMember]
  const state = JsonText.is(params) ? params.member(stateMember)?.value : params[stateMember]
  if (responses === undefined && state === undefined) return undefined
  const inputResponses = isJsonObject(responses) ? responses : {}
  return typeof state === 'string' ? { requestState: state, inputResponses } : { inputResponses }
}

/** What the envelope of a request says. Who sent it is put together only when somebody asks. */
export class RequestEnvelope implements DecodedContext {
  readonly rawMeta: JsonObject
  readonly progressToken: RpcId | undefined
  readonly logLevel: LogLevel | undefined
  readonly resume: Resume | undefined
  #peer: Peer | undefined

  constructor(meta: JsonObject, resume: Resume | undefined) {
    this.rawMeta = meta
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
  const meta = writeMeta(context, revision)
  const { resume } = context
  const answers =
    resume !== undefined && Object.keys(resume.inputResponses).length > 0 ? resume.inputResponses : undefined
  if (!JsonText.is(call.params)) {
    return {
      ...call.params,
      ...(answers !== undefined && { [responsesMember]: answers }),
      ...(resume?.requestState !== undefined && { [stateMember]: resume.requestState }),
      [metaMember]: meta,
    }
  }
  let added = `"${metaMember}":${toText(meta)}`
  if (answers !== undefined) added += `,"${responsesMember}":${toText(answers)}`
  if (resume?.requestState !== undefined) added += `,"${stateMember}":${JSON.stringify(resume.requestState)}`
  return addMembers(call.params, added)
}

function writeMeta(context: RequestContext, revision: string): JsonObject {
  const { peer, progressToken, logLevel } = context
  const { name, version } = peer
  const info = peer.info ?? (name !== undefined && version !== undefined ? { name, version } : undefined)
  return {
    ...context.meta,
    [metaKey.protocolVersion]: revision,
    ...(info !== undefined && { [metaKey.clientInfo]: info }),
    [metaKey.clientCapabilities]: peer.capabilities,
    ...(progressToken !== undefined && { [metaKey.progressToken]: progressToken }),
    ...(logLevel !== undefined && { [metaKey.logLevel]: logLevel }),
  }
}
