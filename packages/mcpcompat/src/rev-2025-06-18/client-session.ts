import { abortable } from '../contract/abortable.ts'
import type { Call, Outcome } from '../contract/call.ts'
import { systemClock } from '../contract/clock.ts'
import type { AbortOptions, CallContext, LogLevel, WireHints } from '../contract/context.ts'
import type { Diagnostic, OnDiagnostic } from '../contract/diagnostics.ts'
import type { Implementation, ServerView } from '../contract/dispatcher.ts'
import { toRpcError } from '../contract/failure.ts'
import { createIds } from '../contract/ids.ts'
import { InvalidResultError } from '../contract/invalid-result.ts'
import { method, notice as noticeName } from '../contract/methods.ts'
import { cancelledId } from '../contract/peer-cancel.ts'
import type { ClientPeer, PeerPort } from '../contract/peer-port.ts'
import { peerView } from '../contract/peer-view.ts'
import { closedConnection, deliver, lostCall, PendingCall, PendingCalls } from '../contract/pending-calls.ts'
import type { WireCodec } from '../contract/wire.ts'
import { discoverResult } from '../discover.ts'
import { RpcError, rpcCode, TransportError } from '../jsonrpc/errors.ts'
import { isJsonObject, type JsonObject } from '../jsonrpc/json.ts'
import type { RpcId, RpcMessage, RpcNotification, RpcReject, RpcRequest, RpcResponse } from '../jsonrpc/message.ts'
import { missingForInput } from '../input-requests.ts'
import { levelAdmits } from '../log-levels.ts'
import { memberOf } from '../member.ts'
import { legacyRevision, type RevisionPolicy } from '../revisions.ts'
import { type InitializedServer, initializeParams, readInitializeResult } from './client-handshake.ts'
import { ClientListens } from './client-listens.ts'
import { ClientRequests } from './client-requests.ts'
import { createLegacyCodec } from './codec.ts'
import { legacyMethod, legacyNotice } from './methods.ts'
import { ServerQuestions } from './server-questions.ts'

export interface CreateClientSessionOptions {
  readonly policy: RevisionPolicy
  /** The revision to ask for; the newest accepted legacy one when left out (LG-LIFE-06). */
  readonly revision?: string
  /** Who we are. */
  readonly info: Implementation
  /** What the server may ask, in the form of the modern revision; agreed on once, for the whole session (LG-LIFE-09). */
  readonly capabilities?: JsonObject
  /** Gives ids that nobody else uses on this connection. Counts from 1 when left out. */
  readonly nextId?: () => RpcId
  /** Questions of the server that come within this time of the first become one ask, in milliseconds. Default 20. */
  readonly joinQuestionsMs?: number
  /** How long a call may wait for answers to the server's questions, in milliseconds. Default 10 minutes. */
  readonly parkedMs?: number
  /** Calls that may wait so at the same time. Default 256. */
  readonly maxParked?: number
  readonly onDiagnostic?: OnDiagnostic | undefined
}

/** A client of one legacy server. */
export interface LegacyClient extends ClientPeer {
  /**
   * The handshake, to be made once and before any call. Rejects with the server's error as it came, since that can show that
   * the server is not legacy at all; with a `TransportError` when no revision is shared or the connection ends. When the signal
   * aborts only the waiting ends, since `initialize` is never cancelled (LG-CANC-02).
   */
  initialize(options?: AbortOptions): Promise<InitializedServer>
  /** As in `ClientPeer`; `relatedTo` is the request on whose stream the message came, where the carrier knows. */
  receive(message: RpcMessage | RpcReject, hints?: WireHints, relatedTo?: RpcId): void
}

/**
 * Calls a legacy server in the words of the modern model. Questions of the server become asks of the call that it was in,
 * and the call goes on when it is resumed with the answers; subscriptions, log levels and list changes are emulated by what
 * the session has.
 */
export function createClientSession(port: PeerPort, options: CreateClientSessionOptions): LegacyClient {
  return new LegacyClientSession(port, options)
}

class LegacyClientSession implements LegacyClient {
  readonly #port: PeerPort
  readonly #options: CreateClientSessionOptions
  readonly #nextId: () => RpcId
  readonly #onDiagnostic: OnDiagnostic | undefined
  /** What callers wait for. */
  readonly #pending = new PendingCalls()
  /** Requests that are open on the wire; those of parked calls have no caller at the moment. */
  readonly #wire = new Map<RpcId, PendingCall>()
  readonly #requests: ClientRequests
  readonly #questions: ServerQuestions
  readonly #listens: ClientListens
  readonly #declared: JsonObject
  #codec: WireCodec
  #server: InitializedServer | undefined
  /** The lowest level that the server was told; before that it sends what it likes. */
  #level: LogLevel | undefined
  #draining = false
  #closed: { readonly cause: unknown } | undefined

  constructor(port: PeerPort, options: CreateClientSessionOptions) {
    this.#port = port
    this.#options = options
    this.#nextId = options.nextId ?? createIds()
    this.#onDiagnostic = options.onDiagnostic
    this.#declared = options.capabilities ?? {}
    this.#codec = createLegacyCodec({ revision: this.#requested })
    this.#requests = new ClientRequests(port, this.#nextId)
    this.#listens = new ClientListens(this.#requests, this.#onDiagnostic)
    this.#questions = new ServerQuestions({
      port,
      clock: port.clock ?? systemClock,
      joinMs: options.joinQuestionsMs ?? 20,
      parkedMs: options.parkedMs ?? 600_000,
      maxParked: options.maxParked ?? 256,
      suspend: (pending, ask) => this.#pending.resolve(pending, ask),
      abandon: (pending) => this.#cancel(pending),
    })
  }

  get openCalls(): number {
    return this.#pending.size
  }

  get #requested(): string {
    return this.#options.revision ?? this.#options.policy.legacy[0] ?? legacyRevision
  }

  async initialize({ signal }: AbortOptions = {}): Promise<InitializedServer> {
    signal?.throwIfAborted()
    const params = initializeParams(this.#requested, this.#options.info, this.#declared)
    const answer = new Promise<RpcResponse | undefined>((resolve) => {
      this.#requests.send(legacyMethod.initialize, params, resolve)
    })
    return this.#initialized(await (signal === undefined ? answer : abortable(answer, signal)))
  }

  #initialized(response: RpcResponse | undefined): InitializedServer {
    if (response === undefined) throw closedConnection(this.#closed?.cause)
    if (response.kind === 'error') throw toRpcError(response.error)
    const server = readInitializeResult(response.result, this.#requested, this.#options.policy)
    this.#server = server
    this.#codec = createLegacyCodec({ revision: server.observed })
    this.#post({ kind: 'notification', method: legacyNotice.initialized, params: undefined })
    return server
  }

  async call(call: Call, context: CallContext): Promise<Outcome> {
    if (this.#closed !== undefined) throw closedConnection(this.#closed.cause)
    const server = this.#server
    if (server === undefined) throw new TransportError('protocol', 'The handshake has not been made')
    context.signal.throwIfAborted()
    switch (call.method) {
      case method.discover:
        return { kind: 'result', value: discoverResult(this.view(), this.#options.policy) }
      case method.listen:
        return await this.#listen(call, context, server)
    }
    if (context.resume !== undefined) return await this.#resume(call, context)
    this.#lowerLevel(context.logLevel, server)
    const id = this.#nextId()
    const { peer, meta, logLevel } = context
    // Tokens need only be unique among what is open here, and so are ids (BR-210).
    const progressToken = context.progressToken === undefined ? undefined : id
    const { message } = this.#codec.encodeCall(call, { peer, meta, progressToken, logLevel, resume: undefined }, id)
    const pending = new PendingCall(id, call, context)
    this.#wire.set(id, pending)
    const outcome = this.#wait(pending)
    this.#send(message, pending)
    return await outcome
  }

  notify(notice: Call): void | Promise<void> {
    // A cancel names an id of another hop; the signal of a call is how it is cancelled here.
    if (this.#closed !== undefined || notice.method === noticeName.cancelled) return
    return this.#port.send({ kind: 'notification', method: notice.method, params: notice.params })
  }

  view(): ServerView {
    return peerView(this.#server ?? { info: undefined, instructions: undefined, capabilities: {} })
  }

  drain(): Promise<void> {
    this.#draining = true
    for (const pending of this.#pending.all) {
      if (pending.call.method !== method.listen) continue
      this.#pending.resolve(pending, { kind: 'result', value: {} })
      this.#listens.close(pending)
    }
    return Promise.resolve()
  }

  receive(message: RpcMessage | RpcReject, _hints?: WireHints, relatedTo?: RpcId): void {
    switch (message.kind) {
      case 'result':
      case 'error':
        this.#response(message)
        return
      case 'notification':
        this.#notification(message)
        return
      case 'request':
        this.#request(message, relatedTo)
        return
      case 'reject':
        this.#report('warning', 'not-a-message', `The server sent what is no message: ${message.reason}`)
    }
  }

  abandon(): void {
    for (const pending of this.#wire.values()) this.#cancel(pending)
  }

  closed(cause?: unknown): void {
    if (this.#closed !== undefined) return
    this.#closed = { cause }
    this.#questions.end()
    this.#requests.end()
    this.#wire.clear()
    for (const pending of this.#pending.all) {
      const isListen = pending.call.method === method.listen
      this.#pending.reject(pending, isListen ? closedConnection(cause) : lostCall(cause))
    }
  }

  // calls

  #wait(pending: PendingCall): Promise<Outcome> {
    return this.#pending.wait(pending, () => {
      this.#questions.forget(pending)
      this.#cancel(pending)
    })
  }

  #resume(call: Call, context: CallContext): Outcome | Promise<Outcome> {
    const resumed = this.#questions.resume(call, context)
    if ('ask' in resumed) return resumed.ask
    const outcome = this.#wait(resumed.pending)
    if (resumed.early !== undefined) this.#settle(resumed.pending, resumed.early)
    return outcome
  }

  #listen(call: Call, context: CallContext, server: InitializedServer): Promise<Outcome> {
    if (this.#draining) throw new RpcError(rpcCode.internalError, 'No new subscriptions are taken')
    const pending = new PendingCall(this.#nextId(), call, context)
    const outcome = this.#pending.wait(pending, () => this.#listens.close(pending))
    try {
      this.#listens.open(pending, server.capabilities)
    } catch (error) {
      this.#pending.reject(pending, error)
    }
    return outcome
  }

  /** The level of a session is the lowest that a call of it wants; each call gets its own share of what comes (BR-209). */
  #lowerLevel(wanted: LogLevel | undefined, server: InitializedServer): void {
    if (wanted === undefined || !isJsonObject(server.capabilities['logging'])) return
    if (this.#level !== undefined && levelAdmits(this.#level, wanted)) return
    this.#level = wanted
    this.#requests.send(legacyMethod.setLevel, { level: wanted }, (response) => {
      if (response?.kind === 'error') {
        this.#report(
          'warning',
          'level-refused',
          `The server refused the log level: ${response.error.message.slice(0, 200)}`,
        )
      }
    })
  }

  #send(message: RpcMessage, pending: PendingCall): void {
    // Carriers with a stream for each request learn later that its answer will never come.
    const failed = (error: unknown): void => {
      const lost = { code: rpcCode.internalError, message: 'The connection of the parked call was lost' }
      if (this.#questions.keepAnswer(pending, { kind: 'error', id: pending.id, error: lost })) return
      this.#wire.delete(pending.id)
      this.#questions.forget(pending)
      this.#pending.reject(pending, error)
    }
    try {
      const taken = this.#port.send(message)
      if (taken !== undefined) taken.then(undefined, failed)
    } catch (error) {
      failed(error)
    }
  }

  #cancel(pending: PendingCall): void {
    if (!this.#wire.delete(pending.id)) return
    this.#post({ kind: 'notification', method: noticeName.cancelled, params: { requestId: pending.id } })
  }

  /** Sends what nobody waits for. A connection that cannot take it has ended, and everybody hears of that anyway. */
  #post(message: RpcMessage): void {
    if (this.#closed !== undefined) return
    const taken = this.#port.send(message)
    if (taken !== undefined) taken.then(undefined, () => undefined)
  }

  // what the server sends

  #response(message: RpcResponse): void {
    if (this.#requests.answered(message)) return
    // A server that could not read a request cannot name it; with one request open there is no doubt.
    const only = this.#wire.size === 1 ? this.#wire.values().next().value : undefined
    const pending = message.id === undefined ? only : this.#wire.get(message.id)
    if (pending === undefined) {
      const what =
        message.kind === 'error' && message.id === undefined
          ? `an error: ${message.error.message.slice(0, 200)}`
          : 'an answer'
      this.#report('debug', 'unknown-id', `The server sent ${what} that no open call waits for; it was dropped.`)
    } else if (!this.#questions.keepAnswer(pending, message)) {
      this.#settle(pending, message)
    }
  }

  #settle(pending: PendingCall, message: RpcResponse): void {
    this.#wire.delete(pending.id)
    this.#questions.forget(pending)
    try {
      const decoded = this.#codec.decodeOutcome(pending.call, message)
      if (decoded.ok) this.#pending.resolve(pending, decoded.value)
      else this.#pending.reject(pending, new InvalidResultError(decoded.message, decoded.raw))
    } catch (error) {
      this.#pending.reject(pending, error)
    }
  }

  #request(message: RpcRequest, relatedTo: RpcId | undefined): void {
    const { id, method: name } = message
    if (name === legacyMethod.ping) {
      this.#post({ kind: 'result', id, result: {} })
    } else if (
      isQuestion(name) &&
      missingForInput(this.#declared, { method: name, params: message.params ?? {} }) === undefined
    ) {
      this.#questions.take(message, [...this.#wire.values()], relatedTo)
    } else {
      this.#post({ kind: 'error', id, error: { code: rpcCode.methodNotFound, message: 'Method not found' } })
    }
  }

  #notification(message: RpcNotification): void {
    if (message.method === noticeName.cancelled) {
      this.#questions.withdrawn(cancelledId(message.params))
      return
    }
    const decoded = this.#codec.decodeNotice(message)
    if (!decoded.ok) {
      this.#report('warning', 'bad-notice', `The server sent ${message.method.slice(0, 80)}, but ${decoded.message}.`)
      return
    }
    const notice = decoded.value
    switch (message.method) {
      case noticeName.progress:
        this.#progress(memberOf(message.params, 'progressToken') as RpcId | undefined, notice)
        return
      case noticeName.message:
        this.#log(notice)
        return
      case noticeName.toolsChanged:
      case noticeName.promptsChanged:
      case noticeName.resourcesChanged:
      case noticeName.resourceUpdated:
        this.#listens.changed(notice)
        return
      default:
        this.#report('debug', 'unknown-notice', `The server sent ${message.method.slice(0, 80)}; it was dropped.`)
    }
  }

  /** Progress of a call that is parked has nowhere to go (BR-229). */
  #progress(token: RpcId | undefined, notice: Call): void {
    const pending = token === undefined ? undefined : this.#wire.get(token)
    if (pending?.context.progressToken === undefined || this.#questions.isParked(pending)) {
      this.#report(
        'debug',
        'unknown-addressee',
        'The server sent progress that no open call asked for; it was dropped.',
      )
    } else if (pending.advances(notice)) {
      deliver(pending, notice, this.#onDiagnostic)
    }
  }

  /** A log message belongs to nothing on the wire, so it goes to the call that asked for some, if there is just one (BR-209). */
  #log(notice: Call): void {
    const wanting = [...this.#wire.values()].filter(
      (pending) => pending.context.logLevel !== undefined && !this.#questions.isParked(pending),
    )
    const [only] = wanting
    if (only === undefined || wanting.length > 1) return
    if (levelAdmits(only.context.logLevel, memberOf(notice.params, 'level') as LogLevel)) {
      deliver(only, notice, this.#onDiagnostic)
    }
  }

  #report(level: Diagnostic['level'], code: string, message: string): void {
    this.#onDiagnostic?.({ level, code, message })
  }
}

function isQuestion(name: string): boolean {
  return name === method.elicit || name === method.createMessage || name === method.listRoots
}
