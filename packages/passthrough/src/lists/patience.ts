import type { CallContext } from '@atenea/mcpcompat'
import { abortable, type Clock, within } from '@atenea/mcpcompat/transport'
import type { OnPassthroughEvent } from '../events.ts'
import type { BackendClient } from '../backend-port.ts'
import type { BackendLists } from './backend-lists.ts'

export interface PatienceOptions {
  /** How long anybody waits for one of several backends, in milliseconds. */
  readonly waitMs: number
  readonly clock: Clock
  readonly onEvent: OnPassthroughEvent | undefined
}

/** What became of waiting for a backend. */
export type Waited<Value> =
  | { readonly kind: 'there'; readonly value: Value }
  | { readonly kind: 'failed'; readonly error: unknown }
  /** It may come later. */
  | { readonly kind: 'late' }

/**
 * Waiting for several backends, of which none may keep the others back. Who asks again while a backend is still silent does not wait
 * anew: its time has begun when it was first asked. That a backend is missing is reported once, until it is there again. What comes
 * late is used from then on.
 */
export class Patience {
  readonly #options: PatienceOptions
  readonly #since = new Map<string, number>()
  readonly #missing = new Set<string>()

  constructor(options: PatienceOptions) {
    this.#options = options
  }

  /** Waits for something of a backend. `about` says for what; when it comes after all, `late` hears of it. Never rejects. */
  async wait<Value>(
    lists: BackendLists,
    about: string,
    client: BackendClient,
    value: Promise<Value>,
    late?: () => void,
  ): Promise<Waited<Value>> {
    const { clock, waitMs } = this.#options
    const view = lists.view(client.principal, client)
    // Whoever waits for its connection waits for the same, whatever is to be asked over it.
    const isConnecting = view instanceof Promise
    const what = isConnecting ? '' : `${about}\n${lists.port.partitionOf(client)}`
    const key = `${lists.name}\n${what}`
    if (!isConnecting) this.#since.delete(`${lists.name}\n`)
    const since = this.#since.get(key) ?? clock.now()
    this.#since.set(key, since)
    const over = (): boolean => this.#since.delete(key)
    // One that could not be connected to was waited for once; it is not waited for again with every further try.
    void (isConnecting ? view.then(over, () => undefined) : value.then(over, over))
    let waited: Waited<Value> = { kind: 'late' }
    const settled = value.then(
      (there) => {
        waited = { kind: 'there', value: there }
      },
      (error: unknown) => {
        waited = { kind: 'failed', error }
      },
    )
    const inTime = await within(settled, Math.max(0, since + waitMs - clock.now()), clock)
    this.#report(lists, about, isConnecting ? '' : about, waited)
    if (!inTime && late !== undefined) void value.then(late, () => undefined)
    return waited
  }

  #report(lists: BackendLists, about: string, what: string, waited: Waited<unknown>): void {
    const { waitMs, onEvent } = this.#options
    const key = `${lists.name}\n${what}`
    if (waited.kind === 'there') {
      this.#missing.delete(`${lists.name}\n`)
      this.#missing.delete(key)
      return
    }
    if (this.#missing.has(key)) return
    this.#missing.add(key)
    const why = waited.kind === 'late' ? `it did not answer within ${waitMs} ms` : messageOf(waited.error)
    onEvent?.({
      kind: 'list',
      level: 'warning',
      code: 'backend-missing',
      backend: lists.name,
      message: `${JSON.stringify(lists.name)} is left out of ${about}: ${why}`,
      names: [],
    })
  }
}

/** Waits for as long as the caller does; what goes on without it goes on. */
export function whileWanted<Value>(value: Promise<Value>, { signal }: CallContext): Promise<Value> {
  return abortable(value, signal)
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 500)
}
