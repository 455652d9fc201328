import type { Dispatcher, Implementation } from '../contract/dispatcher.ts'
import type { ClientPeer } from '../contract/peer-port.ts'
import type { JsonObject } from '../jsonrpc/json.ts'
import type { Era, RevisionEvidence } from '../revisions.ts'
import type { ProbeLine } from './probe-line.ts'

/** What was found out about a server and may be remembered for the next connection. */
export interface ServerEra {
  readonly era: Era
  /** The revision that was agreed on. */
  readonly revision: string
}

/**
 * How long a server may be remembered as a legacy one before it is asked again, in milliseconds: one that was upgraded answers
 * `initialize` as before. A modern one is remembered until it says otherwise.
 */
export const legacyVerdictMs = 86_400_000

/** What a server says about itself. For display, logs and what can be asked of it; it grants nothing. */
export interface ServerIdentity {
  /** `undefined` when the server does not say. */
  readonly info: Implementation | undefined
  /** In the form of the modern revision. */
  readonly capabilities: JsonObject
  readonly instructions: string | undefined
}

/**
 * A connection to one server of either era. Disposing it ends the connection; when it ends by itself, every open call fails at once.
 */
export interface ClientConnection extends Dispatcher, RevisionEvidence, AsyncDisposable {
  /** The revision that the server has shown, by discovery or in its handshake. */
  readonly observed: string
  readonly server: ServerIdentity
  /**
   * What may be remembered, or `undefined` for what may not: a verdict that rests on silence is taken back when the server
   * answers late after all. Ask when you store it.
   */
  readonly verdict: ServerEra | undefined
  /** The row of decisions 1.3 that decided, for reports; `undefined` when nothing had to be found out. */
  readonly row: string | undefined
  /**
   * Whether a server that keeps sessions says in which call it asks, as it should where each call has a stream of its own; may change while
   * the connection stands. Otherwise questions can be told apart only while a single call is open that may be asked (BR-223).
   */
  readonly namesCalls?: boolean
  /** Resolves when the connection is over, with what broke it or `undefined`. Never rejects. */
  readonly ended: Promise<unknown>
}

export interface ClientConnectionParts extends RevisionEvidence {
  readonly line: ProbeLine
  readonly peer: ClientPeer
  readonly observed: string
  readonly server: ServerIdentity
  readonly verdict: () => ServerEra | undefined
  readonly row: string | undefined
}

export function createClientConnection(parts: ClientConnectionParts): ClientConnection {
  const { line, peer, requested, observed, server, row } = parts
  return {
    call: (call, context) => peer.call(call, context),
    notify: (notice, context) => peer.notify(notice, context),
    view: (principal, viewer) => peer.view(principal, viewer),
    drain: () => peer.drain(),
    requested,
    observed,
    server,
    row,
    get verdict() {
      return parts.verdict()
    },
    ended: line.ended.then(({ error }) => error),
    async [Symbol.asyncDispose]() {
      peer.abandon()
      await line.close()
      await line.ended
    },
  }
}
