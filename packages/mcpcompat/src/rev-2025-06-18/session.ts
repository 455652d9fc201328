import { Backlog } from '../contract/backlog.ts'
import { type CallHost, ServedContext } from '../contract/call-context.ts'
import { CallRunner } from '../contract/call-runner.ts'
import type { Call, Outcome } from '../contract/call.ts'
import { type Clock, systemClock } from '../contract/clock.ts'
import type { SendOptions } from '../contract/connection.ts'
import type { CallContext, LogLevel, Principal, WireHints } from '../contract/context.ts'
import { type OnDiagnostic, safeDiagnostics } from '../contract/diagnostics.ts'
import type { Dispatcher, ServerView } from '../contract/dispatcher.ts'
import { reportFailure } from '../contract/failure.ts'
import { notice as noticeName } from '../contract/methods.ts'
import { notifyDispatcher } from '../contract/notify-dispatcher.ts'
import { cancelForPeer } from '../contract/peer-cancel.ts'
import type { PeerPort } from '../contract/peer-port.ts'
import { throwIfAborted } from '../contract/pending-calls.ts'
import type { PeerAskOptions } from '../contract/peer-session.ts'
import type { DecodeFailure, WireCodec } from '../contract/wire.ts'
import { missingForInput } from '../input-requests.ts'
import { RpcError, rpcCode } from '../jsonrpc/errors.ts'
import type { JsonRecord } from '../jsonrpc/json.ts'
import type { RpcId, RpcMessage, RpcNotification, RpcRequest } from '../jsonrpc/message.ts'
import { legacyRevision, type RevisionPolicy } from '../revisions.ts'
import { type AskedClient, AskingCaller } from './asking.ts'
import { ClientQuestions } from './client-questions.ts'
import { createLegacyCodec } from './codec.ts'
import { initializeResult, readInitialize } from './handshake.ts'
import { legacyMethod, legacyNotice } from './methods.ts'
import { OpenSession, type SessionOwner } from './open-session.ts'

export interface CreateServerSessionOptions {
  readonly policy: RevisionPolicy
  /**
   * The level of log messages for a client that never sets one, which legacy leaves to the server (LG-LOG-02). Default `info`:
   * such clients expect to see messages, and debugging is for those who ask.
   */
  readonly defaultLogLevel?: LogLevel
  /** How long a client, and the person behind it, may take to answer a question, in milliseconds. Default 10 minutes. */
  readonly answerTimeoutMs?: number
  /** How long after its first question a call may go on asking, in milliseconds. Default 30 minutes. */
  readonly maxAskingMs?: number
  /** Questions to the client that may be open at the same time. Default 256. */
  readonly maxQuestions?: number
  /** Resources that may be subscribed at the same time. Default 1,024. */
  readonly maxSubscriptions?: number
  /** Calls that may run at the same time when no runner is given. Default 1,024. */
  readonly maxInFlight?: number
  readonly onDiagnostic?: OnDiagnostic | undefined
}

/** Where a message came from, as far as a session must know. */
export interface MessageOrigin {
  readonly principal: Principal
  readonly hints: WireHints
}

/** A legacy client as a server sees it: fed with what the client sends, it answers through its port. */
export interface ServerSession {
  /** The revision that was agreed on; `undefined` before the handshake. */
  readonly revision: string | undefined
  /** Takes one message, in order. Never throws for what the client sent, and never waits. */
  receive(message: RpcMessage, origin: MessageOrigin): void
  /** The client sends nothing more: its answers to open questions will not come, its calls go on. */
  inputEnded(): void
  /** Ends the session: subscriptions, open questions, and what the calls left to be cleaned up. Its calls are the runner's. */
  close(reason: unknown): void | Promise<void>
}

/**
 * Serves one legacy client on a dispatcher that knows no sessions. All that legacy must remember lives here: the handshake, the
 * log level, subscriptions (one listen on the dispatcher), and questions that are on their way to the client. `runner` runs the calls of
 * carriers that have to know which are open, or whose ids others share; the session has its own one when it is left out.
 */
export function createServerSession(
  dispatcher: Dispatcher,
  port: PeerPort,
  options: CreateServerSessionOptions,
  runner?: CallRunner,
): ServerSession {
  return new LegacyServerSession(dispatcher, port, options, runner)
}

const empty: Outcome = { kind: 'result', value: {} }

class LegacyServerSession implements ServerSession, CallHost, AskedClient, SessionOwner {
  readonly clock: Clock
  readonly onDiagnostic: OnDiagnostic | undefined
  readonly #inner: Dispatcher
  readonly #port: PeerPort
  readonly #options: CreateServerSessionOptions
  readonly #runner: CallRunner
  readonly #ownsRunner: boolean
  /** Made with the first call. */
  #asking: AskingCaller | undefined
  /** For the few messages that may come before the handshake. */
  #codec: WireCodec
  #session: OpenSession | undefined
  /** What the client has not taken yet of what it is told by the way; undefined until it is slow. */
  #backlog: Backlog | undefined
  #questions: ClientQuestions | undefined
  /** Why nothing that is asked will be answered any more. */
  #unheard: string | undefined

  constructor(
    dispatcher: Dispatcher,
    port: PeerPort,
    options: CreateServerSessionOptions,
    runner: CallRunner | undefined,
  ) {
    this.#inner = dispatcher
    this.#port = port
    this.clock = port.clock ?? systemClock
    this.#options = options
    this.onDiagnostic = safeDiagnostics(options.onDiagnostic)
    this.#ownsRunner = runner === undefined
    this.#runner =
      runner ?? new CallRunner({ maxInFlight: options.maxInFlight ?? 1_024, onDiagnostic: this.onDiagnostic })
    this.#codec = createLegacyCodec({ revision: options.policy.legacy[0] ?? legacyRevision })
  }

  /** Made with the first question: a server may keep thousands of sessions, and asks in few of them. */
  get questions(): ClientQuestions {
    if (this.#questions === undefined) {
      this.#questions = new ClientQuestions({
        port: this.#port,
        clock: this.clock,
        answerTimeoutMs: this.#options.answerTimeoutMs ?? 600_000,
        maxOpen: this.#options.maxQuestions ?? 256,
        ready: () => this.#session?.ready() ?? Promise.resolve(),
      })
      if (this.#unheard !== undefined) this.#questions.end(this.#unheard)
    }
    return this.#questions
  }

  get revision(): string | undefined {
    return this.#session?.handshake.revision
  }

  receive(message: RpcMessage, origin: MessageOrigin): void {
    switch (message.kind) {
      case 'request':
        this.#request(message, origin)
        return
      case 'notification':
        this.#notification(message, origin)
        return
      case 'result':
      case 'error':
        if (this.#questions?.answered(message) !== true) this.#reportUnexpected()
    }
  }

  inputEnded(): void {
    this.#endQuestions('The client has closed its side')
  }

  async close(reason: unknown): Promise<void> {
    this.#endQuestions('The session is over')
    if (this.#ownsRunner) this.#runner.cancelAll(reason)
    await this.#endSession(reason)
  }

  // the host of its calls

  /** What calls are dispatched to: the legacy methods here, everything else behind the questions. */
  get dispatcher(): this {
    return this
  }

  notify(context: ServedContext, notice: Call): void | Promise<void> {
    const message = this.#codec.encodeNotice(context.call, notice, context, context.id)
    if (message !== undefined) return this.#port.send(message, { relatedTo: context.id })
  }

  answer(context: ServedContext, outcome: Outcome): void {
    void this.#port.send(this.#codec.encodeOutcome(context.call, outcome, context, context.id))
  }

  refuse(context: ServedContext, error: unknown): void {
    reportFailure(error, context.call, this.onDiagnostic)
    void this.#port.send(this.#codec.encodeError(error, context.id, context.call))
  }

  #request(message: RpcRequest, { principal, hints }: MessageOrigin): void {
    const decoded = this.#codec.decodeCall(message, hints)
    if (!decoded.ok) {
      const error = new RpcError(codeOf(decoded.reason), decoded.message)
      void this.#port.send(this.#codec.encodeError(error, message.id))
      return
    }
    if (this.#runner.full && message.method !== legacyMethod.ping) {
      const error = new RpcError(rpcCode.internalError, 'Too many requests in flight')
      void this.#port.send(this.#codec.encodeError(error, message.id))
      return
    }
    const session = this.#session
    this.#runner.run(new ServedContext(this, message.id, decoded.value, principal, hints, undefined, session))
  }

  #notification(message: RpcNotification, { principal, hints }: MessageOrigin): void {
    switch (message.method) {
      case noticeName.cancelled:
        cancelForPeer(this.#runner, message.params, this.onDiagnostic)
        return
      case legacyNotice.initialized:
        this.#session?.initialized()
        return
      case legacyNotice.rootsChanged:
        this.#session?.rootsChanged()
        return
      // Nothing in the modern model hears of this (BR-113); somebody whose question was relayed does.
      case noticeName.progress:
        this.#questions?.progressed(message.params)
        return
      default:
        if (this.#session !== undefined) this.#passOn(message, this.#session, principal, hints)
    }
  }

  #passOn(message: RpcNotification, session: OpenSession, principal: Principal, hints: WireHints): void {
    const decoded = session.codec.decodeNotice(message)
    if (!decoded.ok) return
    const call = decoded.value
    const facts = {
      peer: session.peer,
      rawMeta: undefined,
      progressToken: undefined,
      logLevel: undefined,
      resume: undefined,
    }
    const context = new ServedContext(this, '', { call, context: facts }, principal, hints, undefined, session)
    context.ended = true // nothing can be written for a notification
    notifyDispatcher(this.#inner, call, context, this.onDiagnostic)
  }

  call(call: Call, context: CallContext): Outcome | Promise<Outcome> {
    const served = context as ServedContext // made in #request
    switch (call.method) {
      case legacyMethod.ping:
        return empty
      case legacyMethod.initialize:
        return this.#initialize(call, served)
    }
    const session = this.#session
    if (session === undefined) throw new RpcError(rpcCode.invalidParams, 'Send initialize first')
    switch (call.method) {
      case legacyMethod.setLevel:
        session.setLevel(call.params)
        return empty
      case legacyMethod.subscribe:
        return session.subscribe(call.params).then(() => empty)
      case legacyMethod.unsubscribe:
        session.unsubscribe(call.params)
        return empty
    }
    const { following } = session
    return following === undefined
      ? this.#ask(call, served, session)
      : this.#callWhenFollowed(following, call, served, session)
  }

  async #callWhenFollowed(
    following: Promise<void>,
    call: Call,
    served: ServedContext,
    session: OpenSession,
  ): Promise<Outcome> {
    await following
    throwIfAborted(served)
    return await this.#ask(call, served, session)
  }

  #ask(call: Call, served: ServedContext, session: OpenSession): Outcome | Promise<Outcome> {
    this.#asking ??= new AskingCaller(this.#inner, this, this.clock, this.#options.maxAskingMs ?? 1_800_000)
    return this.#asking.call(call, served, session.handshake.features)
  }

  /**
   * Opens the session, or opens it anew: programs that share one server among several clients hand through the handshake of
   * each. Nothing of the earlier session stays.
   */
  #initialize(call: Call, context: ServedContext): Outcome | Promise<Outcome> {
    const handshake = readInitialize(call.params, this.#options.policy)
    this.#endEarlier(call)
    const session = new OpenSession(handshake, context.principal, this)
    this.#session = session
    this.#codec = session.codec
    return this.#welcome(session, context.principal)
  }

  #endEarlier(call: Call): void {
    if (this.#session === undefined) return
    this.#endSession(new DOMException('The client opened a new session', 'AbortError')).catch((error: unknown) => {
      reportFailure(error, call, this.onDiagnostic)
    })
  }

  #welcome(session: OpenSession, principal: Principal): Outcome | Promise<Outcome> {
    const offer = (view: ServerView): Outcome => {
      session.offer(view)
      return { kind: 'result', value: initializeResult(session.handshake, view) }
    }
    const view = this.#inner.view(principal, { peer: session.peer, session })
    if (!(view instanceof Promise)) return offer(view)
    return view.then(offer, async (error: unknown) => {
      // A handshake that failed has opened nothing.
      if (this.#session === session) await this.#endSession(error)
      throw error
    })
  }

  #endQuestions(reason: string): void {
    this.#unheard = reason
    this.#questions?.end(reason)
  }

  async #endSession(reason: unknown): Promise<void> {
    const session = this.#session
    this.#session = undefined
    session?.end(reason)
    await session?.closeScope()
  }

  // the owner of its session

  get inner(): Dispatcher {
    return this.#inner
  }

  get defaultLogLevel(): LogLevel {
    return this.#options.defaultLogLevel ?? 'info'
  }

  get maxSubscriptions(): number {
    return this.#options.maxSubscriptions ?? 1_024
  }

  get isReachable(): boolean {
    return this.#port.isReachable ?? true
  }

  forward(notice: Call): void {
    if (this.#backlog?.holds(notice) !== true) this.#say(notice)
  }

  relay(session: OpenSession, request: Call, options: PeerAskOptions): Promise<JsonRecord> {
    if (this.#session !== session) return Promise.reject(new RpcError(rpcCode.internalError, 'The session is over'))
    if (missingForInput(session.peer.capabilities, request) !== undefined) {
      return Promise.reject(new RpcError(rpcCode.methodNotFound, 'Method not found'))
    }
    return this.questions.relay(request, idOf(options.related), options)
  }

  tell(session: OpenSession, notice: Call, related: CallContext | undefined): void {
    if (this.#session !== session || this.#backlog?.isFull === true) return
    const relatedTo = idOf(related)
    this.#say(notice, relatedTo === undefined ? {} : { relatedTo })
  }

  #say(notice: Call, options: SendOptions = {}): void {
    const { method, params } = notice
    const taken = this.#port.send({ kind: 'notification', method, params }, options)
    // A connection that cannot take it has ended, and everybody hears of that anyway.
    if (taken !== undefined) (this.#backlog ??= new Backlog()).add(notice, taken).catch(() => undefined)
  }

  #reportUnexpected(): void {
    this.onDiagnostic?.({
      level: 'debug',
      code: 'unexpected-response',
      message: 'The client answered a question that is not open; the answer was dropped.',
    })
  }
}

/** The id of a call that is still open, on whose stream a message can go. */
function idOf(context: CallContext | undefined): RpcId | undefined {
  let served = context
  while (served?.origin !== undefined) served = served.origin
  return served instanceof ServedContext && !served.ended ? served.id : undefined
}

/** The error number of a message that a codec refused. */
function codeOf(reason: DecodeFailure): number {
  return reason === 'not-in-revision' ? rpcCode.methodNotFound : rpcCode.invalidParams
}
