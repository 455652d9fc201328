import {
  type Call,
  type CallContext,
  type Diagnostic,
  type Dispatcher,
  type Implementation,
  type JsonObject,
  method,
  notice as noticeName,
  type Outcome,
  type RevisionPolicy,
  type Root,
  RpcError,
  rpcCode,
  type ServerView,
  TransportError,
} from '@atenea/mcpcompat'
import {
  abortable,
  closedConnection,
  createIds,
  filterAdmits,
  grantFilter,
  type InitializedServer,
  linkSignals,
  parseListenFilter,
  type PeerSession,
  peerView,
} from '@atenea/mcpcompat/transport'
import type { Payload } from '../answer.ts'
import { hasEnded } from '../call-end.ts'
import { type Endpoint, maxRenewals } from '../endpoint.ts'
import { HttpAuthError, SessionLostError } from '../http-errors.ts'
import { LimitedContext } from '../limited-context.ts'
import { backoffMs, wait } from '../wait.ts'
import { HttpSession } from './http-session.ts'

export interface CreateSessionClientOptions {
  readonly endpoint: Endpoint
  readonly policy: RevisionPolicy
  /** What `initialize` offers; the newest accepted legacy revision when left out. */
  readonly revision?: string | undefined
  readonly info: Implementation
  readonly capabilities: JsonObject
  readonly relayFor?: PeerSession | undefined
  readonly roots?: readonly Root[] | undefined
  readonly payload: Payload
  /** Longest time that a call may take, subscriptions aside. */
  readonly callTimeoutMs: number
  readonly handshakeTimeoutMs: number
  /** Whether to keep a stream open for what the server sends by itself. Without it there are no list changes. */
  readonly openStream: boolean
  /** The server refused a handshake with this error, which can show that it is not legacy any more. */
  readonly onRefused?: (error: RpcError) => void
  readonly onDiagnostic?: ((diagnostic: Diagnostic) => void) | undefined
}

/** A client of a legacy server over HTTP. */
export interface SessionClient extends Dispatcher {
  /** The handshake of the first session; to be made once, before any call. */
  start(signal: AbortSignal | undefined): Promise<InitializedServer>
  /** What the server said in the latest handshake. */
  readonly server: InitializedServer | undefined
  /** Whether questions come on the stream of their call, as far as the session has shown. */
  readonly namesCalls: boolean
  /** Ends the session. Open calls fail at once; resolves when the server was told or could not be. */
  end(cause?: unknown): Promise<void>
}

/**
 * Calls a legacy server over HTTP, one session at a time. When the server has forgotten the session, one fresh handshake is made and a call
 * that met the loss, which the server has not looked at, is repeated once; a second loss surfaces (C4, LG-SESS-06, BR-234).
 * Subscriptions move on to the new session, and their callers are told that anything may have changed.
 */
export function createSessionClient(options: CreateSessionClientOptions): SessionClient {
  return new Sessions(options)
}

const drained = Symbol('drained')
const reopening = { firstMs: 500, maxMs: 60_000 }

class Sessions implements SessionClient {
  server: InitializedServer | undefined
  readonly #options: CreateSessionClientOptions
  readonly #endpoint: Endpoint
  readonly #nextId = createIds()
  readonly #life = new AbortController()
  /** Aborts when open subscriptions are to end with their result. */
  readonly #drain = new AbortController()
  /** Sessions that have been begun and not been ended. */
  readonly #sessions = new Set<HttpSession>()
  #current: Promise<HttpSession> | undefined
  /** The latest that has begun. */
  #begun: HttpSession | undefined
  #believesFirst404 = true
  #ended: { readonly cause: unknown } | undefined

  constructor(options: CreateSessionClientOptions) {
    this.#options = options
    this.#endpoint = options.endpoint
  }

  get namesCalls(): boolean {
    return this.#begun?.client.asksAtLarge !== true
  }

  async start(signal: AbortSignal | undefined): Promise<InitializedServer> {
    const starting = this.#begin(signal)
    this.#current = starting
    await starting
    if (this.server === undefined) throw new TypeError('a session that has begun knows its server')
    return this.server
  }

  async call(call: Call, context: CallContext): Promise<Outcome> {
    if (this.#ended !== undefined) throw closedConnection(this.#ended.cause)
    if (hasEnded(context)) throw context.signal.reason
    if (call.method === method.listen) return await this.#listen(call, context)
    const { callTimeoutMs } = this.#options
    if (callTimeoutMs === Number.POSITIVE_INFINITY) return await this.#callOnce(call, context)
    using link = linkSignals([context.signal], { timeoutMs: callTimeoutMs })
    const limited = new LimitedContext(context, link.signal)
    try {
      return await this.#callOnce(call, limited)
    } catch (error) {
      if (!link.signal.aborted || context.signal.aborted) throw error
      const text = `${this.#endpoint.name} did not answer ${call.method} within ${callTimeoutMs} ms; it may have been carried out.`
      throw new TransportError('timeout', text, { cause: error })
    }
  }

  async #callOnce(call: Call, context: CallContext): Promise<Outcome> {
    const session = this.#present ?? (await abortable(this.#session(), context.signal))
    try {
      return await session.client.call(call, context)
    } catch (error) {
      // What a forgotten session had asked cannot be answered in another one.
      if (!SessionLostError.is(error) || context.resume !== undefined) throw error
      const next = await abortable(this.#renew(session), context.signal)
      return await this.#repeat(call, context, next)
    }
  }

  async #repeat(call: Call, context: CallContext, session: HttpSession): Promise<Outcome> {
    try {
      return await session.client.call(call, context)
    } catch (error) {
      if (!SessionLostError.is(error)) throw error
      throw new SessionLostError(`${this.#endpoint.name} forgets every session as soon as it is opened.`, {
        again: true,
      })
    }
  }

  async notify(notice: Call, context: CallContext): Promise<void> {
    if (this.#ended !== undefined || notice.method === noticeName.cancelled) return
    await (await this.#session()).client.notify(notice, context)
  }

  view(): ServerView {
    return peerView(this.server ?? { info: undefined, instructions: undefined, capabilities: {} })
  }

  drain(): Promise<void> {
    this.#drain.abort(drained)
    return Promise.resolve()
  }

  async end(cause?: unknown): Promise<void> {
    if (this.#ended !== undefined) return
    this.#ended = { cause }
    this.#life.abort(closedConnection(cause))
    await Promise.all([...this.#sessions].map(async (session) => await session.close(cause)))
  }

  // sessions

  /** The session that stands. */
  get #present(): HttpSession | undefined {
    const begun = this.#begun
    return begun?.isLost === false ? begun : undefined
  }

  /** The present session; a new one when the last one failed to begin or was lost. */
  async #session(): Promise<HttpSession> {
    const current = this.#current
    if (current === undefined) return await this.#replace()
    const session = await current.catch(() => undefined)
    if (session !== undefined && !session.isLost) return session
    return this.#current === current ? await this.#replace() : await this.#session()
  }

  /** The session after one that was lost, whoever noticed first. */
  async #renew(lost: HttpSession): Promise<HttpSession> {
    const current = await this.#current?.catch(() => undefined)
    if (current !== undefined && current !== lost) return current
    return await this.#session()
  }

  #replace(): Promise<HttpSession> {
    const starting = this.#begin(undefined)
    this.#current = starting
    // Whoever waits for it hears of its failure; it is nobody's unhandled rejection.
    starting.catch(() => undefined)
    return starting
  }

  /** Begins a session, and again with better credentials where it was not let in. Time for signing in is not time of the handshake. */
  async #begin(signal: AbortSignal | undefined): Promise<HttpSession> {
    for (let renewals = 0; ; renewals++) {
      try {
        return await this.#beginOnce(signal)
      } catch (error) {
        if (!HttpAuthError.is(error) || renewals === maxRenewals) throw error
        using link = linkSignals([signal, this.#life.signal])
        if (!(await this.#endpoint.renew(error, { signal: link.signal }))) throw error
      }
    }
  }

  async #beginOnce(signal: AbortSignal | undefined): Promise<HttpSession> {
    const { endpoint, policy, revision, info, capabilities, relayFor, payload, handshakeTimeoutMs, openStream } =
      this.#options
    const { roots, onDiagnostic } = this.#options
    if (this.#ended !== undefined) throw closedConnection(this.#ended.cause)
    const session = new HttpSession({
      endpoint,
      policy,
      revision,
      info,
      capabilities,
      relayFor,
      roots,
      nextId: this.#nextId,
      believesFirst404: this.#believesFirst404,
      payload,
      onDiagnostic,
    })
    this.#sessions.add(session)
    using limit = linkSignals([signal, this.#life.signal], { timeoutMs: handshakeTimeoutMs })
    try {
      this.server = await session.initialize({ signal: limit.signal })
    } catch (error) {
      // Whoever ends this client waits until the server was told.
      void session.close(error).finally(() => this.#sessions.delete(session))
      if (RpcError.is(error)) {
        this.#options.onRefused?.(error)
        const text = `${endpoint.name} refused initialize: ${error.message} (${error.code}).`
        throw new TransportError('protocol', text, { cause: error })
      }
      if (signal?.aborted === true || this.#life.signal.aborted || !limit.signal.aborted) throw error
      const text = `${endpoint.name} did not answer initialize within ${handshakeTimeoutMs} ms.`
      throw new TransportError('timeout', text, { retryable: true, cause: error })
    }
    this.#begun = session
    void session.gone.then((loss) => this.#lost(session, loss))
    if (openStream) void session.listen()
    return session
  }

  #lost(session: HttpSession, loss: 'request' | 'stream' | 'first-stream'): void {
    if (this.#ended !== undefined) return
    if (loss === 'first-stream') this.#believesFirst404 = false
    this.#report('info', 'session-lost', `${this.#endpoint.name} has forgotten the session; a new one is opened.`)
    // A request that met the loss goes on in a new session by itself; a stream has nobody who would ask for one (C5).
    if (loss !== 'request') {
      this.#renew(session).catch((cause: unknown) =>
        this.#report('warning', 'session-failed', 'No new session could be opened; the next call tries again.', cause),
      )
    }
    void session.client.drain()
    this.#endpoint.clock.after(30_000, () => {
      this.#sessions.delete(session)
      void session.close()
    })
  }

  // subscriptions

  /** Keeps a subscription open over the sessions. It ends when it is given up, drained, or the connection ends. */
  async #listen(call: Call, context: CallContext): Promise<Outcome> {
    if (this.#drain.signal.aborted) throw new RpcError(rpcCode.internalError, 'No new subscriptions are taken')
    const filter = parseListenFilter(call.params)
    using link = linkSignals([context.signal, this.#drain.signal, this.#life.signal])
    let acknowledged = false
    const emit = (notice: Call): void | Promise<void> => {
      if (notice.method !== noticeName.acknowledged) return context.emit(notice)
      if (!acknowledged) {
        acknowledged = true
        return context.emit(notice)
      }
    }
    const limited = new LimitedContext(context, link.signal, emit)
    try {
      for (let attempt = 0; ; attempt++) {
        const session = await abortable(this.#session(), link.signal)
        if (attempt > 0) this.#tellAll(filter, context)
        const begun = this.#endpoint.clock.now()
        // Ends when the session is lost as well, since its client is drained then.
        const ended = await session.client.call(call, limited)
        if (!session.isLost) return ended
        if (this.#endpoint.clock.now() - begun > 60_000) attempt = 0
        // The first loss is made good at once.
        if (attempt > 0) await wait(backoffMs(attempt, undefined, reopening), link.signal, this.#endpoint.clock, false)
      }
    } catch (error) {
      if (link.signal.reason === drained) return { kind: 'result', value: {} }
      throw error
    }
  }

  /** What may have changed while nobody could tell (BR-131). */
  #tellAll(filter: ReturnType<typeof parseListenFilter>, context: CallContext): void {
    const granted = grantFilter(filter, this.server?.capabilities ?? {})
    const changes: Call[] = [noticeName.toolsChanged, noticeName.promptsChanged, noticeName.resourcesChanged].map(
      (name) => ({ method: name, params: {} }),
    )
    for (const uri of granted.resourceSubscriptions ?? [])
      changes.push({ method: noticeName.resourceUpdated, params: { uri } })
    for (const change of changes) {
      if (!filterAdmits(granted, change)) continue
      Promise.resolve(context.emit(change)).catch((cause: unknown) =>
        this.#report('warning', 'notice-refused', 'A caller could not take a notice of its call.', cause),
      )
    }
  }

  #report(level: Diagnostic['level'], code: string, message: string, cause?: unknown): void {
    this.#options.onDiagnostic?.({ level, code, message, cause })
  }
}
