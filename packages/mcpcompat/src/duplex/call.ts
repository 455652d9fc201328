import type { Call, Outcome } from '../contract/call.ts'
import type { CallContext, LogLevel } from '../contract/context.ts'
import type { Diagnostic, OnDiagnostic } from '../contract/diagnostics.ts'
import type { ServerView } from '../contract/dispatcher.ts'
import { createIds } from '../contract/ids.ts'
import { InvalidResultError } from '../contract/invalid-result.ts'
import { method, notice as noticeName } from '../contract/methods.ts'
import { cancelledId } from '../contract/peer-cancel.ts'
import type { ClientPeer, PeerPort } from '../contract/peer-port.ts'
import { type PeerViewParts, peerView } from '../contract/peer-view.ts'
import { closedConnection, deliver, lostCall, PendingCall, PendingCalls } from '../contract/pending-calls.ts'
import type { WireCodec } from '../contract/wire.ts'
import { RpcError, rpcCode } from '../jsonrpc/errors.ts'
import { isJsonObject } from '../jsonrpc/json.ts'
import type { RpcId, RpcMessage, RpcNotification, RpcReject, RpcResponse } from '../jsonrpc/message.ts'
import { levelAdmits } from '../log-levels.ts'
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
  readonly #port: PeerPort
  readonly #codec: WireCodec
  readonly #view: ServerView
  readonly #nextId: () => RpcId
  readonly #onDiagnostic: OnDiagnostic | undefined
  readonly #pending = new PendingCalls()
  /** Subscriptions that were acknowledged; nothing may be delivered for others (MC-SUB-03). */
  readonly #acknowledged = new WeakSet<PendingCall>()
  #draining = false
  #closed: { readonly cause: unknown } | undefined

  constructor(port: PeerPort, options: CreateModernClientOptions) {
    const { revision, extensionResultTypes = [] } = options
    this.#port = port
    this.#codec = createModernCodec({ revision, extensionResultTypes })
    this.#view = peerView(options.server)
    this.#nextId = options.nextId ?? createIds()
    this.#onDiagnostic = options.onDiagnostic
  }

  get openCalls(): number {
    return this.#pending.size
  }

  async call(call: Call, context: CallContext): Promise<Outcome> {
    if (this.#closed !== undefined) throw closedConnection(this.#closed.cause)
    if (this.#draining && call.method === method.listen) {
      throw new RpcError(rpcCode.internalError, 'No new subscriptions are taken')
    }
    context.signal.throwIfAborted()
    const id = this.#nextId()
    const { peer, meta, logLevel, resume } = context
    // Tokens need only be unique among what is open here, and so are ids (MC-PROG-02).
    const progressToken = context.progressToken === undefined ? undefined : id
    const { message } = this.#codec.encodeCall(call, { peer, meta, progressToken, logLevel, resume }, id)
    const pending = new PendingCall(id, call, context)
    const outcome = this.#pending.wait(pending, (reason) => this.#cancel(id, reason))
    this.#send(message, pending)
    return await outcome
  }

  notify(notice: Call): void | Promise<void> {
    // A cancel names an id of another hop; the signal of a call is how it is cancelled here.
    if (this.#closed !== undefined || notice.method === noticeName.cancelled) return
    return this.#port.send({ kind: 'notification', method: notice.method, params: notice.params })
  }

  view(): ServerView {
    return this.#view
  }

  drain(): Promise<void> {
    this.#draining = true
    for (const pending of this.#pending.all) {
      if (pending.call.method !== method.listen) continue
      this.#pending.resolve(pending, { kind: 'result', value: {} })
      this.#cancel(pending.id, undefined)
    }
    return Promise.resolve()
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
        this.#report(
          'warning',
          'unexpected-request',
          `The server sent the request ${message.method.slice(0, 80)}; it was dropped.`,
        )
        return
      case 'reject':
        this.#report('warning', 'not-a-message', `The server sent what is no message: ${message.reason}`)
    }
  }

  abandon(): void {
    for (const { id } of this.#pending.all) this.#cancel(id, undefined)
  }

  closed(cause?: unknown): void {
    if (this.#closed !== undefined) return
    this.#closed = { cause }
    for (const pending of this.#pending.all) {
      const isListen = pending.call.method === method.listen
      this.#pending.reject(pending, isListen ? closedConnection(cause) : lostCall(cause))
    }
  }

  #send(message: RpcMessage, pending: PendingCall): void {
    const failed = (error: unknown): void => this.#pending.reject(pending, error)
    try {
      const taken = this.#port.send(message)
      if (taken !== undefined) taken.then(undefined, failed)
    } catch (error) {
      failed(error)
    }
  }

  #cancel(requestId: RpcId, reason: unknown): void {
    if (this.#closed !== undefined) return
    const params =
      reason instanceof Error && reason.name === 'TimeoutError' ? { requestId, reason: 'timeout' } : { requestId }
    // Best effort: a connection that cannot take it has ended, and everybody hears of that anyway.
    const taken = this.#port.send({ kind: 'notification', method: noticeName.cancelled, params })
    if (taken !== undefined) taken.then(undefined, () => undefined)
  }

  #response(message: RpcResponse): void {
    const pending = message.id === undefined ? this.#onlyUnanswered() : this.#pending.get(message.id)
    if (pending === undefined) {
      const what =
        message.kind === 'error' && message.id === undefined
          ? `an error: ${message.error.message.slice(0, 200)}`
          : 'an answer'
      this.#report('debug', 'unknown-id', `The server sent ${what} that no open call waits for; it was dropped.`)
      return
    }
    try {
      const decoded = this.#codec.decodeOutcome(pending.call, message)
      if (decoded.ok) this.#pending.resolve(pending, decoded.value)
      else this.#pending.reject(pending, new InvalidResultError(decoded.message, decoded.raw))
    } catch (error) {
      this.#pending.reject(pending, error)
    }
  }

  /** The call that an error without an id can only mean: a server that could not read a request cannot name it (MC-MSG-06). */
  #onlyUnanswered(): PendingCall | undefined {
    const waiting = this.#pending.all.filter((pending) => !this.#acknowledged.has(pending))
    return waiting.length === 1 ? waiting[0] : undefined
  }

  #notification(message: RpcNotification): void {
    if (message.method === noticeName.cancelled) {
      this.#serverEnded(cancelledId(message.params))
      return
    }
    const decoded = this.#codec.decodeNotice(message)
    if (!decoded.ok) {
      this.#report('warning', 'bad-notice', `The server sent ${message.method.slice(0, 80)}, but ${decoded.message}.`)
      return
    }
    const notice = decoded.value
    const pending = this.#addressee(message, notice)
    if (pending === undefined) {
      this.#report(
        'debug',
        'unknown-addressee',
        `The server sent ${message.method.slice(0, 80)} that no open call asked for; it was dropped.`,
      )
      return
    }
    deliver(pending, notice, this.#onDiagnostic)
  }

  /** The call that a notice belongs to: by token, by subscription, or as the only one that asked for logs. */
  #addressee(message: RpcNotification, notice: Call): PendingCall | undefined {
    switch (message.method) {
      case noticeName.progress: {
        const pending = this.#pending.get(memberOf(message.params, 'progressToken') as RpcId | undefined)
        return pending?.context.progressToken !== undefined && pending.advances(notice) ? pending : undefined
      }
      case noticeName.message: {
        const wanting = this.#pending.all.filter(({ context }) => context.logLevel !== undefined)
        const [only] = wanting
        const level = memberOf(notice.params, 'level') as LogLevel
        return wanting.length === 1 && levelAdmits(only?.context.logLevel, level) ? only : undefined
      }
      default:
        return this.#subscription(message)
    }
  }

  #subscription(message: RpcNotification): PendingCall | undefined {
    const meta = metaOf(message.params)
    const id = isJsonObject(meta) ? (meta[metaKey.subscriptionId] as RpcId | undefined) : undefined
    const pending = this.#pending.get(id)
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
    const pending = this.#pending.get(id)
    if (pending?.call.method === method.listen) this.#pending.resolve(pending, { kind: 'result', value: {} })
  }

  #report(level: Diagnostic['level'], code: string, message: string): void {
    this.#onDiagnostic?.({ level, code, message })
  }
}
