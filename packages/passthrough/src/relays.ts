import {
  type Call,
  type CallContext,
  isJsonObject,
  type Outcome,
  RpcError,
  rpcCode,
  TransportError,
  toValue,
} from '@atenea/mcpcompat'
import { type ClientConnection, type Clock, isOutcome, keepsSessions } from '@atenea/mcpcompat/transport'
import type { Lease } from './asking-pool.ts'
import { withoutAsks } from './asks-of.ts'
import { Deadlines } from './deadlines.ts'
import type { OnPassthroughEvent } from './events.ts'
import { askNotBridged, failureForCaller, overdue } from './failures.ts'
import type { Link } from './link.ts'
import type { Links, Made } from './links.ts'
import type { Parking, ParkingAsk } from './parking/parking.ts'
import { type CallLimits, isAborted, RelayedCall } from './relayed-call.ts'

export interface RelaysOptions {
  /** The name of the backend. */
  readonly backend: string
  readonly links: Links
  readonly limits: CallLimits
  /** Where calls wait for answers to questions that cross between the kinds of peers; none cross without it. */
  readonly parking: Parking | undefined
  readonly onEvent: OnPassthroughEvent | undefined
  readonly clock: Clock
}

/**
 * Calls on their way to one backend and back: within their time, never made twice unless they were certainly not carried out, and told to their
 * callers in words that may reach them.
 */
export class Relays implements Disposable {
  /** Calls and subscriptions that are open. */
  open = 0
  readonly #name: string
  readonly #links: Links
  readonly #limits: CallLimits
  readonly #parking: Parking | undefined
  readonly #onEvent: OnPassthroughEvent | undefined
  readonly #now: () => number
  readonly #deadlines: Deadlines

  constructor({ backend, links, limits, parking, onEvent, clock }: RelaysOptions) {
    this.#name = backend
    this.#links = links
    this.#limits = limits
    this.#parking = parking
    this.#onEvent = onEvent
    this.#now = () => clock.now()
    this.#deadlines = new Deadlines(clock, Math.min(limits.callTimeoutMs, limits.maxCallMs))
  }

  call(call: Call, context: CallContext): Outcome | Promise<Outcome> {
    this.open++
    if (this.#isParked(context)) return this.#resume(call, context)
    const link = this.#links.of(context)
    const connection = link?.connection
    if (link === undefined || connection === undefined || this.#links.mayBeAsked(call, context)) {
      return this.#callLater(call, context)
    }
    return this.#relay(call, context, link, connection)
  }

  [Symbol.dispose](): void {
    this.#deadlines.end()
  }

  async #callLater(call: Call, context: CallContext): Promise<Outcome> {
    let made: Made
    try {
      made = await this.#links.connectFor(call, context, context.signal)
    } catch (error) {
      this.open--
      throw context.signal.aborted ? error : failureForCaller(error, this.#name)
    }
    if (this.#isParked(context)) return await this.#resume(call, context)
    return await this.#relay(call, context, made.link, made.connection, made.lease)
  }

  /** Whether the backend may ask the caller: always when they are of the same kind, and otherwise when questions cross. */
  #mayAsk(context: CallContext, connection: ClientConnection): boolean {
    return this.#parking !== undefined || (context.session !== undefined) === keepsSessions(connection.observed)
  }

  #relay(call: Call, context: CallContext, link: Link, connection: ClientConnection, lease?: Lease): Promise<Outcome> {
    const mayAsk = this.#mayAsk(context, connection)
    const relayed = this.#begin(call, context, mayAsk)
    relayed.lease = lease
    link.openCalls++
    try {
      const outcome = connection.call(call, relayed)
      return this.#follow(isOutcome(outcome) ? Promise.resolve(outcome) : outcome, relayed, link, connection, mayAsk)
    } catch (error) {
      return this.#failed(error, relayed, link, connection, mayAsk)
    }
  }

  // By itself, since closures cost every call of the function that holds them.
  #follow(
    outcome: Promise<Outcome>,
    relayed: RelayedCall,
    link: Link,
    connection: ClientConnection,
    mayAsk: boolean,
  ): Promise<Outcome> {
    return outcome.then(
      (value) => this.#answered(value, relayed, link, mayAsk),
      (error: unknown) => this.#failed(error, relayed, link, connection, mayAsk),
    )
  }

  #answered(outcome: Outcome, relayed: RelayedCall, link: Link, mayAsk: boolean): Outcome | Promise<Outcome> {
    link.succeeded()
    if (outcome.kind !== 'ask') {
      this.#end(relayed, link)
      return outcome
    }
    return this.#asked(outcome, relayed, link, mayAsk)
  }

  async #failed(
    error: unknown,
    relayed: RelayedCall,
    link: Link,
    connection: ClientConnection,
    mayAsk: boolean,
  ): Promise<Outcome> {
    try {
      const { call, origin, expiredAfterMs } = relayed
      if (isAborted(origin)) throw error
      if (expiredAfterMs !== undefined) throw this.#overdue(call, expiredAfterMs)
      if (this.#isUnsent(error, connection, link)) {
        relayed.lease?.release()
        return await this.#again(call, origin, error, mayAsk)
      }
      if (TransportError.is(error) && (error.kind === 'unreachable' || error.kind === 'timeout')) link.failed(error)
      else if (TransportError.is(error) && error.kind === 'unknown-outcome') link.lostCalls++
      else if (RpcError.is(error)) link.succeeded()
      throw failureForCaller(error, this.#name)
    } finally {
      this.#end(relayed, link)
    }
  }

  #begin(call: Call, origin: CallContext, mayAsk: boolean): RelayedCall {
    const shownAs = mayAsk ? undefined : withoutAsks
    const relayed = new RelayedCall({ call, origin, shownAs, limits: this.#limits, now: this.#now })
    this.#deadlines.add(relayed)
    return relayed
  }

  /** Nobody waits for this any more, and no time runs for it. */
  #stop(relayed: RelayedCall): void {
    relayed.end()
    this.#deadlines.remove(relayed)
  }

  #end(relayed: RelayedCall, link: Link): void {
    this.#stop(relayed)
    this.open--
    this.#leave(link, relayed.lease, relayed.lease !== undefined && relayed.isAborted)
  }

  /** A call needs its connection no more. */
  #leave(link: Link, lease: Lease | undefined, isGivenUp: boolean): void {
    link.openCalls--
    link.lastUsed = this.#now()
    if (isGivenUp) lease?.giveUp()
    else lease?.release()
    this.#links.left(link)
  }

  // questions

  #asked(ask: AskOutcome, relayed: RelayedCall, link: Link, mayAsk: boolean): Outcome | Promise<Outcome> {
    const { call, origin, lease } = relayed
    if (!mayAsk || !isParking(ask)) {
      this.#end(relayed, link)
      if (!mayAsk) throw askNotBridged(ask, call)
      return ask
    }
    this.#stop(relayed)
    this.open--
    // The call that waits holds its connection.
    void ask.parked.ended.then((how) => this.#leave(link, lease, how === 'given-up' || how === 'expired'))
    return this.#park(ask, call, origin, 1)
  }

  #park(ask: ParkingAsk, call: Call, context: CallContext, round: number): Promise<Outcome> {
    const parking = this.#parking
    if (parking === undefined) throw new TypeError('nothing is asked where nothing may be asked')
    return parking.park(ask, this.#name, call, context, round)
  }

  /** Whether a caller may come back with answers to a question, for the call that waits for them. */
  #isParked({ session, resume }: CallContext): boolean {
    return (
      resume?.requestState !== undefined &&
      session === undefined &&
      this.#links.keepsSessions === true &&
      this.#parking !== undefined
    )
  }

  /** No new call: the one that waits goes on (BR-205). */
  async #resume(call: Call, context: CallContext): Promise<Outcome> {
    const parking = this.#parking
    if (parking === undefined) throw new TypeError('nothing is resumed where nothing may be asked')
    try {
      const parked = await parking.take(this.#name, call, context)
      const relayed = this.#begin(call, parked.context, true)
      try {
        const outcome = await parked.resume(call, relayed)
        return isParking(outcome) ? await this.#park(outcome, call, context, parked.round + 1) : outcome
      } catch (error) {
        throw this.#told(error, relayed)
      } finally {
        this.#stop(relayed)
      }
    } finally {
      this.open--
    }
  }

  // calls that were not carried out

  /**
   * Whether the call was certainly not carried out, and another connection may help: the connection had ended before, or the backend does not
   * serve the revision any more that it had shown (BR-127). A connection of no use is given up, with all that is open on it; one whose server
   * contradicts itself is not (H09).
   */
  #isUnsent(error: unknown, connection: ClientConnection, link: Link): boolean {
    if (TransportError.is(error)) {
      if (error.kind !== 'closed' || this.#links.isClosed) return false
    } else if (
      !RpcError.is(error) ||
      error.code !== rpcCode.unsupportedVersion ||
      this.#links.keepsSessions !== false
    ) {
      return false
    }
    if (!RpcError.is(error) || !stillServes(error, connection)) link.discard(connection, error)
    return true
  }

  async #again(call: Call, context: CallContext, first: unknown, mayAsk: boolean): Promise<Outcome> {
    // What a connection that is gone had asked cannot be answered on another one.
    if (context.resume !== undefined) throw failureForCaller(first, this.#name)
    const relayed = this.#begin(call, context, mayAsk)
    let made: Made
    try {
      made = await this.#links.connectFor(call, context, relayed.signal)
    } catch (error) {
      this.#stop(relayed)
      throw this.#told(error, relayed)
    }
    const { link, connection } = made
    relayed.lease = made.lease
    this.open++
    link.openCalls++
    let outcome: Outcome
    try {
      outcome = await connection.call(call, relayed)
    } catch (error) {
      this.#end(relayed, link)
      throw this.#told(error, relayed)
    }
    return await this.#answered(outcome, relayed, link, mayAsk)
  }

  /** What the caller hears of a call that failed. */
  #told(error: unknown, { origin, call, expiredAfterMs }: RelayedCall): unknown {
    if (isAborted(origin)) return error
    return expiredAfterMs === undefined ? failureForCaller(error, this.#name) : this.#overdue(call, expiredAfterMs)
  }

  #overdue(call: Call, afterMs: number): RpcError {
    this.#onEvent?.({ kind: 'timeout', backend: this.#name, method: call.method, afterMs })
    return overdue(this.#name, afterMs)
  }
}

type AskOutcome = Outcome & { readonly kind: 'ask' }

/** Whether a call waits behind an ask. */
function isParking(outcome: Outcome): outcome is ParkingAsk {
  return outcome.kind === 'ask' && outcome.parked !== undefined
}

/** Whether a refusal of the revision that is spoken names that very revision among those that are served. */
function stillServes({ data }: RpcError, { observed }: ClientConnection): boolean {
  const refusal = data === undefined ? null : toValue(data)
  const supported = isJsonObject(refusal) ? refusal['supported'] : undefined
  return Array.isArray(supported) && supported.includes(observed)
}
