import type { ServerView } from './contract/dispatcher.ts'
import { method } from './contract/methods.ts'
import { rpcCode } from './jsonrpc/errors.ts'
import type { JsonValue } from './jsonrpc/json.ts'
import type { RpcErrorObject, RpcNotification, RpcRequest } from './jsonrpc/message.ts'
import { memberOf } from './member.ts'
import { checkClaim, checkEnvelope, claimOf, metaOf, missingKeys, unsupportedVersion } from './meta.ts'
import { checkParams } from './method-params.ts'
import { plainToolCall } from './plain-tool-call.ts'
import { eraOf, type RevisionOffer } from './revisions.ts'

/** The request that opens a legacy session. */
export const handshakeMethod = 'initialize'

const pingMethod = 'ping'

/** What a duplex connection remembers for the era of a message. */
export interface DuplexState {
  /** An `initialize` was received on this connection. */
  readonly initialized: boolean
}

/**
 * How a server treats one message of a duplex connection: by the modern rules, as a legacy handshake, or as a message of the
 * connection's legacy session; or the error with which it is answered.
 */
export type DuplexVerdict = 'modern' | 'initialize' | 'legacy' | RpcErrorObject

/**
 * Chooses the era of one message (decisions 2.3, MC-ERA-01 to -03): a claim selects modern, whatever came before on the
 * connection; anything else is legacy. For a claim, steps 16 and 18 of the ladder are done here. A notification is never refused.
 */
export function classifyDuplex(
  message: RpcRequest | RpcNotification,
  state: DuplexState,
  offer: RevisionOffer,
): DuplexVerdict {
  const meta = metaOf(message.params)
  const claim = claimOf(meta)
  if (typeof claim === 'string' && offer.modern.includes(claim)) return 'modern'
  if (message.kind === 'notification') return claim !== undefined || offer.legacy.length === 0 ? 'modern' : 'legacy'
  if (message.method === handshakeMethod && !claimsModern(claim)) return judgeHandshake(message, offer)
  if (claim !== undefined) return checkClaim(meta, offer) ?? 'modern'
  if (offer.legacy.length === 0) return withVersions(missingKeys(meta), offer)
  if (state.initialized || message.method === pingMethod) return 'legacy'
  //
  return unopened(meta, offer)
}

/** Whether a claim names a modern revision, known or not. Only then is `initialize` a method that does not exist. */
export function claimsModern(claim: JsonValue | undefined): boolean {
  return typeof claim === 'string' && eraOf(claim) === 'modern'
}

function judgeHandshake(message: RpcRequest, offer: RevisionOffer): DuplexVerdict {
  return offer.legacy.length > 0 ? 'initialize' : refuseHandshake(message, offer)
}

/** The answer of a modern-only server to a legacy handshake (A-24, A-57, MC-ERA-12, MC-VER-05). */
export function refuseHandshake(message: RpcRequest, offer: RevisionOffer): RpcErrorObject {
  const requested = memberOf(message.params, 'protocolVersion')
  return typeof requested === 'string'
    ? unsupportedVersion(requested, offer)
    : withVersions(missingKeys(metaOf(message.params)), offer)
}

function unopened(meta: JsonValue | undefined, offer: RevisionOffer): RpcErrorObject {
  if (offer.modern.length === 0) {
    return withVersions({ code: rpcCode.invalidParams, message: 'Send initialize first' }, offer)
  }
  const { code, message } = missingKeys(meta)
  return withVersions({ code, message: `${message}; a legacy client sends initialize first` }, offer)
}

/** The same error with the served versions in its text. */
export function withVersions(error: RpcErrorObject, offer: RevisionOffer): RpcErrorObject {
  return { ...error, message: `${error.message}. Served: ${[...offer.modern, ...offer.legacy].join(', ')}` }
}

/** Why a modern request is refused before it is dispatched, headers aside (ladder steps 16, 18, 20, 23, 24), or `undefined`. */
export function modernRequestFault(
  message: RpcRequest,
  offer: RevisionOffer,
  view: Pick<ServerView, 'has'>,
): RpcErrorObject | undefined {
  return checkEnvelope(metaOf(message.params), offer) ?? methodFault(message, view) ?? paramsFault(message)
}

/** Step 23 (MC-ERR-12, MC-DEP-02). Discovery is part of every modern server (MC-DISC-01), whoever dispatches the rest. */
export function methodFault(message: RpcRequest, view: Pick<ServerView, 'has'>): RpcErrorObject | undefined {
  return message.method === method.discover || view.has(message.method)
    ? undefined
    : { code: rpcCode.methodNotFound, message: 'Method not found' }
}

/** Step 24. */
export function paramsFault(message: RpcRequest): RpcErrorObject | undefined {
  if (plainToolCall(message.method, message.params) !== undefined) return undefined
  const fault = checkParams(message.method, message.params)
  return fault === undefined ? undefined : { code: rpcCode.invalidParams, message: `Invalid params: ${fault}` }
}
