import { abortable } from '../contract/abortable.ts'
import type { Call, Outcome } from '../contract/call.ts'
import { ClientLine, unreadableAnswer } from '../contract/client-line.ts'
import { systemClock } from '../contract/clock.ts'
import type { AbortOptions, CallContext, LogLevel, WireHints } from '../contract/context.ts'
import type { OnDiagnostic } from '../contract/diagnostics.ts'
import type { Implementation, ServerView } from '../contract/dispatcher.ts'
import { toRpcError } from '../contract/failure.ts'
import { IdTable } from '../contract/id-table.ts'
import { createIds } from '../contract/ids.ts'
import { method, notice as noticeName } from '../contract/methods.ts'
import { cancelledId } from '../contract/peer-cancel.ts'
import type { ClientPeer, PeerPort } from '../contract/peer-port.ts'
import type { PeerSession } from '../contract/peer-session.ts'
import { peerView } from '../contract/peer-view.ts'
import { deliver, failedCall, PendingCall, throwIfAborted, withToken } from '../contract/pending-calls.ts'
import type { WireCodec } from '../contract/wire.ts'
import { discoverResult } from '../discover.ts'
import { rpcCode, TransportError } from '../jsonrpc/errors.ts'
import { isJsonObject, type JsonObject } from '../jsonrpc/json.ts'
import type { RpcId, RpcMessage, RpcNotification, RpcReject, RpcRequest, RpcResponse } from '../jsonrpc/message.ts'
import { missingForInput } from '../input-requests.ts'
import { levelAdmits } from '../log-levels.ts'
import { memberOf } from '../member.ts'
import { legacyRevision, type RevisionPolicy } from '../revisions.ts'
import { type Root, rootsResult } from '../roots.ts'
import { type InitializedServer, initializeParams, readInitializeResult } from './client-handshake.ts'
import { ClientListens } from './client-listens.ts'
import { ClientRequests } from './client-requests.ts'
import { createLegacyCodec } from './codec.ts'
import { legacyMethod, legacyNotice } from './methods.ts'
import { ServerQuestions } from './server-questions.ts'
import { SessionRelay } from './session-relay.ts'

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
  /**
   * Whom this connection is for, and nobody else (BR-307): the server meets that client's own identity and capabilities, its requests and
   * log messages go to that client as they come, and the level that the client sets and changes of its roots go to the server.
   */
  readonly relayFor?: PeerSession | undefined
  /**
   * What the server is told when it asks for roots where no client can be asked for its own: outside of any call, or of clients that have
   * none (BR-223). They are declared in the handshake then. Without any such a question is refused. Each a `file://` URI (MC-ROOT-02).
   */
  readonly roots?: readonly Root[] | undefined
  readonly onDiagnostic?: OnDiagnostic | undefined
}

/** A client of one legacy server. */
export interface LegacyClient extends ClientPeer {
  /** Whether the server has asked something and the carrier did not say in which call. */
  readonly asksAtLarge: boolean
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
  asksAtLarge = false
  readonly #options: CreateClientSessionOptions
  readonly #nextId: () => RpcId
  readonly #line: ClientLine
  /** Requests that are open on the wire; those of parked calls have no caller at the moment. */
  readonly #wire = new IdTable<PendingCall>()
  readonly #requests: ClientRequests
  readonly #questions: ServerQuestions
  readonly #listens: ClientListens
  readonly #declared: JsonObject
  /** Set when this connection stands in for a client that has a session of its own. */
  readonly #relay: SessionRelay | undefined
  /** The answer to `roots/list` that is for nobody else. */
  readonly #ownRoots: JsonObject | undefined
  #codec: WireCodec
  #server: InitializedServer | undefined
  /** The lowest level that the server was told; before that it sends what it likes. */
  #level: LogLevel | undefined

  constructor(port: PeerPort, options: CreateClientSessionOptions) {
    this.#line = new ClientLine(port, options.onDiagnostic)
    this.#options = options
    this.#nextId = options.nextId ?? createIds()
    const { relayFor } = options
    this.#relay =
      relayFor === undefined
        ? undefined
        : new SessionRelay({
            session: relayFor,
            line: this.#line,
            send: (...request) => this.#requests.send(...request),
          })
    this.#declared = relayFor?.peer.capabilities ?? options.capabilities ?? {}
    this.#ownRoots = rootsResult(options.roots)
    this.#codec = createLegacyCodec({ revision: this.#requested })
    this.#requests = new ClientRequests(port, this.#nextId)
    this.#listens = new ClientListens(this.#requests, port, this.#line.onDiagnostic)
    this.#questions = new ServerQuestions({
      port,
      clock: port.clock ?? systemClock,
      joinMs: options.joinQuestionsMs ?? 20,
      parkedMs: options.parkedMs ?? 600_000,
      maxParked: options.maxParked ?? 256,
      ownRoots: this.#ownRoots,
      suspend: (pending, ask) => this.#line.pending.resolve(pending, ask),
      resume: (call, context) => this.#goOn(call, context),
      unasked: (name, why) =>
        this.#line.report('warning', 'question-unasked', `The server asked ${name}, and nobody was asked: ${why}.`),
      abandon: (pending, error) => {
        this.#line.pending.reject(pending, error)
        this.#cancel(pending)
      },
    })
  }

  get openCalls(): number {
    return this.#line.pending.size
  }

  get #requested(): string {
    return this.#options.revision ?? this.#options.policy.legacy[0] ?? legacyRevision
  }

  async initialize({ signal }: AbortOptions = {}): Promise<InitializedServer> {
    signal?.throwIfAborted()
    const { info } = this.#options
    const params =
      this.#relay?.initializeParams(this.#requested, info) ?? initializeParams(this.#requested, info, this.#declared)
    const offered = this.#ownRoots === undefined ? params : withRoots(params)
    const answer = new Promise<RpcResponse | undefined>((resolve) => {
      this.#requests.send(legacyMethod.initialize, offered, resolve)
    })
    return this.#initialized(await (signal === undefined ? answer : abortable(answer, signal)))
  }

  #initialized(response: RpcResponse | undefined): InitializedServer {
    if (response === undefined) throw this.#line.endError()
    if (response.kind === 'error') throw toRpcError(response.error)
    const server = readInitializeResult(response.result, this.#requested, this.#options.policy)
    this.#server = server
    this.#codec = createLegacyCodec({ revision: server.observed })
    this.#line.post({ kind: 'notification', method: legacyNotice.initialized, params: undefined })
    this.#relay?.start(isJsonObject(server.capabilities['logging']))
    return server
  }

  call(call: Call, context: CallContext): Outcome | Promise<Outcome> {
    try {
      return this.#call(call, context)
    } catch (error) {
      return failedCall(error)
    }
  }

  #call(call: Call, context: CallContext): Outcome | Promise<Outcome> {
    this.#line.admit(call)
    const server = this.#server
    if (server === undefined) throw new TransportError('protocol', 'The handshake has not been made')
    throwIfAborted(context)
    switch (call.method) {
      case method.discover:
        return Promise.resolve({ kind: 'result', value: discoverResult(this.view(), this.#options.policy) })
      case method.listen:
        return this.#listen(call, context, server)
    }
    // Answers without a state belong to no call that waits; a server of this era has not asked for them (MC-MRTR-23).
    if (context.resume?.requestState !== undefined) return Promise.resolve(this.#resume(call, context))
    if (this.#relay === undefined) this.#lowerLevel(context.logLevel, server)
    const id = this.#nextId()
    const about = context.progressToken === undefined ? context : withToken(context, id) // BR-210
    const { message } = this.#codec.encodeCall(call, about, id)
    const pending = new PendingCall(id, call, context)
    this.#wire.set(id, pending)
    const outcome = this.#wait(pending)
    this.#line.handOver(message, pending, this.#lost)
    return outcome
  }

  notify(notice: Call): void | Promise<void> {
    return this.#line.notify(notice)
  }

  view(): ServerView {
    return peerView(this.#server ?? { info: undefined, instructions: undefined, capabilities: {} })
  }

  drain(): Promise<void> {
    return this.#line.drain((listen) => this.#listens.close(listen))
  }

  receive(message: RpcMessage | RpcReject, _hints?: WireHints, relatedTo?: RpcId): void {
    switch (message.kind) {
      case 'result':
      case 'error':
        this.#response(message)
        return
      case 'notification':
        this.#notification(message, relatedTo)
        return
      case 'request':
        this.#request(message, relatedTo)
        return
      case 'reject':
        this.#unreadable(message)
    }
  }

  abandon(): void {
    for (const pending of this.#wire.values()) this.#cancel(pending)
  }

  closed(cause?: unknown): void {
    this.#line.close(cause)
    this.#relay?.end(cause)
    this.#questions.end()
    this.#requests.end()
    this.#wire.clear()
  }

  // calls

  #wait(pending: PendingCall): Promise<Outcome> {
    return this.#line.pending.wait(pending, this.#gaveUp)
  }

  readonly #gaveUp = (pending: PendingCall): void => {
    this.#questions.forget(pending, 'given-up')
    this.#cancel(pending)
  }

  async #goOn(call: Call, context: CallContext): Promise<Outcome> {
    this.#line.admit(call)
    context.signal.throwIfAborted()
    return await this.#resume(call, context)
  }

  #resume(call: Call, context: CallContext): Outcome | Promise<Outcome> {
    const resumed = this.#questions.resume(call, context)
    if ('ask' in resumed) return resumed.ask
    const outcome = this.#wait(resumed.pending)
    if (resumed.early !== undefined) this.#settle(resumed.pending, resumed.early)
    return outcome
  }

  readonly #unlistened = (pending: PendingCall): void => this.#listens.close(pending)

  #listen(call: Call, context: CallContext, server: InitializedServer): Promise<Outcome> {
    const pending = new PendingCall(this.#nextId(), call, context)
    const outcome = this.#line.pending.wait(pending, this.#unlistened)
    try {
      this.#listens.open(pending, server.capabilities)
    } catch (error) {
      this.#line.pending.reject(pending, error)
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
        this.#line.report(
          'warning',
          'level-refused',
          `The server refused the log level: ${response.error.message.slice(0, 200)}`,
        )
      }
    })
  }

  /** Carriers with a stream for each request learn later that its answer will never come. */
  readonly #lost = (pending: PendingCall, error: unknown): void => {
    const lost = { code: rpcCode.internalError, message: 'The connection of the parked call was lost' }
    if (this.#questions.keepAnswer(pending, { kind: 'error', id: pending.id, error: lost })) return
    this.#wire.delete(pending.id)
    this.#questions.forget(pending)
    this.#line.pending.reject(pending, error)
  }

  #cancel(pending: PendingCall): void {
    if (!this.#wire.delete(pending.id)) return
    this.#line.post({ kind: 'notification', method: noticeName.cancelled, params: { requestId: pending.id } })
  }

  // what the server sends

  #response(message: RpcResponse): void {
    if (this.#requests.answered(message)) return
    // A server that could not read a request cannot name it; with one request open there is no doubt.
    const only = this.#wire.size === 1 ? this.#wire.first : undefined
    const pending = message.id === undefined ? only : this.#wire.get(message.id)
    if (pending === undefined) this.#line.unknownAnswer(message)
    else if (!this.#questions.keepAnswer(pending, message)) this.#settle(pending, message)
  }

  /** What was to be an answer, and is no message, ends what waits for it. */
  #unreadable(reject: RpcReject): void {
    for (const id of this.#line.unreadable(reject)) {
      const error = unreadableAnswer(reject.reason)
      const told: RpcResponse = { kind: 'error', id, error: { code: rpcCode.internalError, message: error.message } }
      if (this.#requests.answered(told)) continue
      const pending = this.#wire.get(id)
      if (pending !== undefined && !this.#questions.keepAnswer(pending, told)) this.#lost(pending, error)
    }
  }

  #settle(pending: PendingCall, message: RpcResponse): void {
    this.#wire.delete(pending.id)
    this.#questions.forget(pending)
    this.#line.settle(this.#codec, pending, message)
  }

  #request(message: RpcRequest, relatedTo: RpcId | undefined): void {
    const { id, method: name } = message
    if (name === legacyMethod.ping) {
      this.#line.post({ kind: 'result', id, result: {} })
    } else if (
      name === method.listRoots &&
      this.#ownRoots !== undefined &&
      missingForInput(this.#declared, { method: name, params: {} }) !== undefined
    ) {
      this.#line.post({ kind: 'result', id, result: this.#ownRoots })
    } else if (this.#relay !== undefined) {
      this.#relay.take(message, this.#relatedCall(relatedTo))
    } else if (
      isQuestion(name) &&
      missingForInput(this.#declared, { method: name, params: message.params ?? {} }) === undefined
    ) {
      if (relatedTo === undefined) this.asksAtLarge = true
      this.#questions.take(message, [...this.#wire.values()], relatedTo)
    } else {
      this.#line.post({ kind: 'error', id, error: { code: rpcCode.methodNotFound, message: 'Method not found' } })
    }
  }

  /** The call that the carrier names, or the only one that there is. */
  #relatedCall(relatedTo: RpcId | undefined): CallContext | undefined {
    if (relatedTo !== undefined) return this.#wire.get(relatedTo)?.context
    return this.#wire.size === 1 ? this.#wire.first?.context : undefined
  }

  #notification(message: RpcNotification, relatedTo: RpcId | undefined): void {
    if (message.method === noticeName.cancelled) {
      const id = cancelledId(message.params)
      if (this.#relay === undefined) this.#questions.withdrawn(id)
      else this.#relay.withdrawn(id)
      return
    }
    const notice = this.#line.readNotice(this.#codec, message)
    if (notice === undefined) return
    switch (message.method) {
      case noticeName.progress:
        this.#progress(memberOf(message.params, 'progressToken') as RpcId | undefined, notice)
        return
      case noticeName.message:
        if (this.#relay === undefined) this.#line.deliverLog(this.#answerable, notice)
        else this.#relay.tell(notice, this.#relatedCall(relatedTo))
        return
      case noticeName.toolsChanged:
      case noticeName.promptsChanged:
      case noticeName.resourcesChanged:
      case noticeName.resourceUpdated:
        this.#listens.changed(notice)
        return
      default:
        if (this.#relay === undefined) this.#line.dropped(message.method)
        else this.#relay.tell(notice, this.#relatedCall(relatedTo))
    }
  }

  /** Progress of a call that is parked has nowhere to go (BR-229). */
  #progress(token: RpcId | undefined, notice: Call): void {
    const pending = token === undefined ? undefined : this.#wire.get(token)
    if (pending?.context.progressToken === undefined || this.#questions.isParked(pending)) {
      this.#line.dropped(notice.method)
    } else if (pending.advances(notice)) {
      deliver(pending, notice, this.#line.onDiagnostic)
    }
  }

  /** Calls whose callers are there; what comes for one that is parked has nowhere to go. */
  get #answerable(): readonly PendingCall[] {
    return [...this.#wire.values()].filter((pending) => !this.#questions.isParked(pending))
  }
}

/** Who has roots of its own keeps what it declared of them. */
function withRoots({ capabilities, ...params }: JsonObject): JsonObject {
  return { ...params, capabilities: { roots: {}, ...(isJsonObject(capabilities) && capabilities) } }
}

function isQuestion(name: string): boolean {
  return name === method.elicit || name === method.createMessage || name === method.listRoots
}
