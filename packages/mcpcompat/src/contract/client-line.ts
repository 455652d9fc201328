import { RpcError, rpcCode, type TransportError } from '../jsonrpc/errors.ts'
import { type JsonValue, isJsonObject } from '../jsonrpc/json.ts'
import type { RpcId, RpcMessage, RpcNotification, RpcReject, RpcResponse } from '../jsonrpc/message.ts'
import { levelAdmits } from '../log-levels.ts'
import { memberOf } from '../member.ts'
import type { Call } from './call.ts'
import type { LogLevel } from './context.ts'
import { type Diagnostic, type OnDiagnostic, safeDiagnostics } from './diagnostics.ts'
import { InvalidResultError } from './invalid-result.ts'
import { method, notice as noticeName } from './methods.ts'
import type { PeerPort } from './peer-port.ts'
import { closedConnection, deliver, lostCall, type PendingCall, PendingCalls } from './pending-calls.ts'
import type { WireCodec } from './wire.ts'

/** What clients of all eras share: what their callers wait for, the way to the server, and the end of that way. */
export class ClientLine {
  /** What callers wait for. */
  readonly pending: PendingCalls = new PendingCalls()
  readonly onDiagnostic: OnDiagnostic | undefined
  readonly #port: PeerPort
  #closed: { readonly cause: unknown } | undefined
  #draining = false

  constructor(port: PeerPort, onDiagnostic: OnDiagnostic | undefined) {
    this.#port = port
    this.onDiagnostic = safeDiagnostics(onDiagnostic)
  }

  get isClosed(): boolean {
    return this.#closed !== undefined
  }

  /** Why nothing more can be sent or will come. */
  endError(): TransportError {
    return closedConnection(this.#closed?.cause)
  }

  /** Throws when a call cannot be made: the connection has ended, or it is a listen while draining. */
  admit(call: Call): void {
    if (this.isClosed) throw this.endError()
    if (this.#draining && call.method === method.listen) {
      throw new RpcError(rpcCode.internalError, 'No new subscriptions are taken')
    }
  }

  /** Sends a notification of a caller. A cancel names an id of another hop; the signal of a call is how it is cancelled here. */
  notify(notice: Call): void | Promise<void> {
    if (this.isClosed || notice.method === noticeName.cancelled) return
    return this.#port.send({ kind: 'notification', method: notice.method, params: notice.params })
  }

  /** Sends what nobody waits for. A connection that cannot take it has ended, and everybody hears of that anyway. */
  post(message: RpcMessage): void {
    if (this.isClosed) return
    const taken = this.#port.send(message)
    if (taken !== undefined) taken.then(undefined, () => undefined)
  }

  /**
   * Sends the request of a call. `failed` hears when it could not be handed over, or that its answer will never come; by default the call
   * fails.
   */
  handOver(
    message: RpcMessage,
    pending: PendingCall,
    failed: (pending: PendingCall, error: unknown) => void = this.#failed,
  ): void {
    try {
      const taken = this.#port.send(message)
      if (taken !== undefined) this.#follow(taken, pending, failed)
    } catch (error) {
      failed(pending, error)
    }
  }

  // By itself, since a closure costs every call of the function that holds it.
  #follow(taken: Promise<void>, pending: PendingCall, failed: (pending: PendingCall, error: unknown) => void): void {
    taken.then(undefined, (error: unknown) => failed(pending, error))
  }

  readonly #failed = (pending: PendingCall, error: unknown): void => this.pending.reject(pending, error)

  /** Gives a call the answer that came for it. What is no result of its method is refused here. */
  settle(codec: WireCodec, pending: PendingCall, message: RpcResponse): void {
    try {
      const decoded = codec.decodeOutcome(pending.call, message)
      if (decoded.ok) this.pending.resolve(pending, decoded.value)
      else this.pending.reject(pending, new InvalidResultError(decoded.message, decoded.raw))
    } catch (error) {
      this.pending.reject(pending, error)
    }
  }

  /** The notice as callers get it; `undefined` for one that is malformed. */
  readNotice(codec: WireCodec, message: RpcNotification): Call | undefined {
    const decoded = codec.decodeNotice(message)
    if (decoded.ok) return decoded.value
    this.report('warning', 'bad-notice', `The server sent ${message.method.slice(0, 80)}, but ${decoded.message}.`)
    return undefined
  }

  /** A log message names no request, so it goes to the call that asked for some, if there is just one (A-33, BR-209). */
  deliverLog(calls: readonly PendingCall[], notice: Call): void {
    const wanting = calls.filter(({ context }) => context.logLevel !== undefined)
    const [only] = wanting
    if (only === undefined || wanting.length > 1) {
      this.dropped(notice.method)
    } else if (levelAdmits(only.context.logLevel, memberOf(notice.params, 'level') as LogLevel)) {
      deliver(only, notice, this.onDiagnostic)
    }
  }

  /** Ends every listen with its result and takes no new ones. `ended` runs for each. */
  drain(ended: (listen: PendingCall) => void): Promise<void> {
    this.#draining = true
    for (const pending of this.pending.all) {
      if (pending.call.method !== method.listen) continue
      this.pending.resolve(pending, { kind: 'result', value: {} })
      ended(pending)
    }
    return Promise.resolve()
  }

  /** The connection has ended: every caller hears of it. */
  close(cause: unknown): void {
    this.#closed ??= { cause }
    for (const pending of this.pending.all) {
      const isListen = pending.call.method === method.listen
      this.pending.reject(pending, isListen ? closedConnection(cause) : lostCall(cause))
    }
  }

  /** Reports what is no message. Gives the ids of the requests that it was to answer: no other answer will come for them (D19). */
  unreadable(message: RpcReject): readonly RpcId[] {
    this.report('warning', 'not-a-message', `The server sent what is no message: ${message.reason}`)
    if (message.batch === true) return idsIn(message.text)
    const mayAnswer = message.like === undefined || message.like === 'response'
    return message.id === undefined || !mayAnswer ? [] : [message.id]
  }

  /** Reports an answer that came too late, or to nothing. */
  unknownAnswer(message: RpcResponse): void {
    const isAnonymous = message.kind === 'error' && message.id === undefined
    const what = isAnonymous ? `an error: ${message.error.message.slice(0, 200)}` : 'an answer'
    this.report('debug', 'unknown-id', `The server sent ${what} that no open call waits for; it was dropped.`)
  }

  /** Reports a notice that nobody asked for. */
  dropped(name: string): void {
    this.report(
      'debug',
      'unknown-addressee',
      `The server sent ${name.slice(0, 80)} that no open call asked for; it was dropped.`,
    )
  }

  report(level: Diagnostic['level'], code: string, message: string): void {
    this.onDiagnostic?.({ level, code, message })
  }
}

/** What the members of an array were to answer. */
function idsIn(batch = '[]'): readonly RpcId[] {
  const members = JSON.parse(batch) as readonly JsonValue[]
  return members.flatMap((member) => {
    if (!isJsonObject(member) || member['method'] !== undefined) return []
    const { id } = member
    return typeof id === 'string' || typeof id === 'number' ? [id] : []
  })
}

/** Why a call fails whose answer is no message. */
export function unreadableAnswer(reason: string): InvalidResultError {
  return new InvalidResultError(`what came cannot be read: ${reason}`, undefined)
}
