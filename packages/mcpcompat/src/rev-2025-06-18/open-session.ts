import type { Call } from '../contract/call.ts'
import { ChangeFeed } from '../contract/change-feed.ts'
import type { Clock } from '../contract/clock.ts'
import type { CallContext, LogLevel, Peer, Principal } from '../contract/context.ts'
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

export interface OpenSessionOptions {
  readonly handshake: Handshake
  readonly principal: Principal
  readonly dispatcher: Dispatcher
  readonly clock: Clock
  readonly logLevel: LogLevel | undefined
  readonly maxSubscriptions: number
  /** Takes what changed, for the client. */
  readonly forward: (notice: Call) => void
  /** Puts somebody else's question to the client. */
  readonly ask: (request: Call, options: PeerAskOptions) => Promise<JsonRecord>
  /** Tells the client something of somebody else. */
  readonly tell: (notice: Call, related: CallContext | undefined) => void
  readonly isReachable: () => boolean
  readonly onDiagnostic: OnDiagnostic | undefined
}

/** What one handshake opened: everything that a legacy server remembers about its client. */
export class OpenSession implements SessionFacts, PeerSession {
  readonly handshake: Handshake
  readonly codec: WireCodec
  /** Shared by all calls of the session. */
  readonly scope: OwnedScope = createScope()
  logLevel: LogLevel | undefined
  wantedLevel: LogLevel | undefined
  readonly #options: OpenSessionOptions
  // made when they are needed: most sessions have none of them
  #followers: Set<PeerSessionListener> | undefined
  readonly #feed: ChangeFeed
  readonly #onDiagnostic: OnDiagnostic | undefined
  #view: ServerView | undefined
  #initialized = false
  #following: Promise<void> | undefined
  #onInitialized: (() => void)[] | undefined

  constructor(options: OpenSessionOptions) {
    this.#options = options
    this.handshake = options.handshake
    this.codec = createLegacyCodec({ revision: options.handshake.revision, session: this })
    this.logLevel = options.logLevel
    this.#onDiagnostic = options.onDiagnostic
    this.#feed = new ChangeFeed({ ...options, peer: options.handshake.peer, session: this })
  }

  get peer(): Peer {
    return this.handshake.peer
  }

  get declared(): JsonObject {
    return this.handshake.declared
  }

  get isReachable(): boolean {
    return this.#options.isReachable()
  }

  ask(request: Call, options: PeerAskOptions = {}): Promise<JsonRecord> {
    return this.#options.ask(request, options)
  }

  tell(notice: Call, related?: CallContext): void {
    this.#options.tell(notice, related)
  }

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

  /** Ends what the session opened. The scope is closed by the caller, who waits for it. */
  end(reason: unknown): void {
    this.#followers?.clear()
    this.#feed.close(reason)
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
      this.#onDiagnostic?.({
        level: 'warning',
        code: 'listen-failed',
        message: 'The client will not hear of changed lists, since the server refused the subscription.',
        cause,
      })
    })
    if (this.#feed.isOpen) return
    this.#following = within(followed, followMs, this.#options.clock).then(() => {
      this.#following = undefined
    })
  }
}

/** How long the first calls of a session wait until changes of lists are followed, in milliseconds. */
const followMs = 500

function notOffered(capability: string): RpcError {
  return new RpcError(rpcCode.methodNotFound, `Method not found: this server does not offer ${capability}`)
}
