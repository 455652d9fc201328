import { claimsModern, handshakeMethod, methodFault, paramsFault, refuseHandshake, withVersions } from './classify.ts'
import type { WireHints } from './contract/context.ts'
import type { ServerView } from './contract/dispatcher.ts'
import { method } from './contract/methods.ts'
import { headerMismatch, headerName, standardHeaderFault, trimField } from './headers.ts'
import { createSourceGuard, type SourceGuard, type SourcePolicy } from './http-source.ts'
import { rpcCode } from './jsonrpc/errors.ts'
import type { RpcErrorObject, RpcId, RpcMessage, RpcNotification, RpcReject, RpcRequest } from './jsonrpc/message.ts'
import { type AnswerForms, acceptedForms, isJsonType } from './media-types.ts'
import { memberOf } from './member.ts'
import { checkClaim, checkEnvelope, claimOf, malformedClaim, metaOf, missingKeys, unsupportedVersion } from './meta.ts'
import { paramHeaderFault } from './param-headers.ts'
import { remembered } from './remembered.ts'
import { eraOf, type RevisionOffer } from './revisions.ts'

/** What every HTTP request has before its body is read. Header names are in lower case; a field that was sent twice is joined by commas. */
export interface HttpHead {
  readonly method: string
  readonly headers: WireHints
}

export interface HttpLadderPolicy extends SourcePolicy {
  readonly revisions: RevisionOffer
  /** Largest body that is read, in bytes. */
  readonly maxBodyBytes: number
  /** Whether legacy clients get sessions. If not, each of their requests stands alone and there is nothing to GET or DELETE. */
  readonly sessions: boolean
}

/** The live legacy sessions that the asking principal may use. */
export interface SessionLookup {
  /** The revision that a session has negotiated, or `undefined` when there is no such session for this principal. */
  revisionOf(sessionId: string): string | undefined
}

/** The request is refused: answer with this status, and with this error unless it has none. */
export interface HttpRefusal {
  readonly kind: 'reject'
  /** The step of decisions 2.1 that refused. */
  readonly step: number
  readonly status: number
  readonly error?: RpcErrorObject
  /** The id that the answer carries; none when it could not be read. */
  readonly id?: RpcId
  /** The `Allow` field of a 405. */
  readonly allow?: string
}

/** A legacy request without a message: open the stream of this session, or end the session. */
export interface SessionRequest {
  readonly kind: 'stream' | 'end'
  readonly sessionId: string
}

/** Step 27: a modern request, to be answered in one of these forms. Step 26 is for whoever knows what a handler needs. */
export interface HttpDispatch {
  readonly kind: 'dispatch'
  readonly revision: string
  readonly forms: AnswerForms
}

/** What to do with a message that came by POST. */
export type HttpVerdict =
  /** A modern request that is in order up to step 22; what becomes of it depends on what is offered. */
  | { readonly kind: 'modern'; readonly request: RpcRequest; readonly revision: string }
  /** A modern notification: answer 202 and drop it. */
  | { readonly kind: 'accepted' }
  /** A legacy handshake. Its revision is negotiated from the body. */
  | { readonly kind: 'initialize' }
  /** A message for a live session; one that is no request is answered with 202. */
  | { readonly kind: 'session'; readonly sessionId: string; readonly revision: string }
  /** A legacy message for a server without sessions. */
  | { readonly kind: 'sessionless'; readonly revision: string }
  | HttpRefusal

/**
 * The server's ladder for HTTP (decisions 2.1 and 2.2), one object for a listener. Earlier steps win, so a transport calls `source`,
 * then its own authentication (step 2), then `head`, then reads the body, then calls `message` and `modern`. Nothing here throws for what a
 * client sent, and a request that is in order costs no more than the comparisons. What is offered is looked at for modern requests alone, since
 * somebody may have to be asked for it.
 */
export interface HttpLadder {
  /** Step 1. */
  source(head: HttpHead): HttpRefusal | undefined
  /** Steps 3 to 6. `undefined`: a POST whose body may be read. */
  head(head: HttpHead, sessions: SessionLookup): HttpRefusal | SessionRequest | undefined
  /** Step 6 once more, for a body without a length that has grown too large. */
  tooLarge(): HttpRefusal
  /** Steps 7 to 22. */
  message(head: HttpHead, message: RpcMessage | RpcReject, sessions: SessionLookup): HttpVerdict
  /** Steps 23 to 25 and 27, for a request that `message` found to be modern. `view` is what is offered to the asking principal. */
  modern(head: HttpHead, request: RpcRequest, revision: string, view: ServerView): HttpDispatch | HttpRefusal
}

/** Builds the ladder of a listener. */
export function createHttpLadder(policy: HttpLadderPolicy): HttpLadder {
  return new Ladder(policy)
}

class Ladder implements HttpLadder {
  readonly #policy: HttpLadderPolicy
  readonly #offer: RevisionOffer
  readonly #guard: SourceGuard
  readonly #forms = remembered(acceptedForms)

  constructor(policy: HttpLadderPolicy) {
    this.#policy = policy
    this.#offer = policy.revisions
    this.#guard = createSourceGuard(policy)
  }

  source({ headers }: HttpHead): HttpRefusal | undefined {
    // step 1
    const fault = this.#guard.fault(headers['origin'], headers['host'])
    return fault === undefined ? undefined : refuse(1, 403, invalidRequest(fault))
  }

  head(head: HttpHead, sessions: SessionLookup): HttpRefusal | SessionRequest | undefined {
    const { headers } = head
    // step 3
    if (head.method !== 'POST') return this.#withoutMessage(head, sessions)
    // step 4
    if (!isJsonType(headers['content-type']))
      return refuse(4, 415, invalidRequest('The Content-Type must be application/json.'))
    // step 5
    const { json, sse } = this.#accepted(headers)
    if (!json && !sse)
      return refuse(5, 406, invalidRequest('Accept admits neither application/json nor text/event-stream.'))
    // step 6
    return Number(headers['content-length']) > this.#policy.maxBodyBytes ? this.tooLarge() : undefined
  }

  tooLarge(): HttpRefusal {
    return refuse(6, 413, invalidRequest(`The body is larger than ${this.#policy.maxBodyBytes} bytes.`))
  }

  message(head: HttpHead, message: RpcMessage | RpcReject, sessions: SessionLookup): HttpVerdict {
    switch (message.kind) {
      case 'reject':
        return unreadable(message)
      case 'result':
      case 'error':
        return this.#response(head, sessions)
      case 'notification':
        return this.#notification(head, message, sessions)
      case 'request':
        return this.#request(head, message, sessions)
    }
  }

  #accepted(headers: WireHints): AnswerForms {
    const field = headers['accept']
    return field === undefined ? acceptedForms(field) : this.#forms(field)
  }

  /** Decisions 2.2 for methods other than POST. */
  #withoutMessage(head: HttpHead, sessions: SessionLookup): HttpRefusal | SessionRequest {
    const { method: verb, headers } = head
    const hasSessions = this.#policy.sessions && this.#offer.legacy.length > 0
    if (!hasSessions) return { kind: 'reject', step: 3, status: 405, allow: 'POST' }
    if (verb !== 'GET' && verb !== 'DELETE') return { kind: 'reject', step: 3, status: 405, allow: 'GET, POST, DELETE' }
    const session = this.#session(head, sessions, 3, undefined)
    if (session.kind === 'reject') return session
    if (verb === 'DELETE') return { kind: 'end', sessionId: session.sessionId }
    if (!this.#accepted(headers).sse) {
      return refuse(3, 406, invalidRequest('Accept must admit text/event-stream.'))
    }
    return { kind: 'stream', sessionId: session.sessionId }
  }

  /** Step 9: a modern client sends none (MC-MSG-10), a legacy one answers the server's questions. */
  #response(head: HttpHead, sessions: SessionLookup): HttpVerdict {
    const sessionId = fieldOf(head, headerName.sessionId)
    const revision = sessionId === undefined ? undefined : sessions.revisionOf(sessionId)
    if (revision === undefined || this.#offer.legacy.length === 0) {
      return refuse(9, 400, invalidRequest('A response without a live session.'))
    }
    return this.#session(head, sessions, 9, undefined)
  }

  #notification(head: HttpHead, message: RpcNotification, sessions: SessionLookup): HttpVerdict {
    const claim = claimOf(metaOf(message.params))
    const version = versionOf(head)
    const isModern = claim !== undefined || (version !== undefined && eraOf(version) === 'modern')
    // step 11: no header is required, but none may contradict the body
    if (this.#offer.modern.length > 0 && isModern) return contradiction(head, message, claim, version) ?? accepted
    // step 12
    if (this.#offer.legacy.length > 0) return this.#legacy(head, sessions, 12, undefined)
    return version === undefined ? accepted : refuse(12, 400, unsupportedVersion(version, this.#offer))
  }

  #request(head: HttpHead, message: RpcRequest, sessions: SessionLookup): HttpVerdict {
    const { id } = message
    const meta = metaOf(message.params)
    const claim = claimOf(meta)
    const version = versionOf(head)
    if (message.method === handshakeMethod && !claimsModern(claim)) return this.#handshake(message, version)
    if (claim === undefined) return this.#withoutClaim(head, message, version, sessions)
    // step 16
    if (typeof claim !== 'string') return refuse(16, 400, malformedClaim, id)
    // step 17: ahead of the version itself, as the official suite has it
    if (version !== undefined && version !== claim) {
      return refuse(
        17,
        400,
        headerMismatch('The MCP-Protocol-Version header differs from params._meta in the body.'),
        id,
      )
    }
    if (version === undefined) {
      const unsupported = checkClaim(meta, this.#offer)
      return unsupported === undefined
        ? refuse(19, 400, headerMismatch('The MCP-Protocol-Version header is missing.'), id)
        : refuse(18, 400, unsupported, id)
    }
    // steps 18 and 20, of which the check of the envelope is both
    const envelope = checkEnvelope(meta, this.#offer)
    if (envelope !== undefined) return refuse(this.#offer.modern.includes(claim) ? 20 : 18, 400, envelope, id)
    // steps 21 and 22
    const mismatch = standardHeaderFault(message.method, message.params, head.headers)
    if (mismatch !== undefined) return refuse(21, 400, mismatch, id)
    return { kind: 'modern', request: message, revision: claim }
  }

  modern(head: HttpHead, message: RpcRequest, revision: string, view: ServerView): HttpDispatch | HttpRefusal {
    const { id } = message
    // step 23
    const unknown = methodFault(message, view)
    if (unknown !== undefined) return refuse(23, 404, unknown, id)
    // step 24: status 200, since the request itself was in order
    const misfit = paramsFault(message)
    if (misfit !== undefined) return refuse(24, 200, misfit, id)
    // step 25
    if (message.method === method.callTool) {
      const plan = view.headerPlan(memberOf(message.params, 'name') as string)
      const fault =
        plan === undefined ? undefined : paramHeaderFault(plan, memberOf(message.params, 'arguments'), head.headers)
      if (fault !== undefined) return refuse(25, 400, fault, id)
    }
    const forms = this.#accepted(head.headers)
    // a subscription has no other form than a stream
    if (message.method === method.listen && !forms.sse) {
      return refuse(27, 406, invalidRequest('subscriptions/listen needs an Accept of text/event-stream.'), id)
    }
    // step 27
    return { kind: 'dispatch', revision, forms }
  }

  /** Step 13. */
  #handshake(message: RpcRequest, version: string | undefined): HttpVerdict {
    // an early header of a legacy revision does no harm, whichever it is
    if (version !== undefined && eraOf(version) !== 'legacy') {
      const text = 'The MCP-Protocol-Version header names no legacy revision, but initialize is a legacy handshake.'
      return refuse(13, 400, headerMismatch(text), message.id)
    }
    return this.#offer.legacy.length > 0
      ? initialize
      : refuse(13, 400, refuseHandshake(message, this.#offer), message.id)
  }

  /** Steps 14 and 15: a request that no revision claims. */
  #withoutClaim(
    head: HttpHead,
    message: RpcRequest,
    version: string | undefined,
    sessions: SessionLookup,
  ): HttpVerdict {
    const { id } = message
    // step 14: a broken modern request is an error, never a legacy one
    if (version !== undefined && !this.#offer.legacy.includes(version) && eraOf(version) !== 'legacy') {
      const error =
        this.#offer.modern.length > 0
          ? withVersions(missingKeys(metaOf(message.params)), this.#offer)
          : unsupportedVersion(version, this.#offer)
      return refuse(14, 400, error, id)
    }
    // step 15
    if (this.#offer.legacy.length > 0) return this.#legacy(head, sessions, 15, id)
    if (version !== undefined) return refuse(15, 400, unsupportedVersion(version, this.#offer), id)
    return refuse(15, 400, withVersions(headerMismatch('The MCP-Protocol-Version header is missing'), this.#offer), id)
  }

  /** Decisions 2.2 for a message by POST. */
  #legacy(head: HttpHead, sessions: SessionLookup, step: number, id: RpcId | undefined): HttpVerdict {
    if (this.#policy.sessions || head.headers[headerName.sessionId] !== undefined) {
      return this.#session(head, sessions, step, id)
    }
    // nothing but the header tells the revision here
    const version = versionOf(head)
    return version !== undefined && this.#offer.legacy.includes(version)
      ? { kind: 'sessionless', revision: version }
      : refuse(
          step,
          400,
          withVersions(invalidRequest('The MCP-Protocol-Version header is missing or not served'), this.#offer),
          id,
        )
  }

  #session(
    head: HttpHead,
    sessions: SessionLookup,
    step: number,
    id: RpcId | undefined,
  ): HttpRefusal | (HttpVerdict & { readonly kind: 'session' }) {
    const sessionId = fieldOf(head, headerName.sessionId)
    // LG-SESS-04
    if (sessionId === undefined) return refuse(step, 400, invalidRequest('The Mcp-Session-Id header is missing.'), id)
    const revision = sessions.revisionOf(sessionId)
    // LG-SESS-05
    if (revision === undefined) return refuse(step, 404, invalidRequest('There is no such session.'), id)
    // LG-HTTP-11, A-48: a session knows its revision, so the header may be missing
    const version = versionOf(head)
    if (version !== undefined && version !== revision) {
      return refuse(
        step,
        400,
        invalidRequest('The MCP-Protocol-Version header differs from the revision of the session.'),
        id,
      )
    }
    return { kind: 'session', sessionId, revision }
  }
}

const accepted: HttpVerdict = Object.freeze({ kind: 'accepted' })
const initialize: HttpVerdict = Object.freeze({ kind: 'initialize' })

function versionOf(head: HttpHead): string | undefined {
  return fieldOf(head, headerName.protocolVersion)
}

/** A field without the blanks around it, which no carrier has to have taken off (MH-HDR-09). */
function fieldOf(head: HttpHead, name: string): string | undefined {
  const field = head.headers[name]
  return field === undefined ? undefined : trimField(field)
}

function contradiction(
  head: HttpHead,
  message: RpcNotification,
  claim: ReturnType<typeof claimOf>,
  version: string | undefined,
): HttpRefusal | undefined {
  if (claim !== undefined && version !== undefined && claim !== version) {
    return refuse(11, 400, headerMismatch('The MCP-Protocol-Version header differs from params._meta in the body.'))
  }
  const stated = head.headers[headerName.method]
  return stated !== undefined && trimField(stated) !== message.method
    ? refuse(11, 400, headerMismatch('The Mcp-Method header differs from the method in the body.'))
    : undefined
}

/** Steps 7, 8 and 10. */
function unreadable(reject: RpcReject): HttpRefusal {
  const step = reject.code === rpcCode.parseError ? 7 : reject.batch === true ? 8 : 10
  return refuse(step, 400, { code: reject.code, message: reject.reason }, step === 10 ? reject.id : undefined)
}

function invalidRequest(message: string): RpcErrorObject {
  return { code: rpcCode.invalidRequest, message }
}

function refuse(step: number, status: number, error: RpcErrorObject, id?: RpcId): HttpRefusal {
  return id === undefined ? { kind: 'reject', step, status, error } : { kind: 'reject', step, status, error, id }
}
