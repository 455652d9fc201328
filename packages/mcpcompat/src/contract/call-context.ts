import type { JsonObject } from '../jsonrpc/json.ts'
import type { JsonText } from '../jsonrpc/json-text.ts'
import type { RpcId } from '../jsonrpc/message.ts'
import { memberOf } from '../member.ts'
import { stripEnvelopeMeta, stripEnvelopeText } from '../meta.ts'
import type { Call, Outcome } from './call.ts'
import type {
  AbortWatcher,
  CallContext,
  CallSource,
  LogLevel,
  Peer,
  Principal,
  Resume,
  Scope,
  WireHints,
} from './context.ts'
import type { Dispatcher } from './dispatcher.ts'
import { notice as noticeName } from './methods.ts'
import type { PeerSession } from './peer-session.ts'
import { createScope, type OwnedScope } from './scope.ts'
import type { DecodedCall } from './wire.ts'

/**
 * Where served calls come from: the dispatcher behind them and the way back for their answers. One object for each peer and
 * era, not for each call.
 */
export interface CallHost {
  readonly dispatcher: Pick<Dispatcher, 'call'>
  /** Writes a notice of a call that is still open. */
  notify(context: ServedContext, notice: Call): void | Promise<void>
  /** Writes the answer. May throw when the outcome cannot be written; then `refuse` is called. */
  answer(context: ServedContext, outcome: Outcome): void
  /** Writes the error of a call that failed, whatever was thrown. Never throws. */
  refuse(context: ServedContext, error: unknown): void
}

export interface CreateCallContextOptions {
  readonly host: CallHost
  /** The JSON-RPC id under which the answer goes back. */
  readonly id: RpcId
  readonly decoded: DecodedCall
  readonly principal: Principal
  readonly hints: WireHints
  /** The scope that the call shares with others; absent: that of its session, or its own, which `closeScope` closes. */
  readonly scope?: Scope | undefined
  /** The session that the call is part of. */
  readonly session?: PeerSession | undefined
}

/** The context of one call that arrived, made by a serving loop. */
export function createCallContext(options: CreateCallContextOptions): ServedContext {
  const { host, id, decoded, principal, hints, session, scope } = options
  return new ServedContext(host, id, decoded, principal, hints, scope, session)
}

const noMeta: JsonObject = Object.freeze({})

/** What most calls never need, kept apart so that they do not pay for it. */
class Extras {
  scope: OwnedScope | undefined
  meta: JsonObject | undefined
  abort: AbortController | undefined
  cancel: { readonly reason: unknown } | undefined
  lastProgress: number = Number.NEGATIVE_INFINITY
}

/**
 * A `CallContext` as a serving loop holds it. Whatever most calls never look at (signal, scope, meta) is made on first use,
 * since a call that is answered at once should cost no more than its own work.
 */
export class ServedContext implements CallContext {
  readonly host: CallHost
  readonly call: Call
  readonly id: RpcId
  readonly principal: Principal
  readonly hints: WireHints
  readonly session: PeerSession | undefined
  /** Replaced by whoever answers an ask on behalf of the caller, before the call is dispatched again. */
  resume: Resume | undefined
  /** Set once the outcome is known or the call was cancelled: from then on nothing is written for it (MC-CANC-07, MC-PROG-06). */
  ended = false
  /** Under which its runner has it, where ids are not enough. */
  number = 0
  readonly #decoded: DecodedCall
  readonly #sharedScope: Scope | undefined
  #extras: Extras | undefined
  #watcher: AbortWatcher | undefined

  constructor(
    host: CallHost,
    id: RpcId,
    decoded: DecodedCall,
    principal: Principal,
    hints: WireHints,
    scope: Scope | undefined,
    session?: PeerSession,
  ) {
    this.call = decoded.call
    this.id = id
    this.principal = principal
    this.hints = hints
    this.resume = decoded.context.resume
    this.host = host
    this.#decoded = decoded
    this.#sharedScope = scope
    this.session = session
  }

  get peer(): Peer {
    return this.#decoded.context.peer
  }

  get progressToken(): RpcId | undefined {
    return this.#decoded.context.progressToken
  }

  get logLevel(): LogLevel | undefined {
    return this.#decoded.context.logLevel
  }

  get source(): CallSource | undefined {
    // Another round of an ask brings other answers than the request did.
    return this.resume === this.#decoded.context.resume ? this.#decoded.source : undefined
  }

  get meta(): JsonObject {
    if (this.#decoded.context.rawMeta === undefined) return noMeta
    const extras = this.#extra()
    extras.meta ??= stripEnvelopeMeta(this.#decoded.context.rawMeta)
    return extras.meta
  }

  get metaText(): JsonText | undefined {
    const { rawMetaText } = this.#decoded.context
    return rawMetaText === undefined ? undefined : stripEnvelopeText(rawMetaText)
  }

  get signal(): AbortSignal {
    const extras = this.#extra()
    if (extras.abort === undefined) {
      extras.abort = new AbortController()
      if (extras.cancel !== undefined) extras.abort.abort(extras.cancel.reason)
    }
    return extras.abort.signal
  }

  get scope(): Scope {
    if (this.#sharedScope !== undefined) return this.#sharedScope
    if (this.session !== undefined) return this.session.scope
    const extras = this.#extra()
    if (extras.scope === undefined) {
      extras.scope = createScope()
      // Somebody who kept the context beyond the call gets a scope that is over, not one that nobody will ever close.
      if (this.ended) void extras.scope.close()
    }
    return extras.scope
  }

  get isAborted(): boolean {
    return this.#extras?.cancel !== undefined
  }

  watch(watcher: AbortWatcher): void {
    this.#watcher = watcher
  }

  unwatch(watcher: AbortWatcher): void {
    if (this.#watcher === watcher) this.#watcher = undefined
  }

  get cancelled(): boolean {
    return this.#extras?.cancel !== undefined
  }

  emit(notice: Call): void | Promise<void> {
    if (this.ended || (notice.method === noticeName.progress && !this.#hasGrown(notice))) return
    return this.host.notify(this, notice)
  }

  /** Progress only ever grows (MC-PROG-04); a step that does not is left out. */
  #hasGrown(notice: Call): boolean {
    const progress = memberOf(notice.params, 'progress')
    const extras = this.#extra()
    if (typeof progress !== 'number' || progress <= extras.lastProgress) return false
    extras.lastProgress = progress
    return true
  }

  /** Ends the call from outside: its signal aborts with `reason`, and nothing is written for it any more. */
  cancel(reason: unknown): void {
    if (this.ended) return
    this.ended = true
    const extras = this.#extra()
    extras.cancel = { reason }
    extras.abort?.abort(reason)
    const watcher = this.#watcher
    this.#watcher = undefined
    watcher?.aborted(reason)
  }

  /** Closes the scope of this call, when somebody used it. A shared one belongs to others and stays open. */
  closeScope(): void | Promise<void> {
    return this.#extras?.scope?.close()
  }

  #extra(): Extras {
    this.#extras ??= new Extras()
    return this.#extras
  }
}
