import type { Principal } from '@atenea/mcpcompat'
import type { Clock, SessionLookup } from '@atenea/mcpcompat/transport'
import type { HttpSession } from './serve.ts'

export interface SessionsOptions {
  readonly clock: Clock
  /** Sessions that are kept at the same time. */
  readonly maxSessions: number
  /** How long a session is kept without a message of its client, in milliseconds. An open GET does not count (C23). */
  readonly idleTimeoutMs: number
}

/** How often the time limit is looked at, at most, in milliseconds. */
const sweepMs = 60_000
/** A session that was heard of this recently need not be moved to the end again. */
const touchMs = 1_000

/** The live legacy sessions, the one that was silent longest first. */
export class Sessions {
  readonly #options: SessionsOptions
  readonly #byId = new Map<string, HttpSession>()
  #sweep: Disposable | undefined

  constructor(options: SessionsOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#byId.size
  }

  /** The session with this id, which exists: the ladder has asked. */
  get(id: string): HttpSession {
    const session = this.#byId.get(id) as HttpSession
    const now = this.#options.clock.now()
    if (now - session.lastSeen > touchMs) {
      session.lastSeen = now
      this.#byId.delete(id)
      this.#byId.set(id, session)
    }
    return session
  }

  /** What one principal may use: a session is bound to who opened it, not to the bytes of a token (C22). */
  of(principal: Principal): SessionLookup {
    return new PrincipalSessions(this.#byId, principal.id)
  }

  /** Whether one more session fits in; the ones that are idle make room, the most silent one first. */
  makeRoom(): boolean {
    if (this.#byId.size < this.#options.maxSessions) return true
    for (const session of this.#byId.values()) {
      if (session.busy) continue
      this.end(session, new DOMException('The session made room for another one', 'AbortError'))
      return true
    }
    return false
  }

  add(session: HttpSession): void {
    session.lastSeen = this.#options.clock.now()
    this.#byId.set(session.id, session)
    this.#sweep ??= this.#sweepLater()
  }

  /** Ends a session. From now on its id is unknown (LG-SESS-05). */
  end(session: HttpSession, reason: unknown): void {
    this.#byId.delete(session.id)
    // what a session leaves behind that fails is reported by its scope
    session.close(reason).catch(() => undefined)
  }

  /** Resolves when no session waits for an answer. */
  async idle(): Promise<void> {
    await Promise.all([...this.#byId.values()].map((session) => session.idle()))
  }

  endAll(reason: unknown): void {
    this.#sweep?.[Symbol.dispose]()
    this.#sweep = undefined
    for (const session of this.#byId.values()) this.end(session, reason)
  }

  #sweepLater(): Disposable {
    const { clock, idleTimeoutMs } = this.#options
    return clock.after(Math.min(sweepMs, idleTimeoutMs / 4), () => {
      const deadline = clock.now() - idleTimeoutMs
      for (const session of this.#byId.values()) {
        if (session.lastSeen > deadline) break
        if (!session.busy) this.end(session, new DOMException('The session was idle for too long', 'TimeoutError'))
      }
      this.#sweep = this.#byId.size > 0 ? this.#sweepLater() : undefined
    })
  }
}

class PrincipalSessions implements SessionLookup {
  readonly #byId: ReadonlyMap<string, HttpSession>
  readonly #principalId: string

  constructor(byId: ReadonlyMap<string, HttpSession>, principalId: string) {
    this.#byId = byId
    this.#principalId = principalId
  }

  revisionOf(sessionId: string): string | undefined {
    const session = this.#byId.get(sessionId)
    return session?.principal.id === this.#principalId ? session.revision : undefined
  }
}
