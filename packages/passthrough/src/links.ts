import {
  type Call,
  type CallContext,
  type Implementation,
  type OnDiagnostic,
  type Principal,
  type RevisionPolicy,
  type ServerView,
  TransportError,
} from '@atenea/mcpcompat'
import {
  abortable,
  askingMethods,
  type ClientConnection,
  type Clock,
  keepsSessions,
  type PeerSession,
} from '@atenea/mcpcompat/transport'
import { AskingPool, type Lease } from './asking-pool.ts'
import { asksOf, hasAsks } from './asks-of.ts'
import { BackOff } from './back-off.ts'
import type { BackendOptions } from './backend-options.ts'
import type { BackendClient } from './backend-port.ts'
import type { OnPassthroughEvent } from './events.ts'
import { busy, waiting } from './failures.ts'
import { idleLinks } from './idle-links.ts'
import { Link } from './link.ts'
import { type LinkKey, linkKey } from './link-key.ts'
import { RestingClients } from './resting-clients.ts'
import type { BackendState } from './status.ts'

export interface LinksOptions {
  readonly backend: BackendOptions
  readonly policy: RevisionPolicy
  /** Who we are, towards backends that keep a session for several clients. */
  readonly info: Implementation
  /** Whether questions cross between the kinds of peers. */
  readonly bridgesInput: boolean
  readonly onEvent: OnPassthroughEvent | undefined
  readonly onDiagnostic: OnDiagnostic | undefined
  readonly clock: Clock
}

/** The connection for one call. */
export interface Made {
  readonly link: Link
  readonly connection: ClientConnection
  /** Set when the call has it to itself. */
  readonly lease: Lease | undefined
}

/**
 * The connections to one backend. One that keeps sessions gets a connection for each client that keeps one with us (BR-307), and one for each
 * principal for all others (decisions 5); any other backend gets one connection for everybody. Which of both it is shows with the first
 * connection.
 */
export class Links implements AsyncDisposable {
  /** What was offered last to anybody. */
  lastView: ServerView | undefined
  /** Undefined until the backend has shown it. */
  keepsSessions: boolean | undefined
  isClosed = false
  readonly #name: string
  readonly #options: BackendOptions
  readonly #around: LinksOptions
  readonly #pool: AskingPool
  readonly #maxAskingCalls: number
  /** Connections made for clients that can be asked, and their keys. */
  readonly #asking = new Map<Link, LinkKey>()
  /** Connections that take no new calls and end with those that they have. */
  readonly #fading = new Set<Link>()
  /** Some connection of each principal, for those who do not say what they can be asked. */
  readonly #anyOf = new Map<string, Link>()
  /** Whether it says in which call it asks; undefined until it has been connected to. */
  #namesCalls: boolean | undefined
  /** The connection of everybody, where the backend keeps no sessions. */
  #channel: Link | undefined
  readonly #links = new Map<LinkKey, Link>()
  readonly #resting = new RestingClients()
  /** Counts the tries until the backend has shown what it is, whoever makes them. */
  readonly #firstBackOff: BackOff
  /** The connection that will show it. */
  #deciding: Promise<unknown> | undefined
  #connections = 0
  #pastRestarts = 0
  #last: Link | undefined
  #sweep: Disposable | undefined

  constructor(around: LinksOptions) {
    const { backend, clock } = around
    this.#name = backend.name
    this.#options = backend
    this.#around = around
    this.#firstBackOff = new BackOff(backend.backoff)
    this.#maxAskingCalls = backend.maxAskingCalls ?? 4
    this.#pool = new AskingPool({
      size: this.#maxAskingCalls,
      waitMs: backend.askingWaitMs ?? 10_000,
      clock,
      find: (client, place) => this.#links.get(this.#keyOf(client, place)),
      open: (client, place) => this.#open(client, place),
      retire: (link) => this.#fade(link),
      busy: () => busy(this.#name, 'all connections for calls that may ask something are taken'),
    })
    if (backend.mode === 'legacy') this.keepsSessions = true
    if (backend.mode === 'modern') this.keepsSessions = false
  }

  get all(): readonly Link[] {
    return this.#channel === undefined ? [...this.#links.values()] : [this.#channel, ...this.#links.values()]
  }

  /** Connections that were made after an earlier one was lost. */
  get restarts(): number {
    return this.all.reduce((sum, { restarts }) => sum + restarts, this.#pastRestarts)
  }

  /** The connection whose state is the state of the backend: the worst of those that somebody needs. */
  get speaking(): Link | undefined {
    const links = this.all
    const worst: readonly BackendState[] = ['waiting', 'failing', 'connecting', 'ready', 'idle']
    for (const state of worst) {
      const link = links.find((candidate) => candidate.state === state)
      if (link !== undefined) return link
    }
    return this.#last
  }

  /** The link of a client, if there is one already. */
  of(client: BackendClient): Link | undefined {
    if (this.keepsSessions === false) return this.#channel
    const any =
      client.peer === undefined && client.session === undefined ? this.#anyOf.get(client.principal.id) : undefined
    return any ?? this.#links.get(this.#keyOf(client))
  }

  /** The link of a client that keeps a session with us. */
  ofSession(session: PeerSession): Link | undefined {
    return this.#links.get(session)
  }

  /** Names the connection of a client, which may be another one once the backend has shown what it is. */
  partitionOf(client: BackendClient): string {
    const link = this.of(client)
    if (link !== undefined) return link.partition
    return typeof this.#keyOf(client) === 'string' ? `principal ${client.principal.id}` : 'session'
  }

  /** Gives the connection of a client, made when there is none. */
  async connect(client: BackendClient, signal: AbortSignal): Promise<{ link: Link; connection: ClientConnection }> {
    if (client.session !== undefined) this.#resting.wake(client.session)
    for (;;) {
      if (this.isClosed) throw new TransportError('closed', 'The proxy is shutting down')
      if (this.keepsSessions === undefined) {
        if (this.#deciding !== undefined) {
          await abortable(this.#deciding, signal)
          continue
        }
        const pauseMs = this.#last?.retryInMs ?? 0
        if (pauseMs > 0) throw waiting(this.#name, this.#last?.lastError?.message, pauseMs)
      }
      const link = this.of(client) ?? this.#open(client)
      const connecting = link.get(signal)
      if (this.keepsSessions === undefined) this.#decide(link)
      const connection = await connecting
      // It may have turned out that this is the connection of somebody else.
      if (this.of(client) === link) return { link, connection }
    }
  }

  /** Resolves when a client is there again whose connection was closed since it seemed to have gone. Rejects with the signal's reason. */
  async awake({ session }: BackendClient, signal: AbortSignal): Promise<void> {
    if (session !== undefined) await this.#resting.awake(session, signal)
  }

  /** The connection for a call, which it may have to itself. */
  async connectFor(call: Call, context: CallContext, signal: AbortSignal): Promise<Made> {
    // The first connection shows what the backend is.
    if (this.#namesCalls === undefined) await this.connect(context, signal)
    if (!this.mayBeAsked(call, context)) return { ...(await this.connect(context, signal)), lease: undefined }
    const lease = await this.#pool.acquire(context, signal)
    try {
      return { link: lease.link, connection: await lease.link.get(signal), lease }
    } catch (error) {
      lease.release()
      throw error
    }
  }

  /** Whether the backend may ask the caller something in this call, and would not say that it is this one which it means (BR-223). */
  mayBeAsked({ method: name }: Call, context: CallContext): boolean {
    return (
      this.#around.bridgesInput &&
      this.keepsSessions === true &&
      context.session === undefined &&
      context.resume?.requestState === undefined &&
      askingMethods.has(name) &&
      hasAsks(context.peer.capabilities) &&
      this.#asksAtLarge(context)
    )
  }

  /** Over HTTP servers say in which call they ask, unless one has shown that it does not. */
  #asksAtLarge(client: BackendClient): boolean {
    if (this.#namesCalls === true && this.of(client)?.connection?.namesCalls === false) this.#namesCalls = false
    return this.#namesCalls === false
  }

  /**
   * Looks again at connections that were lost or out of reach, where the time for that has come: whoever asks how the backend is may be the
   * only one left who would. Makes no connection that nobody had. Never rejects.
   */
  async lookAgain(signal: AbortSignal): Promise<void> {
    await Promise.allSettled(this.all.map((link) => link.lookAgain(signal)))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.isClosed = true
    this.#sweep?.[Symbol.dispose]()
    await Promise.all([...this.all, ...this.#fading].map((link) => link[Symbol.asyncDispose]()))
  }

  /** A call has left its connection. */
  left(link: Link): void {
    // Subscriptions stay open over lost connections.
    if (this.#fading.size === 0 || !this.#fading.has(link) || link.openCalls > link.openListens) return
    this.#fading.delete(link)
    this.#retire(link)
  }

  /** Gives a connection up that was for calls which may ask; what else is open on it goes on. */
  #fade(link: Link): void {
    const key = this.#asking.get(link)
    if (key === undefined) return
    this.#forget(key, link)
    this.#fading.add(link)
    this.left(link)
  }

  #keyOf(client: BackendClient, place?: number): LinkKey {
    return linkKey(client, this.#around.bridgesInput, place)
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
    const made = [...this.#asking].filter(([{ connection }]) => connection !== undefined)
    const idle = idleLinks(made.map(([link, key]) => [key, link]))
    for (const [key, link] of idle.slice(0, surplus)) void this.#close(key, link)
  }

  #open(client: BackendClient, place = 0): Link {
    const key = this.#keyOf(client, place)
    const canBeAsked =
      client.session === undefined && this.#around.bridgesInput && hasAsks(client.peer?.capabilities ?? {})
    if (canBeAsked) this.#trimAsking()
    if (this.keepsSessions !== false) this.#makeRoom(client)
    const { clock, onEvent, policy, info, onDiagnostic, bridgesInput } = this.#around
    const { session, principal, peer } = client
    const capabilities = bridgesInput ? asksOf(peer?.capabilities ?? {}) : {}
    const link = new Link({
      backend: this.#name,
      partition: `connection ${++this.#connections}`,
      connect: (signal) =>
        this.#options.connect({
          mode: this.#options.mode ?? 'auto',
          policy,
          info,
          capabilities,
          relayFor: session,
          roots: this.#options.roots,
          principal,
          signal,
          onDiagnostic,
          clock,
        }),
      connectTimeoutMs: this.#options.connectTimeoutMs ?? 60_000,
      backOff: this.keepsSessions === undefined ? this.#firstBackOff : new BackOff(this.#options.backoff),
      clock,
      onEvent,
      onConnected: (made, connection) => this.#connected(key, made, connection),
    })
    this.#last = link
    if (this.keepsSessions === false) {
      this.#channel = link
      return link
    }
    this.#links.set(key, link)
    if (canBeAsked) this.#asking.set(link, key)
    if (session === undefined && bridgesInput) this.#anyOf.set(principal.id, link)
    // The connection goes with the client.
    if (session !== undefined) session.scope.defer(() => this.#left(session, link))
    this.#sweepLater()
    return link
  }

  /** A backend has shown whether it keeps sessions; it may have been replaced by one of the other kind. */
  #connected(key: LinkKey, link: Link, connection: ClientConnection): void {
    const keeps = keepsSessions(connection.observed)
    // Once it has asked otherwise it may do so again, on every connection.
    if (this.#namesCalls !== false) this.#namesCalls = connection.namesCalls === true
    this.lastView = viewOf(connection, nobody)
    this.keepsSessions = keeps
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

  #left(session: PeerSession, link: Link): Promise<void> {
    this.#resting.forget(session)
    return this.#close(session, link)
  }

  /** Closes the connection of a client that seems to have gone, and of nobody else. */
  #rest(session: PeerSession, link: Link): void {
    this.#resting.add(session)
    void this.#close(session, link)
    this.#around.onDiagnostic?.({
      level: 'info',
      code: 'client-away',
      message: `A client of ${this.#name} was silent for long and holds no stream; its connection was closed until it calls again.`,
    })
  }

  #close(key: LinkKey, link: Link): Promise<void> {
    if (link.isClosed) return link[Symbol.asyncDispose]()
    this.#forget(key, link)
    // Everybody's connection does not end with the one who was first.
    if (this.#channel === link) return Promise.resolve()
    this.#retire(link)
    return link[Symbol.asyncDispose]()
  }

  #forget(key: LinkKey, link: Link): void {
    if (this.#links.get(key) === link) this.#links.delete(key)
    this.#asking.delete(link)
    for (const [id, any] of this.#anyOf) if (any === link) this.#anyOf.delete(id)
  }

  #retire(link: Link): void {
    this.#pastRestarts += link.restarts
    void link[Symbol.asyncDispose]()
  }

  /** Those who keep sessions with us take their places for as long as they like, so they do not count for the others, who share theirs. */
  #makeRoom({ session }: BackendClient): void {
    const { maxSessions = 256 } = this.#options
    if (this.#links.size < maxSessions) return
    const shared = [...this.#links].filter(([key]) => typeof key === 'string')
    if (session === undefined && shared.length < maxSessions) return
    const [idle] = idleLinks(shared)
    if (idle === undefined) throw busy(this.#name, `it has ${maxSessions} sessions open`)
    void this.#close(...idle)
  }

  #sweepLater(): void {
    const { idleSessionMs = 600_000, unheardSessionMs = 1_800_000 } = this.#options
    const { clock } = this.#around
    this.#sweep ??= clock.after(Math.max(10, Math.min(idleSessionMs, unheardSessionMs) / 4), () => {
      this.#sweep = undefined
      const now = clock.now()
      for (const [key, link] of this.#links) {
        if (typeof key === 'string') {
          if (link.openCalls === 0 && link.lastUsed < now - idleSessionMs) void this.#close(key, link)
        } else if (!key.isReachable && link.openCalls === link.openListens && link.lastUsed < now - unheardSessionMs) {
          this.#rest(key, link)
        }
      }
      if (this.#links.size > 0) this.#sweepLater()
    })
  }
}

const nobody: Principal = { id: 'proxy', authenticated: false }

/** What a connection offers; clients of servers know that at once. */
export function viewOf(connection: ClientConnection, principal: Principal): ServerView {
  return connection.view(principal) as ServerView
}
