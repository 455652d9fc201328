import type { Clock } from '@atenea/mcpcompat/transport'

/** Longer tokens are checked each time. */
const maxTokenLength = 8_192

/** What tokens were found to be, so that each is checked once in a while and not with every request. Holds so many at most. */
export class TokenMemory<T> {
  readonly #clock: Clock
  readonly #maxTokens: number
  readonly #byToken = new Map<string, { readonly verdict: T; readonly until: number }>()

  constructor(clock: Clock, maxTokens: number) {
    this.#clock = clock
    this.#maxTokens = maxTokens
  }

  get(token: string): T | undefined {
    const known = this.#byToken.get(token)
    if (known === undefined) return undefined
    if (this.#clock.now() < known.until) return known.verdict
    this.#byToken.delete(token)
    return undefined
  }

  set(token: string, verdict: T, goodForMs: number): void {
    if (goodForMs <= 0 || token.length > maxTokenLength) return
    this.#byToken.set(token, { verdict, until: this.#clock.now() + goodForMs })
    if (this.#byToken.size <= this.#maxTokens) return
    const [oldest] = this.#byToken.keys()
    if (oldest !== undefined) this.#byToken.delete(oldest)
  }
}
