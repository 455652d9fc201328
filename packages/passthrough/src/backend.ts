import {
  type Call,
  type CallContext,
  type Implementation,
  method,
  type OnDiagnostic,
  type Outcome,
  type Principal,
  RpcError,
  rpcCode,
  type RevisionPolicy,
  type Root,
  rootsResult,
  type ServerView,
  type Viewer,
} from '@atenea/mcpcompat'
import type { Clock } from '@atenea/mcpcompat/transport'
import type { BackendOptions } from './backend-options.ts'
import type { BackendClient, BackendPort } from './backend-port.ts'
import type { OnPassthroughEvent } from './events.ts'
import { busy, failureForCaller } from './failures.ts'
import { isListen, keepListen, listenDrained } from './kept-listen.ts'
import type { Link } from './link.ts'
import { Links, viewOf } from './links.ts'
import type { Parking } from './parking/parking.ts'
import { Relays } from './relays.ts'
import type { BackendStatus } from './status.ts'

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

/** One backend: always there, connected when needed, of no era. */
export class Backend implements BackendPort, AsyncDisposable {
  readonly name: string
  readonly #createdAt: number = Date.now()
  readonly #links: Links
  readonly #relays: Relays
  readonly #maxInFlight: number
  readonly #roots: readonly Root[]
  readonly #passExtensions: boolean
  readonly #clock: Clock
  readonly #drain = new AbortController()

  constructor(options: BackendOptions, around: BackendSurroundings) {
    const { parking, onEvent, clock } = around
    const { name, roots = [], callTimeoutMs = 120_000, maxCallMs = 1_800_000 } = options
    this.name = name
    this.#roots = roots
    // What is wrong with them is told to whoever configures them, not to the first call.
    rootsResult(roots)
    this.#links = new Links({ ...around, backend: options, bridgesInput: parking !== undefined })
    const limits = { callTimeoutMs, maxCallMs }
    this.#relays = new Relays({ backend: name, links: this.#links, limits, parking, onEvent, clock })
    this.#maxInFlight = options.maxInFlight ?? 4_096
    this.#passExtensions = around.passExtensions
    this.#clock = clock
  }

  get lastView(): ServerView | undefined {
    return this.#links.lastView
  }

  call(call: Call, context: CallContext): Outcome | Promise<Outcome> {
    if (this.#relays.open >= this.#maxInFlight) throw busy(this.name, 'too many calls are open')
    if (isListen(call)) return this.#listen(call, context)
    if (!knownMethods.has(call.method) && !this.#passExtensions) {
      throw new RpcError(rpcCode.methodNotFound, `Method not found: ${call.method.slice(0, 80)}`)
    }
    return this.#relays.call(call, context)
  }

  async notify(notice: Call, context: CallContext): Promise<void> {
    const { session } = context
    if (session === undefined) return
    await this.#links.ofSession(session)?.connection?.notify(notice, context)
  }

  view(principal: Principal, viewer?: Viewer): ServerView | Promise<ServerView> {
    const client = { principal, peer: viewer?.peer, session: viewer?.session }
    const connection = this.#links.of(client)?.connection
    return connection === undefined ? this.#viewLater(client) : viewOf(connection, principal)
  }

  partitionOf(client: BackendClient): string {
    return this.#links.partitionOf(client)
  }

  drain(): Promise<void> {
    this.#drain.abort(listenDrained)
    return Promise.resolve()
  }

  /** See `Links.lookAgain`. */
  async lookAgain(signal: AbortSignal): Promise<void> {
    await this.#links.lookAgain(signal)
  }

  status(): BackendStatus {
    const { all, speaking: link, isClosed, restarts } = this.#links
    const evidence = link?.evidence
    return {
      name: this.name,
      state: isClosed ? 'closed' : link === undefined || link.isClosed ? 'idle' : link.state,
      since: link?.since ?? this.#createdAt,
      requested: evidence?.requested,
      observed: evidence?.observed,
      row: evidence?.row,
      info: evidence?.server.info,
      connections: all.filter(({ connection }) => connection !== undefined).length,
      openCalls: this.#relays.open,
      restarts,
      lastError: link?.lastError,
      retryAt: link?.retryAt,
      roots: this.#links.keepsSessions === false ? [] : this.#roots.map(({ uri }) => uri),
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.drain()
    this.#relays[Symbol.dispose]()
    await this.#links[Symbol.asyncDispose]()
  }

  async #viewLater(client: BackendClient): Promise<ServerView> {
    try {
      const { connection } = await this.#links.connect(client, new AbortController().signal)
      return viewOf(connection, client.principal)
    } catch (error) {
      throw failureForCaller(error, this.name)
    }
  }

  async #listen(call: Call, context: CallContext): Promise<Outcome> {
    if (this.#drain.signal.aborted) throw new RpcError(rpcCode.internalError, 'No new subscriptions are taken')
    let link: Link | undefined
    let isBegun = false
    const leave = (): void => {
      if (link === undefined) return
      link.openCalls--
      link.openListens--
      link.lastUsed = this.#clock.now()
      link = undefined
    }
    this.#relays.open++
    try {
      return await keepListen({
        call,
        context,
        connect: async (signal) => {
          leave()
          // A subscription by itself is no reason to connect for a client that seems to have gone.
          if (isBegun) await this.#links.awake(context, signal)
          isBegun = true
          const made = await this.#links.connect(context, signal)
          link = made.link
          link.openCalls++
          link.openListens++
          return made.connection
        },
        retryInMs: () => this.#links.of(context)?.retryInMs ?? 0,
        drained: this.#drain.signal,
        clock: this.#clock,
      })
    } catch (error) {
      throw context.signal.aborted ? error : failureForCaller(error, this.name)
    } finally {
      leave()
      this.#relays.open--
    }
  }
}

const knownMethods: ReadonlySet<string> = new Set(Object.values(method))
