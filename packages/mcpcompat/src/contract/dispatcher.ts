import type { JsonObject } from '../jsonrpc/json.ts'
import type { Call, CacheHints, Outcome } from './call.ts'
import type { CallContext, Peer, Principal } from './context.ts'
import type { PeerSession } from './peer-session.ts'

/** Name and version of a program, plus whatever else it says (`title`, `icons`, `websiteUrl`). For display and logs only. */
export interface Implementation extends JsonObject {
  readonly name: string
  readonly version: string
}

/** How a tool's arguments are mirrored into `Mcp-Param-*` headers (MH-XMH-01). */
export interface HeaderPlan {
  readonly declarations: readonly HeaderDeclaration[]
}

export interface HeaderDeclaration {
  /** Property names from the root of the arguments. */
  readonly path: readonly string[]
  /** Full header name, as `Mcp-Param-Region`. */
  readonly header: string
  readonly type: 'string' | 'integer' | 'boolean'
}

/** What a dispatcher offers to one principal. Discovery and the legacy handshake are made from this. */
export interface ServerView {
  readonly info: Implementation
  readonly instructions?: string
  /** In the form of the modern revision; codecs of other eras translate. Exactly what is served (MC-DISC-10). */
  readonly capabilities: JsonObject
  /** Cache hints of the discovery result. */
  readonly hints?: CacheHints
  /** Whether a call of this method can be answered. A method whose capability is not advertised cannot (MC-ERR-12). */
  has(method: string): boolean
  /** The header plan of a tool, or undefined when it is unknown or mirrors nothing. */
  headerPlan(tool: string): HeaderPlan | undefined
}

/** Who looks at a view, beyond the principal. What is offered must not depend on it; where it comes from may. */
export interface Viewer {
  readonly peer?: Peer | undefined
  /** The session that is being opened, on carriers that keep one. */
  readonly session?: PeerSession | undefined
}

/**
 * Anything that takes a call and gives one outcome: a server's core, a proxy, a client connection. Serving and calling have the
 * same shape, so a proxy is composition.
 */
export interface Dispatcher {
  /**
   * Answers a call. A synchronous outcome costs no promise. A failure is a thrown `RpcError`; anything else thrown is an
   * internal error whose text stays here. When `context.signal` aborts, the call rejects with its reason.
   *
   * `subscriptions/listen` is a call as well: it first emits the acknowledgement, then notices, and ends with its result on `drain`.
   */
  call(call: Call, context: CallContext): Outcome | Promise<Outcome>
  /** Takes a notification of the peer. Unknown ones are dropped. Never throws for what the peer sent. */
  notify(notice: Call, context: CallContext): void | Promise<void>
  /** What is offered to this principal, now. */
  view(principal: Principal, viewer?: Viewer): ServerView | Promise<ServerView>
  /** Ends open listens with their result and takes no new ones. Nothing is aborted. Resolves when all have ended. */
  drain(): Promise<void>
}
