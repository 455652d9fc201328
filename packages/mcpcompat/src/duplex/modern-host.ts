import { type CallHost, ServedContext } from '../contract/call-context.ts'
import type { CallRunner } from '../contract/call-runner.ts'
import type { Call, Outcome } from '../contract/call.ts'
import type { Inbound } from '../contract/connection.ts'
import type { Principal } from '../contract/context.ts'
import type { OnDiagnostic } from '../contract/diagnostics.ts'
import { withDiscovery } from '../contract/discovering.ts'
import type { Dispatcher, Implementation } from '../contract/dispatcher.ts'
import { reportFailure } from '../contract/failure.ts'
import { viewerOf } from '../contract/viewer-of.ts'
import { method, notice as noticeName } from '../contract/methods.ts'
import { notifyDispatcher } from '../contract/notify-dispatcher.ts'
import type { PeerPort } from '../contract/peer-port.ts'
import { undeclaredAsk } from '../contract/undeclared-ask.ts'
import type { DecodeFailure, WireCodec } from '../contract/wire.ts'
import { rpcCode } from '../jsonrpc/errors.ts'
import { isJsonObject } from '../jsonrpc/json.ts'
import type { RpcErrorObject, RpcId, RpcNotification, RpcRequest } from '../jsonrpc/message.ts'
import { checkEnvelope, metaOf } from '../meta.ts'
import { legacyNotice } from '../rev-2025-06-18/methods.ts'
import { createModernCodec } from '../rev-2026-07-28/codec.ts'
import { withSubscription } from '../rev-2026-07-28/notices.ts'
import type { RevisionPolicy } from '../revisions.ts'

export interface ModernHostOptions {
  readonly dispatcher: Dispatcher
  readonly port: PeerPort
  readonly policy: RevisionPolicy
  readonly revision: string
  readonly runner: CallRunner
  /** Whether results name the server (MC-META-10). */
  readonly nameServer: boolean
  readonly onDiagnostic: OnDiagnostic | undefined
}

const removedNotices: ReadonlySet<string> = new Set(Object.values(legacyNotice))

/**
 * Serves the requests of a duplex carrier that claim one modern revision: each by itself, whatever came before (MC-STL-01).
 * Ids and cancellation belong to the carrier.
 */
export class ModernHost implements CallHost {
  readonly dispatcher: Dispatcher
  readonly revision: string
  readonly #options: ModernHostOptions
  readonly #port: PeerPort
  readonly #runner: CallRunner
  #codec: WireCodec | undefined

  constructor(options: ModernHostOptions) {
    this.revision = options.revision
    this.#options = options
    this.#port = options.port
    this.#runner = options.runner
    this.dispatcher = withDiscovery(options.dispatcher, options.policy)
  }

  request(message: RpcRequest, { principal, hints }: Inbound): void {
    const codec = this.#codec ?? this.#prepare(principal, message)
    const decoded = codec.decodeCall(message, hints)
    if (!decoded.ok) {
      this.#send(message.id, this.#refusal(message, decoded.reason, decoded.message))
    } else if (this.#runner.full) {
      this.#send(message.id, { code: rpcCode.internalError, message: 'Too many requests in flight' })
    } else {
      this.#runner.run(new ServedContext(this, message.id, decoded.value, principal, hints, undefined))
    }
  }

  /** A notification that is not for the carrier. What only other revisions know is dropped. */
  notification(message: RpcNotification, { principal, hints }: Inbound): void {
    if (removedNotices.has(message.method)) return
    const codec = this.#codec ?? this.#prepare(principal, message)
    const decoded = codec.decodeNotice(message)
    if (!decoded.ok) return
    const meta = metaOf(message.params)
    const rawMeta = isJsonObject(meta) ? meta : undefined
    const facts = {
      peer: { capabilities: {} },
      rawMeta,
      progressToken: undefined,
      logLevel: undefined,
      resume: undefined,
    }
    const context = new ServedContext(this, '', { call: decoded.value, context: facts }, principal, hints, undefined)
    context.ended = true // nothing can be written for a notification
    notifyDispatcher(this.dispatcher, decoded.value, context, this.#options.onDiagnostic)
  }

  /** Ends a subscription from this side: its result, then the notice for clients that wait for one (MC-SUB-11, MC-CANC-12, A-07). */
  endListen(context: ServedContext, reason: unknown): void {
    if (context.ended) return
    this.answer(context, { kind: 'result', value: {} })
    this.#runner.cancel(context, reason)
  }

  // the host of its calls

  notify(context: ServedContext, notice: Call): void | Promise<void> {
    const message = this.#codec?.encodeNotice(context.call, notice, context, context.id)
    if (message !== undefined) return this.#port.send(message, { relatedTo: context.id })
  }

  answer(context: ServedContext, outcome: Outcome): void {
    const undeclared = undeclaredAsk(outcome, context)
    if (undeclared !== undefined) throw undeclared
    const codec = this.#codec as WireCodec // a call was decoded by it
    void this.#port.send(codec.encodeOutcome(context.call, outcome, context, context.id))
    if (context.call.method === method.listen) this.#announceEnd(context.id)
  }

  refuse(context: ServedContext, error: unknown): void {
    reportFailure(error, context.call, this.#options.onDiagnostic)
    const codec = this.#codec as WireCodec
    void this.#port.send(codec.encodeError(error, context.id, context.call))
  }

  #announceEnd(id: RpcId): void {
    const params = withSubscription({ requestId: id }, id)
    void this.#port.send({ kind: 'notification', method: noticeName.cancelled, params }, { relatedTo: id })
  }

  #send(id: RpcId, error: RpcErrorObject): void {
    void this.#port.send({ kind: 'error', id, error })
  }

  /** The exact answer to a message that the codec refused: a wrong revision has a number and data of its own. */
  #refusal(message: RpcRequest, reason: DecodeFailure, text: string): RpcErrorObject {
    if (reason === 'not-in-revision') return { code: rpcCode.methodNotFound, message: text }
    const fault =
      reason === 'invalid-envelope' ? checkEnvelope(metaOf(message.params), this.#options.policy) : undefined
    return fault ?? { code: rpcCode.invalidParams, message: `Invalid params: ${text}` }
  }

  /**
   * The codec is made when the first request says who asks. A dispatcher that cannot say at once what it is holds nobody up:
   * results name the server from then on.
   */
  #prepare(principal: Principal, message: RpcRequest | RpcNotification): WireCodec {
    if (!this.#options.nameServer) return this.#make(undefined)
    try {
      const view = this.#options.dispatcher.view(principal, viewerOf(message))
      if (!(view instanceof Promise)) return this.#make(view.info)
      view.then(({ info }) => this.#make(info), this.#reportView)
    } catch (error) {
      this.#reportView(error)
    }
    return this.#make(undefined)
  }

  #make(serverInfo: Implementation | undefined): WireCodec {
    this.#codec = createModernCodec({ revision: this.revision, serverInfo })
    return this.#codec
  }

  readonly #reportView = (error: unknown): void => {
    reportFailure(error, { method: method.discover, params: {} }, this.#options.onDiagnostic)
  }
}
