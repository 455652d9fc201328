import type { JsonObject } from '../jsonrpc/json.ts'
import type { RpcId } from '../jsonrpc/message.ts'
import type { Call } from './call.ts'
import type { CallContext, LogLevel, Peer, Principal, Resume, Scope, WireHints } from './context.ts'
import type { PeerSession } from './peer-session.ts'
import { createScope, type OwnedScope } from './scope.ts'

export interface CreateCallerContextOptions {
  /** What the caller says about itself; a nameless client without capabilities when left out. */
  readonly peer?: Peer
  readonly principal?: Principal
  /** Ends the call from outside: the peer is told, and the call rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Where progress, log messages and the notices of a subscription go. */
  readonly onNotice?: (notice: Call) => void | Promise<void>
  /** Any value asks for progress; carriers put a token of their own on the wire. */
  readonly progressToken?: RpcId
  readonly logLevel?: LogLevel
  readonly meta?: JsonObject
  readonly hints?: WireHints
  /** Answers to an earlier ask. */
  readonly resume?: Resume
  /** The session of the client on whose behalf is called; the call has its scope then. */
  readonly session?: PeerSession | undefined
}

/** A context for those who call a dispatcher themselves: clients, tools, tests. Serving loops have their own. */
export function createCallerContext(options: CreateCallerContextOptions = {}): CallContext {
  return new CallerContext(options)
}

class CallerContext implements CallContext {
  readonly peer: Peer
  readonly principal: Principal
  readonly meta: JsonObject
  readonly progressToken: RpcId | undefined
  readonly logLevel: LogLevel | undefined
  readonly hints: WireHints
  readonly resume: Resume | undefined
  readonly session: PeerSession | undefined
  readonly #onNotice: CreateCallerContextOptions['onNotice']
  #signal: AbortSignal | undefined
  #scope: OwnedScope | undefined

  constructor(options: CreateCallerContextOptions) {
    this.peer = options.peer ?? { capabilities: {} }
    this.principal = options.principal ?? { id: 'local', authenticated: true }
    this.meta = options.meta ?? {}
    this.progressToken = options.progressToken
    this.logLevel = options.logLevel
    this.hints = options.hints ?? {}
    this.resume = options.resume
    this.session = options.session
    this.#onNotice = options.onNotice
    this.#signal = options.signal
  }

  get signal(): AbortSignal {
    this.#signal ??= new AbortController().signal
    return this.#signal
  }

  get scope(): Scope {
    if (this.session !== undefined) return this.session.scope
    this.#scope ??= createScope()
    return this.#scope
  }

  emit(notice: Call): void | Promise<void> {
    return this.#onNotice?.(notice)
  }
}
