import type { Clock } from '@atenea/mcpcompat/transport'
import { IssuerUnavailable } from './token-error.ts'

export interface KeptOptions<T> {
  readonly load: () => Promise<T>
  /** How long a value is good without being asked for again, in milliseconds. */
  readonly maxAgeMs: number
  /** How long it stays good beyond that while the source cannot be asked. */
  readonly staleMs: number
  /** Shortest time between an attempt that failed and the next. */
  readonly retryMs: number
  /** Shortest time between two attempts that `again` causes, whoever asks for it. */
  readonly cooldownMs: number
  readonly clock: Clock
  readonly onFailure: (error: unknown) => void
}

/** A value of an authorization server, kept for a while. Those who need it at the same time share one request. */
export class Kept<T> {
  readonly #options: KeptOptions<T>
  #value: T | undefined
  #freshUntil = -Infinity
  #goodUntil = -Infinity
  #triedAt = -Infinity
  #failure: { readonly error: unknown; readonly nextTryAt: number } | undefined
  #loading: Promise<T> | undefined

  constructor(options: KeptOptions<T>) {
    this.#options = options
  }

  /** How long `get` answers with the same value, in milliseconds. */
  get freshForMs(): number {
    return Math.max(0, this.#freshUntil - this.#options.clock.now())
  }

  /** The value; one that is older than it should be when no other can be had. An `IssuerUnavailable` when there is none. */
  get(): T | Promise<T> {
    const now = this.#options.clock.now()
    if (this.#value !== undefined && now < this.#freshUntil) return this.#value
    return this.#load().catch((error: unknown) => {
      const later = this.#options.clock.now()
      if (this.#value === undefined || later >= this.#goodUntil) throw error
      this.#freshUntil = Math.min(this.#goodUntil, this.#failure?.nextTryAt ?? later)
      return this.#value
    })
  }

  /** A newer value, or `undefined` when one was asked for just now. An `IssuerUnavailable` when it cannot be had. */
  async again(): Promise<T | undefined> {
    const tooSoon = this.#options.clock.now() < this.#triedAt + this.#options.cooldownMs
    if (this.#loading === undefined && this.#failure === undefined && tooSoon) return undefined
    return await this.#load()
  }

  #load(): Promise<T> {
    this.#loading ??= this.#attempt().finally(() => {
      this.#loading = undefined
    })
    return this.#loading
  }

  async #attempt(): Promise<T> {
    const { clock, load, maxAgeMs, staleMs, retryMs, onFailure } = this.#options
    const now = clock.now()
    if (this.#failure !== undefined && now < this.#failure.nextTryAt) {
      throw new IssuerUnavailable(this.#failure.nextTryAt - now, this.#failure.error)
    }
    this.#triedAt = now
    try {
      const value = await load()
      this.#failure = undefined
      this.#value = value
      this.#freshUntil = clock.now() + maxAgeMs
      this.#goodUntil = this.#freshUntil + staleMs
      return value
    } catch (error) {
      this.#failure = { error, nextTryAt: clock.now() + retryMs }
      onFailure(error)
      throw new IssuerUnavailable(retryMs, error)
    }
  }
}
