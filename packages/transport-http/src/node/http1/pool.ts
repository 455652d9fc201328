import { systemClock } from '@atenea/mcpcompat/transport'
import { Connection, type ConnectionHome } from './connection.ts'
import type { Dial } from './line.ts'

export interface CreatePoolOptions {
  readonly dial: Dial
  readonly connectTimeoutMs: number
  /** How long an unused connection is kept. */
  readonly idleTimeoutMs: number
}

/** Unused connections that are kept at a time. */
const maxIdle = 256

/** A peer closes a connection as it says; a request that leaves at that moment is lost. */
const hintMarginMs = 1_000

/** The connections to one place. Each carries one request at a time; there is no bound to how many there are. */
export class Pool implements ConnectionHome {
  readonly #options: CreatePoolOptions
  readonly #all = new Set<Connection>()
  /** The one that was used last is at the end, and is used first: it is the least likely to be gone. */
  readonly #idle: Connection[] = []
  #sweep: Disposable | undefined
  #hint: { readonly text: string; readonly ms: number } | undefined

  #isClosed = false

  constructor(options: CreatePoolOptions) {
    this.#options = options
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** A connection that was used before and is still good. */
  take(): Connection | undefined {
    for (let last = this.#idle.pop(); last !== undefined; last = this.#idle.pop()) {
      if (systemClock.now() < last.freshUntil) {
        last.hold(true)
        return last
      }
      last.close()
    }
    return undefined
  }

  /** A new one, which may still have to come about. */
  open(): Connection {
    const connection = new Connection(this, this.#options.dial, this.#options.connectTimeoutMs)
    if (!connection.isGone) this.#all.add(connection)
    return connection
  }

  closeIdle(): void {
    for (const connection of this.#idle.splice(0)) connection.close()
  }

  /** Closes all of them; whoever uses one hears that it is gone. */
  close(): void {
    this.#isClosed = true
    for (const connection of this.#all) connection.onGone(undefined)
    this.#sweep?.[Symbol.dispose]()
    this.#sweep = undefined
  }

  onFree(connection: Connection): void {
    const keptMs = this.#keptMs(connection.keepAlive)
    if (keptMs <= 0 || this.#idle.length >= maxIdle) {
      connection.close()
      return
    }
    connection.freshUntil = systemClock.now() + keptMs
    connection.hold(false)
    this.#idle.push(connection)
    this.#sweepAfter(keptMs)
  }

  onGone(connection: Connection): void {
    this.#all.delete(connection)
    const index = this.#idle.lastIndexOf(connection)
    if (index !== -1) this.#idle.splice(index, 1)
  }

  /** As long as we like, and less where the peer says that it keeps a connection for a shorter time. */
  #keptMs(keepAlive: string | undefined): number {
    const { idleTimeoutMs } = this.#options
    if (keepAlive === undefined) return idleTimeoutMs
    if (this.#hint?.text !== keepAlive) {
      const seconds = /(?:^|[,\t ])timeout=([0-9]{1,6})/i.exec(keepAlive)?.[1]
      this.#hint = {
        text: keepAlive,
        ms: seconds === undefined ? Number.POSITIVE_INFINITY : Number(seconds) * 1_000 - hintMarginMs,
      }
    }
    return Math.min(idleTimeoutMs, this.#hint.ms)
  }

  /** One timer for all that rest. */
  #sweepAfter(ms: number): void {
    if (this.#sweep !== undefined || ms === Number.POSITIVE_INFINITY) return
    const sweep = (): void => {
      this.#sweep = undefined
      const now = systemClock.now()
      for (const old of this.#idle.filter(({ freshUntil }) => freshUntil <= now)) old.close()
      const [next] = this.#idle.map(({ freshUntil }) => freshUntil).toSorted((a, b) => a - b)
      if (next !== undefined) this.#sweepAfter(Math.max(1, next - now))
    }
    this.#sweep = systemClock.after(ms, sweep)
  }
}
