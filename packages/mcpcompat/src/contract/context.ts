import type { JsonObject } from '../jsonrpc/json.ts'
import type { JsonText } from '../jsonrpc/json-text.ts'
import type { RpcId } from '../jsonrpc/message.ts'
import type { Call } from './call.ts'
import type { PeerSession } from './peer-session.ts'

/** What every asynchronous method with a way to stop it takes. */
export interface AbortOptions {
  readonly signal?: AbortSignal | undefined
}

/** Who was authenticated, never who somebody claims to be. The only thing that grants are bound to. */
export interface Principal {
  /** Stable and unique: `local` (stdio), `uid:1000` (unix socket), `anonymous@<listener>`, or the subject of a token with its issuer. */
  readonly id: string
  readonly authenticated: boolean
  /** Scopes of the token, where there is one. */
  readonly scopes?: readonly string[]
}

/** What a peer says about itself. Context for logs and for what it can do; it grants nothing (MC-META-11). */
export interface Peer {
  readonly name?: string
  readonly version?: string
  /** Everything that it says about itself, name and version included, for those who pass it on. */
  readonly info?: JsonObject
  /** Capabilities in the form of the modern revision; `{}` when none were declared. */
  readonly capabilities: JsonObject
}

/** Header fields of the carrier in lower case, where it has any. Values are as received. */
export type WireHints = Readonly<Record<string, string | undefined>>

export type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency'

/** The second and later rounds of an ask: what came back. Attacker-controlled input (MC-MRTR-08). */
export interface Resume {
  readonly requestState?: string
  /** One bare result object a key; unknown keys are ignored by whoever asked. */
  readonly inputResponses: JsonObject
  /** The same as it came, for those who pass it on unread. */
  readonly responsesText?: JsonText
}

/**
 * Owns what lives as long as one dispatch (modern) or one transport session (legacy). It is closed by whoever opened it,
 * before the answer of a modern dispatch is written.
 */
export interface Scope {
  /** Runs once at the end, last in first out. Runs at once when the scope is closed already. */
  defer(dispose: () => void | Promise<void>): void
  readonly closed: boolean
  /** State that belongs to this scope, by a key that nobody else can name. Gone when the scope ends. */
  readonly state: Map<symbol, unknown>
}

/** Hears of the end of a call before its outcome. */
export interface AbortWatcher {
  aborted(reason: unknown): void
}

/** A call as it stood in its request, for those who pass it on as it is. */
export interface CallSource {
  readonly call: Call
  /** With everything that belongs to the envelope, in the words of this revision. No member is there twice. */
  readonly params: JsonText
  readonly revision: string
}

/** Everything around a call. One object per call, made by the carrier's serving loop, valid until the outcome is known. */
export interface CallContext {
  /** Aborts on the peer's cancel, a deadline, a disconnect (where the era says so) and shutdown. Made on first use. */
  readonly signal: AbortSignal
  readonly peer: Peer
  readonly principal: Principal
  /** `_meta` without the keys that belong to the envelope; unknown keys are kept. */
  readonly meta: JsonObject
  /** The same as source text, where the carrier has kept it: for those who pass it on unread. */
  readonly metaText?: JsonText | undefined
  /** Set when the caller wants progress. Emit `notifications/progress` without a token; the codec adds it. */
  readonly progressToken: RpcId | undefined
  /** The lowest level of `notifications/message` that the caller wants; none when undefined (MC-LOG-02). */
  readonly logLevel: LogLevel | undefined
  readonly hints: WireHints
  readonly resume: Resume | undefined
  readonly scope: Scope
  /** The session that this call is part of, on carriers that keep one; its scope is that of the call. */
  readonly session?: PeerSession | undefined
  /**
   * What this context was read from. Only for a context that changes nothing of it: whoever wraps one and says something else about the
   * caller leaves it out.
   */
  readonly source?: CallSource | undefined
  /** Whether `signal` is aborted, or would be if there were one. Where this is, so are `watch` and `unwatch`. */
  readonly isAborted?: boolean
  /**
   * Tells the one who carries the call out when it is aborted, as a listener on `signal` would hear it, without a signal being made for every
   * call. There is one watcher at a time, the last. Not to be called once it is aborted.
   */
  watch?(watcher: AbortWatcher): void
  unwatch?(watcher: AbortWatcher): void
  /** The context that this one stands for, where somebody on the way limits or changes another's. */
  readonly origin?: CallContext | undefined
  /**
   * Sends a notice that belongs to this call. The codec adds the progress token or the subscription id and drops what the
   * caller did not ask for. Resolves when the carrier has taken it, which is how back-pressure reaches a handler. Nothing is
   * sent after the outcome or a cancel.
   */
  emit(notice: Call): void | Promise<void>
}
