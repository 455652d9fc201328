import {
  type Call,
  type CallContext,
  canonicalize,
  type Implementation,
  type JsonObject,
  method,
  type OnDiagnostic,
  type Outcome,
  type Peer,
  type Principal,
  RpcError,
  rpcCode,
  type RevisionPolicy,
  type ServerView,
  TransportError,
  type Viewer,
} from '@atenea/mcpcompat'
import {
  abortable,
  askingMethods,
  type ClientConnection,
  type Clock,
  createCallerContext,
  isOutcome,
  keepsSessions,
  type PeerSession,
} from '@atenea/mcpcompat/transport'
import { AskingPool, type Lease } from './asking-pool.ts'
import { BackOff } from './back-off.ts'
import type { BackendOptions } from './backend-options.ts'
import type { BackendClient, BackendPort } from './backend-port.ts'
import { Deadlines } from './deadlines.ts'
import type { OnPassthroughEvent } from './events.ts'
import { askNotBridged, busy, failureForCaller, overdue, waiting } from './failures.ts'
import { isListen, keepListen, listenDrained } from './kept-listen.ts'
import { Link } from './link.ts'
import type { Parking, ParkingAsk } from './parking/parking.ts'
import { type CallLimits, isAborted, RelayedCall } from './relayed-call.ts'
import type { BackendState, BackendStatus } from './status.ts'

/** What all backends of a proxy share. */
export interface BackendSurroundings {
  readonly policy: RevisionPolicy
  /** Who we are, towards backends that keep a session for several clients. */
  readonly info: Implementation
  /** Where calls wait for answers to questions that cross between the kinds of peers; none cross without it. */
  readonly parking: Parking | undefined
  /** Whether methods that MCP does not define are passed on (BR-117, BR-212). */
  readonly passExtensions: boolean
  readonly onEvent: OnPassthroughEvent | undefined
  readonly onDiagnostic: OnDiagnostic | undefined
  readonly clock: Clock
}

/** The connection for one call. */
interface Made {
  readonly link: Link
  readonly connection: ClientConnection
  readonly lease: Lease | undefined
}

/** A client with a session of its own, or everybody who shares one. */
type LinkKey = PeerSession | string

/**
 * One backend. One that keeps sessions gets a connection for each client that keeps one with us (BR-307), and one for each principal for all
 * others (decisions 5); any other backend gets one connection for everybody. Which of both it is shows with the first connection.
 */
export class Backend implements BackendPort, AsyncDisposable {
  readonly name: string
  lastView: ServerView | undefined
  readonly #options: BackendOptions
  readonly #around: BackendSurroundings
  readonly #limits: CallLimits
  readonly #now: () => number
  readonly #deadlines: Deadlines
  readonly #maxInFlight: number
  readonly #pool: AskingPool
  readonly #maxAskingCalls: number
  /** Connections made for clients that can be asked, and their keys. */
  readonly #asking = new Map<Link, LinkKey>()
  /** Some connection of each principal, for those who do not say what they can be asked. */
  readonly #anyOf = new Map<string, Link>()
  /** Whether it says in which call it asks; undefined until it has been connected to. */
  #namesCalls: boolean | undefined
  readonly #drain = new AbortController()
  /** The connection of everybody, where the backend keeps no sessions. */
  #channel: Link | undefined
  readonly #links = new Map<LinkKey, Link>()
  /** Undefined until the backend has shown it. */
  #keepsSessions: boolean | undefined
  /** Counts the tries until then, whoever makes them. */
  readonly #firstBackOff: BackOff
  /** The connection that will show it. */
  #deciding: Promise<unknown> | undefined
  #openCalls = 0
  #connections = 0
  #last: Link | undefined
  #sweep: Disposable | undefined
  #isClosed = false

  constructor(options: BackendOptions, around: BackendSurroundings) {
    this.name = options.name
    this.#options = options
    this.#around = around
    this.#limits = { callTimeoutMs: options.callTimeoutMs ?? 120_000, maxCallMs: options.maxCallMs ?? 1_800_000 }
    this.#deadlines = new Deadlines(around.clock, Math.min(this.#limits.callTimeoutMs, this.#limits.maxCallMs))
    this.#maxInFlight = options.maxInFlight ?? 4_096
    this.#now = () => around.clock.now()
    this.#firstBackOff = new BackOff(options.backoff)
    this.#maxAskingCalls = options.maxAskingCalls ?? 4
    this.#pool = new AskingPool({
      size: this.#maxAskingCalls,
      waitMs: options.askingWaitMs ?? 10_000,
      clock: around.clock,
      find: (client, place) => this.#links.get(this.#keyOf(client, place)),
      open: (client, place) => this.#openLink(client, place),
      busy: () => busy(this.name, 'all connections for calls that may ask something are taken'),
    })
    if (options.mode === 'legacy') this.#keepsSessions = true
    if (options.mode === 'modern') this.#keepsSessions = false
  }

  call(call: Call, context: CallContext): Outcome | Promise<Outcome> {
    if (this.#openCalls >= this.#maxInFlight) throw busy(this.name, 'too many calls are open')
    if (isListen(call)) return this.#listen(call, context)
    if (!knownMethods.has(call.method) && !this.#around.passExtensions) {
      throw new RpcError(rpcCode.methodNotFound, `Method not found: ${call.method.slice(0, 80)}`)
    }
    this.#openCalls++
    if (this.#isParked(context)) return this.#resume(call, context)
    const link = this.#linkOf(context)
    const connection = link?.connection
    if (link === undefined || connection === undefined || this.#mayBeAsked(call, context)) {
      return this.#callLater(call, context)
    }
    return this.#relay(call, context, link, connection)
  }

  async notify(notice: Call, context: CallContext): Promise<void> {
    const { session } = context
    if (session === undefined) return
    await this.#links.get(session)?.connection?.notify(notice, context)
  }

  view(principal: Principal, viewer?: Viewer): ServerView | Promise<ServerView> {
    const client = { principal, peer: viewer?.peer, session: viewer?.session }
    const connection = this.#linkOf(client)?.connection
    return connection === undefined ? this.#viewLater(client) : this.#viewOf(connection, principal)
  }

  partitionOf(client: BackendClient): string {
    const link = this.#linkOf(client)
    if (link !== undefined) return link.partition
    return typeof this.#keyOf(client) === 'string' ? `principal ${client.principal.id}` : 'session'
  }

  drain(): Promise<void> {
    this.#drain.abort(listenDrained)
    return Promise.resolve()
  }

  /**
   * Looks again at connections that were lost or out of reach, where the time for that has come: whoever asks how the backend is may be the
   * only one left who would. Makes no connection that nobody had. Never rejects.
   */
  async lookAgain(signal: AbortSignal): Promise<void> {
    await Promise.allSettled(
      this.#allLinks.map(async (link) => {
        const { connection } = link
        if (link.state === 'waiting') await link.get(signal)
        else if (link.state === 'failing' && connection !== undefined) await this.#touch(link, connection, signal)
      }),
    )
  }

  /** A call that changes nothing; whatever is answered shows that the backend is there. */
  async #touch(link: Link, connection: ClientConnection, signal: AbortSignal): Promise<void> {
    try {
      await connection.call({ method: method.listTools, params: {} }, createCallerContext({ signal }))
      link.succeeded()
    } catch (error) {
      if (RpcError.is(error)) link.succeeded()
      else link.failed(error)
    }
  }

  status(): BackendStatus {
    const links = this.#allLinks
    const link = this.#speaking(links)
    const evidence = link?.evidence
    return {
      name: this.name,
      state: this.#isClosed ? 'closed' : (link?.state ?? 'idle'),
      since: link?.since ?? this.#createdAt,
      requested: evidence?.requested,
      observed: evidence?.observed,
      row: evidence?.row,
      info: evidence?.server.info,
      connections: links.filter(({ connection }) => connection !== undefined).length,
      openCalls: this.#openCalls,
      restarts: links.reduce((sum, { restarts }) => sum + restarts, this.#pastRestarts),
      lastError: link?.lastError,
      retryAt: link?.retryAt,
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    await this.drain()
    this.#sweep?.[Symbol.dispose]()
    this.#deadlines.end()
    const links = this.#allLinks
    await Promise.all(links.map((link) => link[Symbol.asyncDispose]()))
  }

  readonly #createdAt: number = Date.now()
  #pastRestarts = 0

  get #allLinks(): readonly Link[] {
    return this.#channel === undefined ? [...this.#links.values()] : [this.#channel, ...this.#links.values()]
  }

  /** The connection whose state is the state of the backend: the worst of those that somebody needs. */
  #speaking(links: readonly Link[]): Link | undefined {
    const worst: readonly BackendState[] = ['waiting', 'failing', 'connecting', 'ready', 'idle']
    for (const state of worst) {
      const link = links.find((candidate) => candidate.state === state)
      if (link !== undefined) return link
    }
    return this.#last
  }

  // which connection

  /** `place`: which of several connections of the same client. */
  #keyOf({ session, peer, principal }: BackendClient, place = 0): LinkKey {
    if (session !== undefined) return session
    if (this.#around.parking === undefined) return principal.id
    const key = `${principal.id} ${canonicalize(asksOf(peer?.capabilities ?? {}))}`
    return place === 0 ? key : `${key} ${place}`
  }

  /** The link of a client, if there is one already. */
  #linkOf(client: BackendClient): Link | undefined {
    if (this.#keepsSessions === false) return this.#channel
    const any =
      client.peer === undefined && client.session === undefined ? this.#anyOf.get(client.principal.id) : undefined
    return any ?? this.#links.get(this.#keyOf(client))
  }

  /** Gives the connection of a client, made when there is none. */
  async #connect(client: BackendClient, signal: AbortSignal): Promise<{ link: Link; connection: ClientConnection }> {
    for (;;) {
      if (this.#isClosed) throw new TransportError('closed', 'The proxy is shutting down')
      if (this.#keepsSessions === undefined) {
        if (this.#deciding !== undefined) {
          await abortable(this.#deciding, signal)
          continue
        }
        const pauseMs = this.#last?.retryInMs ?? 0
        if (pauseMs > 0) throw waiting(this.name, this.#last?.lastError?.message, pauseMs)
      }
      const link = this.#linkOf(client) ?? this.#openLink(client)
      const connecting = link.get(signal)
      if (this.#keepsSessions === undefined) this.#decide(link)
      const connection = await connecting
      // It may have turned out that this is the connection of somebody else.
      if (this.#linkOf(client) === link) return { link, connection }
    }
  }

  #decide(link: Link): void {
    const deciding = link.get(new AbortController().signal).finally(() => {
      if (this.#deciding === deciding) this.#deciding = undefined
    })
    deciding.catch(() => undefined)
    this.#deciding = deciding
  }

  /** Connections for calls that may be asked, and that nobody uses, make room for another. */
  #trimAsking(): void {
    if (this.#namesCalls === true) return
    const surplus = this.#asking.size + 1 - this.#maxAskingCalls
    if (surplus <= 0) return
    const idle = [...this.#asking]
      .filter(([{ connection, openCalls }]) => connection !== undefined && openCalls === 0)
      .sort(([a], [b]) => a.lastUsed - b.lastUsed)
    for (const [link, key] of idle.slice(0, surplus)) void this.#close(key, link)
  }

  #openLink(client: BackendClient, place = 0): Link {
    const key = this.#keyOf(client, place)
    const canBeAsked =
      client.session === undefined && this.#around.parking !== undefined && hasAsks(client.peer?.capabilities ?? {})
    if (canBeAsked) this.#trimAsking()
    if (this.#keepsSessions !== false) this.#makeRoom()
    const { clock, onEvent, policy, info, onDiagnostic, parking } = this.#around
    const { session, principal, peer } = client
    const capabilities = parking === undefined ? {} : asksOf(peer?.capabilities ?? {})
    const link = new Link({
      backend: this.name,
      partition: `connection ${++this.#connections}`,
      connect: (signal) =>
        this.#options.connect({
          mode: this.#options.mode ?? 'auto',
          policy,
          info,
          capabilities,
          relayFor: session,
          principal,
          signal,
          onDiagnostic,
          clock,
        }),
      connectTimeoutMs: this.#options.connectTimeoutMs ?? 60_000,
      backOff: this.#keepsSessions === undefined ? this.#firstBackOff : new BackOff(this.#options.backoff),
      clock,
      onEvent,
      onConnected: (made, connection) => this.#connected(key, made, connection),
    })
    this.#last = link
    if (this.#keepsSessions === false) {
      this.#channel = link
      return link
    }
    this.#links.set(key, link)
    if (canBeAsked) this.#asking.set(link, key)
    if (session === undefined && parking !== undefined) this.#anyOf.set(principal.id, link)
    // The connection goes with the client.
    if (session !== undefined) session.scope.defer(() => this.#close(key, link))
    else this.#sweepLater()
    return link
  }

  /** A backend has shown whether it keeps sessions; it may have been replaced by one of the other kind. */
  #connected(key: LinkKey, link: Link, connection: ClientConnection): void {
    const keeps = keepsSessions(connection.observed)
    this.#namesCalls = connection.namesCalls === true
    this.lastView = this.#viewOf(connection, nobody)
    this.#keepsSessions = keeps
    if (keeps && this.#channel === link) {
      // What was everybody's connection was made for whoever happened to be first.
      this.#channel = undefined
      this.#retire(link)
    } else if (!keeps && this.#channel !== link) {
      if (this.#links.get(key) === link) this.#links.delete(key)
      this.#channel = link
      for (const [other, old] of this.#links) void this.#close(other, old)
    }
  }

  #close(key: LinkKey, link: Link): Promise<void> {
    if (this.#links.get(key) === link) this.#links.delete(key)
    this.#asking.delete(link)
    for (const [id, any] of this.#anyOf) if (any === link) this.#anyOf.delete(id)
    // Everybody's connection does not end with the one who was first.
    if (this.#channel === link) return Promise.resolve()
    this.#retire(link)
    return link[Symbol.asyncDispose]()
  }

  #retire(link: Link): void {
    this.#pastRestarts += link.restarts
    void link[Symbol.asyncDispose]()
  }

  #makeRoom(): void {
    const { maxSessions = 256 } = this.#options
    if (this.#links.size < maxSessions) return
    const idle = [...this.#links]
      .filter(([key, link]) => typeof key === 'string' && link.openCalls === 0)
      .sort(([, a], [, b]) => a.lastUsed - b.lastUsed)[0]
    if (idle === undefined) throw busy(this.name, `it has ${maxSessions} sessions open`)
    void this.#close(...idle)
  }

  #sweepLater(): void {
    const { idleSessionMs = 600_000 } = this.#options
    this.#sweep ??= this.#around.clock.after(Math.max(10, idleSessionMs / 4), () => {
      this.#sweep = undefined
      const oldest = this.#around.clock.now() - idleSessionMs
      for (const [key, link] of this.#links) {
        if (typeof key === 'string' && link.openCalls === 0 && link.lastUsed < oldest) void this.#close(key, link)
      }
      if ([...this.#links.keys()].some((key) => typeof key === 'string')) this.#sweepLater()
    })
  }

  // what is offered

  async #viewLater(client: BackendClient): Promise<ServerView> {
    try {
      const { connection } = await this.#connect(client, new AbortController().signal)
      return this.#viewOf(connection, client.principal)
    } catch (error) {
      throw failureForCaller(error, this.name)
    }
  }

  #viewOf(connection: ClientConnection, principal: Principal): ServerView {
    return connection.view(principal) as ServerView
  }

  // calls

  async #callLater(call: Call, context: CallContext): Promise<Outcome> {
    let made: Made
    try {
      made = await this.#connectFor(call, context, context.signal)
    } catch (error) {
      this.#openCalls--
      throw context.signal.aborted ? error : failureForCaller(error, this.name)
    }
    if (this.#isParked(context)) return await this.#resume(call, context)
    return await this.#relay(call, context, made.link, made.connection, made.lease)
  }

  /** The connection for a call, which it may have to itself. */
  async #connectFor(call: Call, context: CallContext, signal: AbortSignal): Promise<Made> {
    // The first connection shows what the backend is.
    if (this.#namesCalls === undefined) await this.#connect(context, signal)
    if (!this.#mayBeAsked(call, context)) return { ...(await this.#connect(context, signal)), lease: undefined }
    const lease = await this.#pool.acquire(context, signal)
    try {
      return { link: lease.link, connection: await lease.link.get(signal), lease }
    } catch (error) {
      lease.release()
      throw error
    }
  }

  /** Whether the backend may ask the caller: always when they are of the same kind, and otherwise when questions cross. */
  #mayAsk(context: CallContext, connection: ClientConnection): boolean {
    return this.#around.parking !== undefined || (context.session !== undefined) === keepsSessions(connection.observed)
  }

  /** Whether the backend may ask the caller something in this call, and would not say that it is this one which it means (BR-223). */
  #mayBeAsked({ method: name }: Call, context: CallContext): boolean {
    return (
      this.#around.parking !== undefined &&
      this.#keepsSessions === true &&
      context.session === undefined &&
      context.resume === undefined &&
      this.#namesCalls === false &&
      askingMethods.has(name) &&
      hasAsks(context.peer.capabilities)
    )
  }

  #relay(call: Call, context: CallContext, link: Link, connection: ClientConnection, lease?: Lease): Promise<Outcome> {
    const mayAsk = this.#mayAsk(context, connection)
    const relayed = this.#begin(call, context, mayAsk)
    relayed.lease = lease
    link.openCalls++
    try {
      const outcome = connection.call(call, relayed)
      return this.#follow(isOutcome(outcome) ? Promise.resolve(outcome) : outcome, relayed, link, connection, mayAsk)
    } catch (error) {
      return this.#failed(error, relayed, link, connection, mayAsk)
    }
  }

  // By itself, since closures cost every call of the function that holds them.
  #follow(
    outcome: Promise<Outcome>,
    relayed: RelayedCall,
    link: Link,
    connection: ClientConnection,
    mayAsk: boolean,
  ): Promise<Outcome> {
    return outcome.then(
      (value) => this.#answered(value, relayed, link, mayAsk),
      (error: unknown) => this.#failed(error, relayed, link, connection, mayAsk),
    )
  }

  #answered(outcome: Outcome, relayed: RelayedCall, link: Link, mayAsk: boolean): Outcome | Promise<Outcome> {
    link.succeeded()
    if (outcome.kind !== 'ask') {
      this.#end(relayed, link)
      return outcome
    }
    return this.#asked(outcome, relayed, link, mayAsk)
  }

  async #failed(
    error: unknown,
    relayed: RelayedCall,
    link: Link,
    connection: ClientConnection,
    mayAsk: boolean,
  ): Promise<Outcome> {
    try {
      const { call, origin, expiredAfterMs } = relayed
      if (isAborted(origin)) throw error
      if (expiredAfterMs !== undefined) throw this.#overdue(call, expiredAfterMs)
      if (this.#isUnsent(error, connection, link)) {
        relayed.lease?.release()
        return await this.#again(call, origin, error, mayAsk)
      }
      if (TransportError.is(error) && (error.kind === 'unreachable' || error.kind === 'timeout')) link.failed(error)
      else if (RpcError.is(error)) link.succeeded()
      throw failureForCaller(error, this.name)
    } finally {
      this.#end(relayed, link)
    }
  }

  #begin(call: Call, origin: CallContext, mayAsk: boolean): RelayedCall {
    const shownAs = mayAsk ? undefined : withoutAsks
    const relayed = new RelayedCall({ call, origin, shownAs, limits: this.#limits, now: this.#now })
    this.#deadlines.add(relayed)
    return relayed
  }

  #end(relayed: RelayedCall, link: Link): void {
    relayed.end()
    this.#deadlines.remove(relayed)
    this.#openCalls--
    this.#leave(link, relayed.lease)
  }

  /** A call needs its connection no more. */
  #leave(link: Link, lease: Lease | undefined): void {
    link.openCalls--
    link.lastUsed = this.#now()
    lease?.release()
  }

  // questions

  #asked(ask: AskOutcome, relayed: RelayedCall, link: Link, mayAsk: boolean): Outcome | Promise<Outcome> {
    const { call, origin, lease } = relayed
    if (!mayAsk || !isParking(ask)) {
      this.#end(relayed, link)
      if (!mayAsk) throw askNotBridged(ask, call)
      return ask
    }
    relayed.end()
    this.#deadlines.remove(relayed)
    this.#openCalls--
    // The call that waits holds its connection.
    void ask.parked.ended.then(() => this.#leave(link, lease))
    return this.#park(ask, call, origin, 1)
  }

  #park(ask: ParkingAsk, call: Call, context: CallContext, round: number): Promise<Outcome> {
    const { parking } = this.#around
    if (parking === undefined) throw new TypeError('nothing is asked where nothing may be asked')
    return parking.park(ask, this.name, call, context, round)
  }

  /** Whether a caller may come back with answers to a question, for the call that waits for them. */
  #isParked({ session, resume }: CallContext): boolean {
    return (
      resume?.requestState !== undefined &&
      session === undefined &&
      this.#keepsSessions === true &&
      this.#around.parking !== undefined
    )
  }

  /** No new call: the one that waits goes on (BR-205). */
  async #resume(call: Call, context: CallContext): Promise<Outcome> {
    const { parking } = this.#around
    if (parking === undefined) throw new TypeError('nothing is resumed where nothing may be asked')
    try {
      const { round, resume, context: answering } = await parking.take(this.name, call, context)
      const relayed = this.#begin(call, answering, true)
      try {
        const outcome = await resume(call, relayed)
        return isParking(outcome) ? await this.#park(outcome, call, context, round + 1) : outcome
      } catch (error) {
        throw this.#told(error, relayed)
      } finally {
        relayed.end()
        this.#deadlines.remove(relayed)
      }
    } finally {
      this.#openCalls--
    }
  }

  // calls that were not carried out

  /**
   * Whether the call was certainly not carried out, and another connection may help: the connection had ended before, or the backend does not
   * serve the revision any more that it had shown (BR-127). A connection of no use is given up.
   */
  #isUnsent(error: unknown, connection: ClientConnection, link: Link): boolean {
    if (TransportError.is(error)) {
      if (error.kind !== 'closed' || this.#isClosed) return false
    } else if (!RpcError.is(error) || error.code !== rpcCode.unsupportedVersion || this.#keepsSessions !== false) {
      return false
    }
    link.discard(connection, error)
    return true
  }

  async #again(call: Call, context: CallContext, first: unknown, mayAsk: boolean): Promise<Outcome> {
    // What a connection that is gone had asked cannot be answered on another one.
    if (context.resume !== undefined) throw failureForCaller(first, this.name)
    const relayed = this.#begin(call, context, mayAsk)
    let made: Made
    try {
      made = await this.#connectFor(call, context, relayed.signal)
    } catch (error) {
      relayed.end()
      this.#deadlines.remove(relayed)
      throw this.#told(error, relayed)
    }
    const { link, connection } = made
    relayed.lease = made.lease
    this.#openCalls++
    link.openCalls++
    let outcome: Outcome
    try {
      outcome = await connection.call(call, relayed)
    } catch (error) {
      this.#end(relayed, link)
      throw this.#told(error, relayed)
    }
    return await this.#answered(outcome, relayed, link, mayAsk)
  }

  /** What the caller hears of a call that failed. */
  #told(error: unknown, { origin, call, expiredAfterMs }: RelayedCall): unknown {
    if (isAborted(origin)) return error
    return expiredAfterMs === undefined ? failureForCaller(error, this.name) : this.#overdue(call, expiredAfterMs)
  }

  #overdue(call: Call, afterMs: number): RpcError {
    this.#around.onEvent?.({ kind: 'timeout', backend: this.name, method: call.method, afterMs })
    return overdue(this.name, afterMs)
  }

  async #listen(call: Call, context: CallContext): Promise<Outcome> {
    if (this.#drain.signal.aborted) throw new RpcError(rpcCode.internalError, 'No new subscriptions are taken')
    const { clock } = this.#around
    let link: Link | undefined
    const leave = (): void => {
      if (link === undefined) return
      link.openCalls--
      link.lastUsed = clock.now()
      link = undefined
    }
    this.#openCalls++
    try {
      return await keepListen({
        call,
        context,
        peer: context.peer,
        connect: async (signal) => {
          leave()
          const made = await this.#connect(context, signal)
          link = made.link
          link.openCalls++
          return made.connection
        },
        retryInMs: () => this.#linkOf(context)?.retryInMs ?? 0,
        drained: this.#drain.signal,
        clock,
      })
    } catch (error) {
      throw context.signal.aborted ? error : failureForCaller(error, this.name)
    } finally {
      leave()
      this.#openCalls--
    }
  }
}

type AskOutcome = Outcome & { readonly kind: 'ask' }

/** Whether a call waits behind an ask. */
function isParking(outcome: Outcome): outcome is ParkingAsk {
  return outcome.kind === 'ask' && outcome.parked !== undefined
}

const nobody: Principal = { id: 'proxy', authenticated: false }

const knownMethods: ReadonlySet<string> = new Set(Object.values(method))

/** What a client can be asked for. */
function asksOf({ elicitation, sampling, roots }: JsonObject): JsonObject {
  return {
    ...(elicitation !== undefined && { elicitation }),
    ...(sampling !== undefined && { sampling }),
    ...(roots !== undefined && { roots }),
  }
}

/** Whether a client can be asked anything; looked at for every call, so nothing is made for it. */
function hasAsks({ elicitation, sampling, roots }: JsonObject): boolean {
  return elicitation !== undefined || sampling !== undefined || roots !== undefined
}

const deaf = new WeakMap<Peer, Peer>()

/** The same client as one that cannot be asked anything. */
function withoutAsks(peer: Peer): Peer {
  let other = deaf.get(peer)
  if (other === undefined) {
    const { elicitation: _e, sampling: _s, roots: _r, ...capabilities } = peer.capabilities
    other = { ...peer, capabilities }
    deaf.set(peer, other)
  }
  return other
}
