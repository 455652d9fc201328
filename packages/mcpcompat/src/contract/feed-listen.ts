import type { Call } from './call.ts'
import type { AbortWatcher, CallContext, Peer, Principal, Scope, WireHints } from './context.ts'
import type { PeerSession } from './peer-session.ts'
import { createScope, type OwnedScope } from './scope.ts'
import type { JsonObject } from '../jsonrpc/json.ts'
import type { SubscriptionFilter } from '../subscriptions.ts'

/** For whom a session listens, and who takes what comes. */
export interface FeedListener {
  readonly peer: Peer
  readonly principal: Principal
  readonly session?: PeerSession | undefined
  arrived(listen: FeedListen, notice: Call): void
}

const nothing: JsonObject = Object.freeze({})

/**
 * One `subscriptions/listen` of a session, and the context of that call: a server keeps one for each of its sessions, so nothing is made
 * for it that nobody asks for.
 */
export class FeedListen implements CallContext {
  readonly filter: SubscriptionFilter
  granted: SubscriptionFilter = nothing
  /** It speaks for the session. Between its acknowledgement and its successor's there is always exactly one. */
  current = false
  readonly #listener: FeedListener
  #watcher: AbortWatcher | undefined
  #stopped: { readonly reason: unknown } | undefined
  #abort: AbortController | undefined
  #scope: OwnedScope | undefined

  constructor(filter: SubscriptionFilter, listener: FeedListener) {
    this.filter = filter
    this.#listener = listener
  }

  get peer(): Peer {
    return this.#listener.peer
  }

  get principal(): Principal {
    return this.#listener.principal
  }

  get session(): PeerSession | undefined {
    return this.#listener.session
  }

  get meta(): JsonObject {
    return nothing
  }

  get hints(): WireHints {
    return nothing as WireHints
  }

  get progressToken(): undefined {
    return undefined
  }

  get logLevel(): undefined {
    return undefined
  }

  get resume(): undefined {
    return undefined
  }

  get scope(): Scope {
    if (this.session !== undefined) return this.session.scope
    this.#scope ??= createScope()
    return this.#scope
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController()
      if (this.#stopped !== undefined) this.#abort.abort(this.#stopped.reason)
    }
    return this.#abort.signal
  }

  get isAborted(): boolean {
    return this.#stopped !== undefined
  }

  watch(watcher: AbortWatcher): void {
    this.#watcher = watcher
  }

  unwatch(watcher: AbortWatcher): void {
    if (this.#watcher === watcher) this.#watcher = undefined
  }

  emit(notice: Call): void {
    this.#listener.arrived(this, notice)
  }

  /** Ends it: it speaks for nobody any more, and the dispatcher is told. */
  stop(reason: unknown): void {
    this.current = false
    if (this.#stopped !== undefined) return
    this.#stopped = { reason }
    this.#abort?.abort(reason)
    const watcher = this.#watcher
    this.#watcher = undefined
    watcher?.aborted(reason)
  }
}
