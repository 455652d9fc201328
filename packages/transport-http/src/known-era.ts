import type { OnDiagnostic } from '@atenea/mcpcompat'
import type { ServerEra } from '@atenea/mcpcompat/transport'
import { storable, type VerdictStore } from './verdicts.ts'

/** What is remembered of the era of one server, where somebody keeps it. */
export class KnownEra {
  readonly #store: VerdictStore | undefined
  readonly #key: string
  readonly #onDiagnostic: OnDiagnostic | undefined

  constructor(store: VerdictStore | undefined, key: string, onDiagnostic: OnDiagnostic | undefined) {
    this.#store = store
    this.#key = key
    this.#onDiagnostic = onDiagnostic
  }

  /** What was found before, unless it is too old. */
  async get(): Promise<ServerEra | undefined> {
    const stored = await this.#store?.get(this.#key)
    if (stored === undefined) return undefined
    if (stored.expiresAt === undefined || stored.expiresAt > Date.now()) return stored
    await this.#store?.delete(this.#key)
    return undefined
  }

  /** A legacy verdict is not renewed by being used, or it would never expire. */
  async set(verdict: ServerEra): Promise<void> {
    if (this.#store === undefined) return
    const known = await this.#store.get(this.#key)
    if (known?.era === verdict.era && known.revision === verdict.revision) return
    await this.#store.set(this.#key, storable(verdict, Date.now()))
  }

  /** Forgets it. */
  async delete(): Promise<void> {
    await this.#store?.delete(this.#key)
  }

  /** The same for whom nobody waits: a failure is only reported. */
  deleteLater(): void {
    this.delete().catch((cause: unknown) => {
      const message = 'A verdict that is wrong could not be forgotten.'
      this.#onDiagnostic?.({ level: 'warning', code: 'verdict-kept', message, cause })
    })
  }
}
