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

/**
 * The live legacy sessions. Those whose clients have said nothing since they opened them are apart from the others, and make room
 * first, so that a flood of them costs nobody who works in a session (C23).
 */
export class Sessions {
  readonly #options: SessionsOptions
  /** Never used, the oldest first. */
  readonly #unused = new Map<string, HttpSession>()
  /** The one that was silent longest first, but for {@link touchMs} and a quarter of all that may be kept. */
  readonly #used = new Map<string, HttpSession>()
  /** Places of those whose handshake is under way. */
  #reserved = 0
  /** Counts how often a session went to the end of the used ones. */
  #places = 0
  #sweep: Disposable | undefined

  constructor(options: SessionsOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#unused.size + this.#used.size
  }

  find(id: string): HttpSession | undefined {
    return this.#used.get(id) ?? this.#unused.get(id)
  }

  /** The session with this id, which exists: the ladder has asked. Its client is heard of now. */
  get(id: string): HttpSession {
    const session = this.#used.get(id)
    if (session === undefined) {
      const first = this.#unused.get(id) as HttpSession
      this.#unused.delete(id)
      this.#moveToEnd(first, this.#options.clock.now())
      return first
    }
    const now = this.#options.clock.now()
    if (now - session.lastSeen > touchMs || this.#places - session.place > this.#options.maxSessions / 4) {
      this.#used.delete(id)
      this.#moveToEnd(session, now)
    }
    return session
  }

  /** What one principal may use: a session is bound to who opened it, not to the bytes of a token (C22). */
  of(principal: Principal): SessionLookup {
    return new PrincipalSessions(this, principal.id)
  }

  /**
   * Takes a place for a session that is being opened, until it is added or the place is given back. False when there is none. The ones
   * that are idle make room: the oldest unused one, or the most silent one, unless a quarter of all places is being opened already.
   */
  reserve(): boolean {
    const { maxSessions } = this.#options
    if (this.size + this.#reserved >= maxSessions) {
      const idle = firstIdle(this.#unused) ?? (this.#reserved > maxSessions / 4 ? undefined : firstIdle(this.#used))
      if (idle === undefined) return false
      this.end(idle, new DOMException('The session made room for another one', 'AbortError'))
    }
    this.#reserved++
    return true
  }

  /** The session that the place was for will not be opened. */
  giveBack(): void {
    this.#reserved--
  }

  /** Adds a session that has been opened, in the place that was taken for it. */
  add(session: HttpSession): void {
    this.#reserved--
    session.lastSeen = this.#options.clock.now()
    this.#unused.set(session.id, session)
    this.#sweep ??= this.#sweepLater()
  }

  /** Ends a session. From now on its id is unknown (LG-SESS-05). */
  end(session: HttpSession, reason: unknown): void {
    if (!this.#used.delete(session.id)) this.#unused.delete(session.id)
    // what a session leaves behind that fails is reported by its scope
    session.close(reason).catch(() => undefined)
  }

  /** Resolves when no session waits for an answer. */
  async idle(): Promise<void> {
    await Promise.all([...this.#unused.values(), ...this.#used.values()].map((session) => session.idle()))
  }

  endAll(reason: unknown): void {
    this.#sweep?.[Symbol.dispose]()
    this.#sweep = undefined
    for (const sessions of [this.#unused, this.#used])
      for (const session of sessions.values()) this.end(session, reason)
  }

  #moveToEnd(session: HttpSession, now: number): void {
    session.lastSeen = now
    session.place = ++this.#places
    this.#used.set(session.id, session)
  }

  #sweepLater(): Disposable {
    const { clock, idleTimeoutMs } = this.#options
    return clock.after(Math.min(sweepMs, idleTimeoutMs / 4), () => {
      this.#endSilent(this.#unused, clock.now() - idleTimeoutMs)
      this.#endSilent(this.#used, clock.now() - idleTimeoutMs)
      this.#sweep = this.size > 0 ? this.#sweepLater() : undefined
    })
  }

  #endSilent(sessions: ReadonlyMap<string, HttpSession>, deadline: number): void {
    for (const session of sessions.values()) {
      if (session.lastSeen > deadline) break
      if (!session.busy) this.end(session, new DOMException('The session was idle for too long', 'TimeoutError'))
    }
  }
}

function firstIdle(sessions: ReadonlyMap<string, HttpSession>): HttpSession | undefined {
  for (const session of sessions.values()) if (!session.busy) return session
  return undefined
}

class PrincipalSessions implements SessionLookup {
  readonly #sessions: Sessions
  readonly #principalId: string

  constructor(sessions: Sessions, principalId: string) {
    this.#sessions = sessions
    this.#principalId = principalId
  }

  revisionOf(sessionId: string): string | undefined {
    const session = this.#sessions.find(sessionId)
    return session?.principal.id === this.#principalId ? session.revision : undefined
  }
}
