import { abortable, type Clock } from '@atenea/mcpcompat/transport'
import type { BackendClient } from './backend-port.ts'
import type { Link } from './link.ts'

export interface AskingPoolOptions {
  readonly size: number
  /** How long a call waits for its turn, in milliseconds. */
  readonly waitMs: number
  readonly clock: Clock
  /** The connections that a client has, at most `size`, by their places from 0. */
  readonly find: (client: BackendClient, place: number) => Link | undefined
  readonly open: (client: BackendClient, place: number) => Link
  /** From now on `find` must not give this connection any more. */
  readonly retire: (link: Link) => void
  /** What is thrown when it takes too long. */
  readonly busy: () => Error
}

/** A connection that carries this call and no other that might be asked. */
export interface Lease {
  readonly link: Link
  /** May be done more than once. */
  release(): void
  /**
   * Releases a connection on which a call was given up. Its server may still be at it, and what it asks then would be put to whoever has the
   * connection next, so nobody gets it.
   */
  giveUp(): void
}

/**
 * Connections of which each carries one call that may be asked, since a server on a stream does not say in which call it asks (BR-223). A call
 * gets the connection that its client used last, so that one after the other all meet the same state of the server.
 */
export class AskingPool {
  readonly #options: AskingPoolOptions
  readonly #held = new Set<Link>()
  readonly #queue = new Set<() => void>()
  /** Turns that were given and not taken yet. */
  #given = 0

  constructor(options: AskingPoolOptions) {
    this.#options = options
  }

  holds(link: Link): boolean {
    return this.#held.has(link)
  }

  /** Waits for a turn, first come first served. Rejects with the signal's reason, or when it takes too long. */
  async acquire(client: BackendClient, signal: AbortSignal): Promise<Lease> {
    signal.throwIfAborted()
    if (this.#held.size + this.#given >= this.#options.size) {
      await this.#turn(signal)
      this.#given--
    }
    try {
      return this.#hold(this.#choose(client))
    } catch (error) {
      // The turn is for the next one.
      this.#wake()
      throw error
    }
  }

  async #turn(signal: AbortSignal): Promise<void> {
    const { waitMs, clock, busy } = this.#options
    let next: () => void = () => undefined
    let timer: Disposable | undefined
    const turn = new Promise<void>((resolve, reject) => {
      next = resolve
      timer = clock.after(waitMs, () => reject(busy()), { holdsProcess: true })
    })
    this.#queue.add(next)
    try {
      await abortable(turn, signal)
    } catch (error) {
      // A turn that came too late is for the next one.
      if (!this.#queue.delete(next)) {
        this.#given--
        this.#wake()
      }
      throw error
    } finally {
      timer?.[Symbol.dispose]()
    }
  }

  #wake(): void {
    for (const next of this.#queue) {
      if (this.#held.size + this.#given >= this.#options.size) return
      this.#queue.delete(next)
      this.#given++
      next()
    }
  }

  #choose(client: BackendClient): Link {
    const { size, find, open } = this.#options
    const places = Array.from({ length: size }, (_, place) => ({ place, link: find(client, place) }))
    const free = places.filter(({ link }) => link === undefined || !this.#held.has(link))
    const used = free.flatMap(({ link }) => link ?? []).sort((a, b) => b.lastUsed - a.lastUsed)[0]
    return used ?? open(client, free[0]?.place ?? 0)
  }

  #hold(link: Link): Lease {
    this.#held.add(link)
    link.openCalls++
    let isHeld = true
    const end = (isGivenUp: boolean): void => {
      if (!isHeld) return
      isHeld = false
      this.#held.delete(link)
      link.openCalls--
      link.lastUsed = this.#options.clock.now()
      if (isGivenUp) this.#options.retire(link)
      this.#wake()
    }
    return { link, release: () => end(false), giveUp: () => end(true) }
  }
}
