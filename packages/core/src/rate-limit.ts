import { type Principal, RpcError, rpcCode } from '@atenea/mcpcompat'

export interface RateLimitOptions {
  /** How many may come at once after a quiet time. */
  readonly burst: number
  /** How many may come for each second in the long run. */
  readonly perSecond: number
}

/** A token bucket. Costs no timer. */
export class RateLimit {
  readonly #burst: number
  readonly #perMs: number
  #tokens: number
  #at: number

  constructor({ burst, perSecond }: RateLimitOptions) {
    this.#burst = burst
    this.#perMs = perSecond / 1000
    this.#tokens = burst
    this.#at = performance.now()
  }

  /** Takes one turn; `false` when there is none left now. */
  take(): boolean {
    const now = performance.now()
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#at) * this.#perMs)
    this.#at = now
    if (this.#tokens < 1) return false
    this.#tokens--
    return true
  }

  /** Whether nothing of the limit is used up, so that forgetting it changes nothing. */
  get full(): boolean {
    return this.#tokens + (performance.now() - this.#at) * this.#perMs >= this.#burst
  }
}

/** A limit for each principal. Throws an `RpcError` -32603 when somebody is past it. */
export function createPrincipalLimit(
  options: RateLimitOptions,
  /** Principals that are remembered: those who have been quiet are forgotten first, then those who came first. */
  maxPrincipals = 10_000,
): (principal: Principal) => void {
  const limits = new Map<string, RateLimit>()
  const makeRoom = (): void => {
    for (const [id, limit] of limits) if (limit.full) limits.delete(id)
    const [first] = limits.keys()
    if (limits.size >= maxPrincipals && first !== undefined) limits.delete(first)
  }
  return ({ id }) => {
    let limit = limits.get(id)
    if (limit === undefined) {
      if (limits.size >= maxPrincipals) makeRoom()
      limit = new RateLimit(options)
      limits.set(id, limit)
    }
    if (!limit.take()) throw new RpcError(rpcCode.internalError, 'Too many calls; try again in a moment')
  }
}
