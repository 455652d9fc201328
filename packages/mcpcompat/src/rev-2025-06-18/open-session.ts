import type { Call } from '../contract/call.ts'
import { ChangeFeed, type ChangeFeedOptions } from '../contract/change-feed.ts'
import type { Clock } from '../contract/clock.ts'
import type { CallContext, LogLevel, Peer, Principal, Scope } from '../contract/context.ts'
import type { OnDiagnostic } from '../contract/diagnostics.ts'
import type { Dispatcher, ServerView } from '../contract/dispatcher.ts'
import type { PeerAskOptions, PeerSession, PeerSessionListener } from '../contract/peer-session.ts'
import { createScope, type OwnedScope } from '../contract/scope.ts'
import type { WireCodec } from '../contract/wire.ts'
import { within } from '../contract/within.ts'
import { RpcError, rpcCode } from '../jsonrpc/errors.ts'
import { type JsonRecord, isJsonObject, type JsonObject } from '../jsonrpc/json.ts'
import { isLogLevel } from '../log-levels.ts'
import { memberOf } from '../member.ts'
import { advertisedListChanges } from '../subscriptions.ts'
import { createLegacyCodec } from './codec.ts'
import type { SessionFacts } from './envelope.ts'
import type { Handshake } from './handshake.ts'

/** Who opened a session, and carries what it says. One object for all that a client opens one after the other. */
export interface SessionOwner {
  /** What the session hears of. */
  readonly inner: Dispatcher
  readonly clock: Clock
  readonly onDiagnostic: OnDiagnostic | undefined
  readonly defaultLogLevel: LogLevel
  readonly maxSubscriptions: number
  readonly isReachable: boolean
  /** Takes a change that the client is told of, without the subscription that it does not know (BR-130). */
  forward(notice: Call): void
  /** Puts somebody else's question to the client. */
  relay(session: OpenSession, request: Call, options: PeerAskOptions): Promise<JsonRecord>
  /** Tells the client something of somebody else. */
  tell(session: OpenSession, notice: Call, related: CallContext | undefined): void
}

/**
 * What one handshake opened: everything that a legacy server remembers about its client. Servers keep thousands of these, most of which
 * say nothing, so whatever only some of them need is made when it is needed.
 */
export class OpenSession implements SessionFacts, PeerSession, ChangeFeedOptions {
  readonly handshake: Handshake
  readonly principal: Principal
  readonly codec: WireCodec
  logLevel: LogLevel | undefined
  wantedLevel: LogLevel | undefined
  readonly #owner: SessionOwner
  readonly #feed: ChangeFeed
  #scope: OwnedScope | undefined
  #followers: Set<PeerSessionListener> | undefined
  #view: ServerView | undefined
  #initialized = false
  #ended = false
  #following: Promise<void> | undefined
  #onInitialized: (() => void)[] | undefined

  constructor(handshake: Handshake, principal: Principal, owner: SessionOwner) {
    this.handshake = handshake
    this.principal = principal
    this.#owner = owner
    this.codec = createLegacyCodec({ revision: handshake.revision, session: this })
    this.logLevel = owner.defaultLogLevel
    this.#feed = new ChangeFeed(this)
  }

  get peer(): Peer {
    return this.handshake.peer
  }

  get declared(): JsonObject {
    return this.handshake.declared
  }

  /** Shared by all calls of the session. */
  get scope(): Scope {
    if (this.#scope === undefined) {
      this.#scope = createScope()
      if (this.#ended) void this.#scope.close()
    }
    return this.#scope
  }

  get isReachable(): boolean {
    return this.#owner.isReachable
  }

  ask(request: Call, options: PeerAskOptions = {}): Promise<JsonRecord> {
    return this.#owner.relay(this, request, options)
  }

  tell(notice: Call, related?: CallContext): void {
    this.#owner.tell(this, notice, related)
  }

  // the host of its feed

  get dispatcher(): Dispatcher {
    return this.#owner.inner
  }

  get clock(): Clock {
    return this.#owner.clock
  }

  get session(): PeerSession {
    return this
  }

  get maxSubscriptions(): number {
    return this.#owner.maxSubscriptions
  }

  get onDiagnostic(): OnDiagnostic | undefined {
    return this.#owner.onDiagnostic
  }

  forward(notice: Call): void {
    this.#owner.forward(notice)
  }

  // what the client says

  follow(listener: PeerSessionListener): Disposable {
    const followers = (this.#followers ??= new Set())
    followers.add(listener)
    return { [Symbol.dispose]: () => void followers.delete(listener) }
  }

  /** The client's roots have changed (BR-114: the modern model does not know of that, those who follow the session may). */
  rootsChanged(): void {
    for (const follower of this.#followers ?? []) follower.rootsChanged()
  }

  /** What was offered in the answer to the handshake, and thereby agreed on (LG-LIFE-09). */
  offer(view: ServerView): void {
    this.#view = view
    if (this.#initialized) this.#followLists(view)
  }

  /** The client has said that it is ready: it may be asked (LG-LIFE-05), and hears of changed lists (BR-102). */
  initialized(): void {
    if (this.#initialized) return
    this.#initialized = true
    for (const resolve of this.#onInitialized?.splice(0) ?? []) resolve()
    if (this.#view !== undefined) this.#followLists(this.#view)
  }

  /**
   * Resolves when changes of lists are followed, or when that takes too long; `undefined` when there is nothing to wait for. What the client
   * is told or causes before that could change without its hearing of it (BR-102).
   */
  get following(): Promise<void> | undefined {
    return this.#following
  }

  /** Resolves when the client may be asked. */
  ready(): Promise<void> {
    return this.#initialized ? Promise.resolve() : new Promise((resolve) => (this.#onInitialized ??= []).push(resolve))
  }

  /** `logging/setLevel` (LG-LOG-01, BR-109). */
  setLevel(params: JsonRecord): void {
    if (!isJsonObject(this.#offered['logging'])) throw notOffered('logging')
    const level = memberOf(params, 'level')
    if (!isLogLevel(level))
      throw new RpcError(rpcCode.invalidParams, 'Invalid params: level must be one of the eight log levels')
    this.logLevel = level
    this.wantedLevel = level
    for (const follower of this.#followers ?? []) follower.level(level)
  }

  /** `resources/subscribe` (LG-RES-02, BR-107). */
  subscribe(params: JsonRecord): Promise<void> {
    return this.#feed.subscribe(this.#subscribable(params))
  }

  /** `resources/unsubscribe` (BR-108). */
  unsubscribe(params: JsonRecord): void {
    this.#feed.unsubscribe(this.#subscribable(params))
  }

  /** Ends what the session opened, but for its scope. */
  end(reason: unknown): void {
    this.#followers?.clear()
    this.#feed.close(reason)
  }

  /** Closes the scope, which comes last and may take its time. */
  closeScope(): void | Promise<void> {
    this.#ended = true
    return this.#scope?.close()
  }

  get #offered(): JsonObject {
    return this.#view?.capabilities ?? {}
  }

  #subscribable(params: JsonRecord): string {
    const resources = this.#offered['resources']
    if (!isJsonObject(resources) || resources['subscribe'] !== true) throw notOffered('resources.subscribe')
    const uri = memberOf(params, 'uri')
    if (typeof uri !== 'string') throw new RpcError(rpcCode.invalidParams, 'Invalid params: uri must be a string')
    return uri
  }

  #followLists(view: ServerView): void {
    const types = advertisedListChanges(view.capabilities)
    if (Object.keys(types).length === 0) return
    const followed = this.#feed.follow(types).catch((cause: unknown) => {
      this.onDiagnostic?.({
        level: 'warning',
        code: 'listen-failed',
        message: 'The client will not hear of changed lists, since the server refused the subscription.',
        cause,
      })
    })
    if (this.#feed.isOpen) return
    this.#following = within(followed, followMs, this.clock).then(() => {
      this.#following = undefined
    })
  }
}

/** How long the first calls of a session wait until changes of lists are followed, in milliseconds. */
const followMs = 500

function notOffered(capability: string): RpcError {
  return new RpcError(rpcCode.methodNotFound, `Method not found: this server does not offer ${capability}`)
}
