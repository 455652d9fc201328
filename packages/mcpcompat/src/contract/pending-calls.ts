import { TransportError } from '../jsonrpc/errors.ts'
import type { RpcId } from '../jsonrpc/message.ts'
import { memberOf } from '../member.ts'
import { Backlog } from './backlog.ts'
import type { Call, Outcome } from './call.ts'
import type { AbortWatcher, CallContext } from './context.ts'
import type { OnDiagnostic } from './diagnostics.ts'
import { IdTable } from './id-table.ts'
import { method } from './methods.ts'
import type { RequestContext } from './wire.ts'

/** One call that was sent and waits for its outcome. */
export class PendingCall {
  readonly id: RpcId
  readonly call: Call
  /** Replaced when the call goes on after an ask, on behalf of whoever resumed it. */
  context: CallContext
  /** What its caller has not taken yet; undefined until it is slow to take something. */
  backlog: Backlog | undefined
  #lastProgress = Number.NEGATIVE_INFINITY

  constructor(id: RpcId, call: Call, context: CallContext) {
    this.id = id
    this.call = call
    this.context = context
  }

  /** Whether a progress notice says more than the one before; others are dropped (MC-PROG-04, BR-229). */
  advances(notice: Call): boolean {
    const progress = memberOf(notice.params, 'progress')
    if (typeof progress !== 'number' || progress <= this.#lastProgress) return false
    this.#lastProgress = progress
    return true
  }
}

/** Somebody who waits for a call. */
class Waiting implements AbortWatcher {
  readonly pending: PendingCall
  resolve: (outcome: Outcome) => void = unheard
  reject: (reason: unknown) => void = unheard
  readonly #calls: PendingCalls
  readonly #context: CallContext
  readonly #onAbort: (pending: PendingCall, reason: unknown) => void
  #onSignal: (() => void) | undefined

  constructor(calls: PendingCalls, pending: PendingCall, onAbort: (pending: PendingCall, reason: unknown) => void) {
    this.#calls = calls
    this.pending = pending
    this.#context = pending.context
    this.#onAbort = onAbort
  }

  /** From now on it hears of the abort. */
  attach(): void {
    if (this.#context.watch !== undefined) {
      this.#context.watch(this)
      return
    }
    const { signal } = this.#context
    this.#onSignal = () => this.aborted(signal.reason)
    signal.addEventListener('abort', this.#onSignal, { once: true })
  }

  detach(): void {
    if (this.#onSignal === undefined) this.#context.unwatch?.(this)
    else this.#context.signal.removeEventListener('abort', this.#onSignal)
  }

  aborted(reason: unknown): void {
    this.#calls.reject(this.pending, reason)
    this.#onAbort(this.pending, reason)
  }
}

function unheard(): void {
  // Replaced before anybody can call it.
}

/**
 * Calls that wait for their outcome, by id. Each settles once: with an outcome, an error, or the reason of its signal the
 * moment that it aborts.
 */
export class PendingCalls {
  readonly #waiting = new IdTable<Waiting>()

  get size(): number {
    return this.#waiting.size
  }

  /** All calls that wait, as they are now. */
  get all(): readonly PendingCall[] {
    return [...this.#waiting.values()].map(({ pending }) => pending)
  }

  get(id: RpcId | undefined): PendingCall | undefined {
    return id === undefined ? undefined : this.#waiting.get(id)?.pending
  }

  /**
   * Waits for a call that is not aborted yet. `onAbort` runs when the caller gave up, after the call has rejected and is forgotten; one
   * function serves all calls.
   */
  wait(pending: PendingCall, onAbort: (pending: PendingCall, reason: unknown) => void): Promise<Outcome> {
    const waiting = new Waiting(this, pending, onAbort)
    this.#waiting.set(pending.id, waiting)
    waiting.attach()
    return new Promise((resolve, reject) => {
      waiting.resolve = resolve
      waiting.reject = reject
    })
  }

  resolve(pending: PendingCall, outcome: Outcome): void {
    this.#take(pending)?.resolve(outcome)
  }

  reject(pending: PendingCall, reason: unknown): void {
    this.#take(pending)?.reject(reason)
  }

  #take(pending: PendingCall): Waiting | undefined {
    const waiting = this.#waiting.get(pending.id)
    if (waiting === undefined || waiting.pending !== pending) return undefined
    this.#waiting.delete(pending.id)
    waiting.detach()
    return waiting
  }
}

/**
 * Hands a notice to whoever made the call. What goes wrong there is not the peer's affair. Callers that are slow miss some of what is only
 * said by the way, and hear of a change once.
 */
export function deliver(pending: PendingCall, notice: Call, onDiagnostic: OnDiagnostic | undefined): void {
  const report = (cause: unknown): void => {
    onDiagnostic?.({
      level: 'warning',
      code: 'notice-refused',
      message: 'A caller could not take a notice of its call.',
      cause,
    })
  }
  const { backlog } = pending
  if (backlog !== undefined && (pending.call.method === method.listen ? backlog.holds(notice) : backlog.isFull)) {
    onDiagnostic?.({
      level: 'debug',
      code: 'notice-left-out',
      message: 'A caller is too slow to take all notices of its call.',
    })
    return
  }
  try {
    const taken = pending.context.emit(notice)
    if (taken !== undefined) (pending.backlog ??= new Backlog()).add(notice, taken).catch(report)
  } catch (error) {
    report(error)
  }
}

/** Why calls fail whose connection is gone: what was sent may have been done, so it must not be repeated blindly. */
export function lostCall(cause: unknown): TransportError {
  return new TransportError(
    'unknown-outcome',
    `The connection ended before the answer came; the call may have been carried out${because(cause)}`,
    { cause },
  )
}

/** Why calls fail that can be made again: nothing was sent, or what was sent changes nothing. */
export function closedConnection(cause: unknown): TransportError {
  return new TransportError('closed', `The connection has ended${because(cause)}`, { cause, retryable: true })
}

/** What the carrier knows of the end, such as the exit code of a process. */
function because(cause: unknown): string {
  return TransportError.is(cause) ? `: ${cause.message}` : ''
}

/** What a call gives that has failed before it was made, since clients promise their outcomes. */
export async function failedCall(error: unknown): Promise<never> {
  throw error
}

/** Throws the reason when a call is aborted already. */
export function throwIfAborted(context: CallContext): void {
  // Asking for a signal would make one.
  if (context.isAborted !== false) context.signal.throwIfAborted()
}

/** What is written about a call whose caller wants progress: tokens need only be unique among what is open here, and so are ids (MC-PROG-02). */
export function withToken(context: CallContext, progressToken: RpcId): RequestContext {
  const { peer, metaText, logLevel, resume } = context
  return { peer, meta: metaText === undefined ? context.meta : noMeta, metaText, progressToken, logLevel, resume }
}

const noMeta = Object.freeze({})
