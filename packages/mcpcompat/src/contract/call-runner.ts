import type { RpcId } from '../jsonrpc/message.ts'
import type { ServedContext } from './call-context.ts'
import type { Outcome } from './call.ts'
import type { OnDiagnostic } from './diagnostics.ts'
import { IdTable } from './id-table.ts'
import { isOutcome } from './outcome.ts'

export interface CallRunnerOptions {
  /** Handlers that may run at the same time, those of cancelled calls included until they return. */
  readonly maxInFlight: number
  readonly onDiagnostic?: OnDiagnostic | undefined
  /**
   * The calls are of many peers, who count their ids each for themselves. Thousands can then have the same one, so they are told apart by
   * what they are, and nothing can be asked for by its id.
   */
  readonly manyPeers?: boolean | undefined
}

/**
 * Runs the calls of one peer and knows which of them are open. A call that is answered at once leaves no trace here: it costs
 * no promise and is never entered. Ids are those of the peer, whatever the era of each call.
 */
export class CallRunner {
  /**
   * Made when it is needed: a server keeps a runner for each of its sessions, most of which have nothing open. By the ids of the peer, of
   * which several can be the same on carriers with a stream for each request, or by numbers of our own.
   */
  #open: IdTable<ServedContext> | undefined
  readonly #maxInFlight: number
  readonly #onDiagnostic: OnDiagnostic | undefined
  readonly #manyPeers: boolean
  #lastNumber = 0
  /** Handlers that have not returned. A cancelled call frees its id at once, but a handler that goes on counts on. */
  #running = 0
  #onIdle: (() => void)[] | undefined
  #onSettled: (() => void)[] | undefined

  constructor(options: CallRunnerOptions) {
    this.#maxInFlight = options.maxInFlight
    this.#onDiagnostic = options.onDiagnostic
    this.#manyPeers = options.manyPeers === true
  }

  /** Calls whose answer is still owed, as they are now. */
  get openCalls(): readonly ServedContext[] {
    return [...(this.#open?.values() ?? [])]
  }

  /** The open call with this id. */
  get(id: RpcId): ServedContext | undefined {
    return this.#open?.get(id)
  }

  /** Whether an answer under this id is still owed. */
  has(id: RpcId): boolean {
    return this.#open?.has(id) === true
  }

  /** Whether no further call may start now. */
  get full(): boolean {
    return this.#running >= this.#maxInFlight
  }

  /** Dispatches a call and hands its outcome to its host, at once when the outcome is there at once. */
  run(context: ServedContext): void {
    let outcome: Outcome | Promise<Outcome>
    try {
      outcome = context.host.dispatcher.call(context.call, context)
    } catch (error) {
      this.#settle(context, undefined, error)
      return
    }
    if (isOutcome(outcome)) {
      this.#settle(context, outcome, undefined)
      return
    }
    this.#follow(context, outcome)
  }

  // What holds closures is a method of its own: a function whose parameters a closure takes pays for that on every call, even
  // when it never comes so far.

  #follow(context: ServedContext, outcome: Promise<Outcome>): void {
    this.#enter(context)
    this.#running++
    Promise.resolve(outcome).then(
      (value) => this.#land(context, value, undefined),
      (error: unknown) => this.#land(context, undefined, error),
    )
  }

  /** Cancels an open call: its id is free at once, its signal aborts, and nothing is written for it any more. */
  cancel(context: ServedContext, reason: unknown): void {
    if (context.ended) return
    this.#open?.delete(this.#keyOf(context), context)
    context.cancel(reason)
    this.#wake()
  }

  /** Cancels every open call. */
  cancelAll(reason: unknown): void {
    for (const context of this.openCalls) this.cancel(context, reason)
  }

  /** Resolves when no answer is owed. */
  idle(): Promise<void> {
    return this.#nothingOwed ? Promise.resolve() : new Promise((resolve) => (this.#onIdle ??= []).push(resolve))
  }

  /** Resolves when no handler runs, those of cancelled calls included. */
  settled(): Promise<void> {
    return this.#running === 0 ? Promise.resolve() : new Promise((resolve) => (this.#onSettled ??= []).push(resolve))
  }

  #land(context: ServedContext, outcome: Outcome | undefined, error: unknown): void {
    this.#settle(context, outcome, error)
    this.#running--
    this.#wake()
  }

  /** The scope of a call is over before its answer is written, and for a cancelled call as well. */
  #settle(context: ServedContext, outcome: Outcome | undefined, error: unknown): void {
    let closing: void | Promise<void> = undefined
    try {
      closing = context.closeScope()
    } catch (reason) {
      this.#reportScope(reason)
    }
    if (closing === undefined) this.#answer(context, outcome, error)
    else this.#settleLater(context, outcome, error, closing)
  }

  #settleLater(context: ServedContext, outcome: Outcome | undefined, error: unknown, closing: Promise<void>): void {
    this.#running++
    if (!context.ended && this.#open?.has(this.#keyOf(context), context) !== true) this.#enter(context)
    const answer = (): void => {
      this.#answer(context, outcome, error)
      this.#running--
      this.#wake()
    }
    closing.then(answer, (reason: unknown) => {
      this.#reportScope(reason)
      answer()
    })
  }

  #answer(context: ServedContext, outcome: Outcome | undefined, error: unknown): void {
    if (context.ended) return
    context.ended = true
    if (this.#open !== undefined && this.#open.size !== 0) this.#open.delete(this.#keyOf(context), context)
    if (outcome === undefined) {
      context.host.refuse(context, error)
      return
    }
    try {
      context.host.answer(context, outcome)
    } catch (reason) {
      context.host.refuse(context, reason)
    }
  }

  get #nothingOwed(): boolean {
    return (this.#open?.size ?? 0) === 0
  }

  #enter(context: ServedContext): void {
    this.#open ??= new IdTable()
    if (this.#manyPeers) context.number = ++this.#lastNumber
    this.#open.add(this.#keyOf(context), context)
  }

  #keyOf(context: ServedContext): RpcId {
    return this.#manyPeers ? context.number : context.id
  }

  #wake(): void {
    if (this.#onIdle !== undefined && this.#nothingOwed) {
      for (const resolve of this.#onIdle.splice(0)) resolve()
    }
    if (this.#onSettled !== undefined && this.#running === 0) {
      for (const resolve of this.#onSettled.splice(0)) resolve()
    }
  }

  #reportScope(cause: unknown): void {
    this.#onDiagnostic?.({
      level: 'error',
      code: 'scope-failed',
      message: 'Something that a handler left to be cleaned up after its call failed.',
      cause,
    })
  }
}
