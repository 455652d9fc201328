import type { Call, Outcome } from '../contract/call.ts'
import { ClientLine, unreadableAnswer } from '../contract/client-line.ts'
import type { CallContext } from '../contract/context.ts'
import type { OnDiagnostic } from '../contract/diagnostics.ts'
import type { ServerView } from '../contract/dispatcher.ts'
import { createIds } from '../contract/ids.ts'
import { method, notice as noticeName } from '../contract/methods.ts'
import { cancelledId } from '../contract/peer-cancel.ts'
import type { ClientPeer, PeerPort } from '../contract/peer-port.ts'
import { type PeerViewParts, peerView } from '../contract/peer-view.ts'
import { deliver, failedCall, PendingCall, throwIfAborted, withToken } from '../contract/pending-calls.ts'
import type { WireCodec } from '../contract/wire.ts'
import { isJsonObject } from '../jsonrpc/json.ts'
import type { RpcId, RpcMessage, RpcNotification, RpcReject, RpcResponse } from '../jsonrpc/message.ts'
import { memberOf } from '../member.ts'
import { metaKey, metaOf } from '../meta.ts'
import { createModernCodec } from '../rev-2026-07-28/codec.ts'

export interface CreateModernClientOptions {
  readonly revision: string
  /** What the server said when it was discovered. */
  readonly server: PeerViewParts
  /** Gives ids that nobody else uses on this connection. Counts from 1 when left out. */
  readonly nextId?: () => RpcId
  /** Result types of extensions that both sides have agreed on (MC-RT-05). */
  readonly extensionResultTypes?: readonly string[]
  readonly onDiagnostic?: OnDiagnostic | undefined
}

/**
 * Calls a modern server on a duplex carrier (MS-MSG-01, -03). Every call is a request by itself; many may be open. A call whose
 * signal aborts rejects at once and is cancelled with a notification (MS-CANC-01); what still comes for it is dropped. There is
 * no time limit here: the signal is the limit.
 */
export function createModernClient(port: PeerPort, options: CreateModernClientOptions): ClientPeer {
  return new ModernClient(port, options)
}

class ModernClient implements ClientPeer {
  readonly #line: ClientLine
  readonly #codec: WireCodec
  readonly #view: ServerView
  readonly #nextId: () => RpcId
  /** Subscriptions that were acknowledged; nothing may be delivered for others (MC-SUB-03). */
  readonly #acknowledged = new WeakSet<PendingCall>()

  constructor(port: PeerPort, options: CreateModernClientOptions) {
    const { revision, extensionResultTypes = [] } = options
    this.#line = new ClientLine(port, options.onDiagnostic)
    this.#codec = createModernCodec({ revision, extensionResultTypes })
    this.#view = peerView(options.server)
    this.#nextId = options.nextId ?? createIds()
  }

  get openCalls(): number {
    return this.#line.pending.size
  }

  call(call: Call, context: CallContext): Promise<Outcome> {
    try {
      return this.#call(call, context)
    } catch (error) {
      return failedCall(error)
    }
  }

  #call(call: Call, context: CallContext): Promise<Outcome> {
    this.#line.admit(call)
    throwIfAborted(context)
    const id = this.#nextId()
    const { message } = this.#codec.encodeCall(
      call,
      context.progressToken === undefined ? context : withToken(context, id),
      id,
    )
    const pending = new PendingCall(id, call, context)
    const outcome = this.#line.pending.wait(pending, this.#gaveUp)
    this.#line.handOver(message, pending)
    return outcome
  }

  readonly #gaveUp = (pending: PendingCall, reason: unknown): void => this.#cancel(pending.id, reason)

  notify(notice: Call): void | Promise<void> {
    return this.#line.notify(notice)
  }

  view(): ServerView {
    return this.#view
  }

  drain(): Promise<void> {
    return this.#line.drain(({ id }) => this.#cancel(id, undefined))
  }

  receive(message: RpcMessage | RpcReject): void {
    switch (message.kind) {
      case 'result':
      case 'error':
        this.#response(message)
        return
      case 'notification':
        this.#notification(message)
        return
      case 'request':
        // A modern server asks nothing, and a modern client answers nothing (MC-MSG-09, -10).
        this.#line.report(
          'warning',
          'unexpected-request',
          `The server sent the request ${message.method.slice(0, 80)}; it was dropped.`,
        )
        return
      case 'reject':
        for (const id of this.#line.unreadable(message)) {
          const pending = this.#line.pending.get(id)
          if (pending !== undefined) this.#line.pending.reject(pending, unreadableAnswer(message.reason))
        }
    }
  }

  abandon(): void {
    for (const { id } of this.#line.pending.all) this.#cancel(id, undefined)
  }

  closed(cause?: unknown): void {
    this.#line.close(cause)
  }

  #cancel(requestId: RpcId, reason: unknown): void {
    const timedOut = reason instanceof Error && reason.name === 'TimeoutError'
    const params = timedOut ? { requestId, reason: 'timeout' } : { requestId }
    this.#line.post({ kind: 'notification', method: noticeName.cancelled, params })
  }

  #response(message: RpcResponse): void {
    const pending = message.id === undefined ? this.#onlyUnanswered() : this.#line.pending.get(message.id)
    if (pending === undefined) this.#line.unknownAnswer(message)
    else this.#line.settle(this.#codec, pending, message)
  }

  /** The call that an error without an id can only mean: a server that could not read a request cannot name it (MC-MSG-06). */
  #onlyUnanswered(): PendingCall | undefined {
    const waiting = this.#line.pending.all.filter((pending) => !this.#acknowledged.has(pending))
    return waiting.length === 1 ? waiting[0] : undefined
  }

  #notification(message: RpcNotification): void {
    if (message.method === noticeName.cancelled) {
      this.#serverEnded(cancelledId(message.params))
      return
    }
    const notice = this.#line.readNotice(this.#codec, message)
    if (notice === undefined) return
    switch (message.method) {
      case noticeName.message:
        this.#line.deliverLog(this.#line.pending.all, notice)
        return
      case noticeName.progress:
        this.#deliver(this.#progressing(message, notice), notice)
        return
      default:
        this.#deliver(this.#subscription(message), notice)
    }
  }

  #deliver(pending: PendingCall | undefined, notice: Call): void {
    if (pending === undefined) this.#line.dropped(notice.method)
    else deliver(pending, notice, this.#line.onDiagnostic)
  }

  /** The call that gave the token, when it is open and its progress has grown. */
  #progressing(message: RpcNotification, notice: Call): PendingCall | undefined {
    const pending = this.#line.pending.get(memberOf(message.params, 'progressToken') as RpcId | undefined)
    return pending?.context.progressToken !== undefined && pending.advances(notice) ? pending : undefined
  }

  #subscription(message: RpcNotification): PendingCall | undefined {
    const meta = metaOf(message.params)
    const id = isJsonObject(meta) ? (meta[metaKey.subscriptionId] as RpcId | undefined) : undefined
    const pending = this.#line.pending.get(id)
    if (pending?.call.method !== method.listen) return undefined
    if (message.method === noticeName.acknowledged) {
      if (this.#acknowledged.has(pending)) return undefined
      this.#acknowledged.add(pending)
      return pending
    }
    return this.#acknowledged.has(pending) ? pending : undefined
  }

  /** The notice that a subscription has ended; as orderly as its result, which comes before or not at all. */
  #serverEnded(id: RpcId | undefined): void {
    const pending = this.#line.pending.get(id)
    if (pending?.call.method === method.listen) this.#line.pending.resolve(pending, { kind: 'result', value: {} })
  }
}
