import type { Call, CallContext, OnDiagnostic, Outcome } from '@atenea/mcpcompat'
import { notice } from '@atenea/mcpcompat'
import {
  abortable,
  acknowledgement,
  type Clock,
  filterAdmits,
  memberOf,
  type SubscriptionFilter,
} from '@atenea/mcpcompat/transport'
import { Damper } from './damper.ts'

/**
 * One open subscription of a client. What is told before the acknowledgement waits for it (MC-SUB-03); when the client reads too slowly,
 * notices wait, each list and each resource once, since two would say no more than one.
 */
export class ClientListen {
  readonly #context: CallContext
  readonly #report: OnDiagnostic | undefined
  readonly #waiting = new Map<string, Call>()
  readonly #damper: Damper
  #granted: SubscriptionFilter | undefined
  #sending: Promise<void> | undefined
  #isOver = false
  #end!: () => void
  readonly #ended: Promise<void> = new Promise((resolve) => {
    this.#end = resolve
  })
  #left: Promise<unknown> | undefined

  constructor(context: CallContext, clock: Clock, report: OnDiagnostic | undefined) {
    this.#context = context
    this.#report = report
    this.#damper = new Damper(clock, (key, change) => this.#send(key, change))
  }

  get isAcknowledged(): boolean {
    return this.#granted !== undefined
  }

  /** Tells the client what it will hear of; what waited for that and was granted follows. */
  acknowledge(granted: SubscriptionFilter): void {
    const held = [...this.#waiting.values()]
    this.#waiting.clear()
    this.#granted = granted
    this.#send('', acknowledgement(granted))
    for (const change of held) this.tell(change)
  }

  tell(change: Call): void {
    if (this.#isOver) return
    const uri = change.method === notice.resourceUpdated ? memberOf(change.params, 'uri') : undefined
    const key = typeof uri === 'string' ? uri : change.method
    if (this.#granted === undefined) this.#waiting.set(key, change)
    else if (typeof uri === 'string' ? this.#granted.resourceSubscriptions : filterAdmits(this.#granted, change)) {
      this.#damper.take(key, change)
    }
  }

  /** Stays until the client leaves, or until `end`; then gives the closing result. */
  async run(): Promise<Outcome> {
    const { signal } = this.#context
    const ended = abortable(this.#ended, signal)
    this.#left = ended.catch(() => undefined)
    try {
      await ended
      return { kind: 'result', value: {} }
    } finally {
      this.#isOver = true
      this.#damper.close()
    }
  }

  /** Ends it with its result once the client has taken what waits, unless it leaves before. */
  async end(): Promise<void> {
    this.#damper.release()
    await Promise.race([this.#sending, this.#left])
    this.#end()
  }

  #send(key: string, change: Call): void {
    if (this.#sending !== undefined) {
      this.#waiting.set(key, change)
      return
    }
    const sent = this.#emit(change)
    if (sent !== undefined) this.#sending = this.#sendWaiting(sent)
  }

  async #sendWaiting(first: Promise<void>): Promise<void> {
    await first
    for (let [next] = this.#waiting; next !== undefined && !this.#isOver; [next] = this.#waiting) {
      const [key, change] = next
      this.#waiting.delete(key)
      await this.#emit(change)
    }
    this.#sending = undefined
  }

  /** A carrier that cannot take a notice ends the call by its signal; here it is only reported. */
  #emit(change: Call): Promise<void> | undefined {
    const refused = (cause: unknown): void => {
      if (this.#isOver) return
      this.#report?.({
        level: 'debug',
        code: 'notice-not-sent',
        message: `A ${change.method} could not be sent.`,
        cause,
      })
    }
    try {
      return this.#context.emit(change)?.catch(refused)
    } catch (error) {
      refused(error)
      return undefined
    }
  }
}
