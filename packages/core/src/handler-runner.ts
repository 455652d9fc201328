import { type Call, type CallContext, type Outcome, RpcError } from '@atenea/mcpcompat'
import { linkSignals } from '@atenea/mcpcompat/transport'
import { type HandlerContext, type HandlerEnvironment, LazyHandlerContext } from './handler-context.ts'
import { AskReturn, admittedRequests, toAsk } from './input.ts'
import type { OpenedState, StateKeeper } from './request-state.ts'
import { isThenable } from './schema/validator.ts'
import { ToolError } from './tool-error.ts'

/** A handler together with how its results and failures are written. Made once, when it is registered. */
export interface Handler<Args> {
  /** Names it in messages, such as `tool "x"`. */
  readonly label: string
  /** Whether the method may answer with an ask (MC-MRTR-02). */
  readonly mayAsk: boolean
  readonly timeoutMs: number | undefined
  readonly invoke: (args: Args, context: HandlerContext) => unknown
  /** Writes what the handler returned. A `TypeError` for what is no result. */
  readonly encode: (returned: unknown, args: Args) => Outcome | Promise<Outcome>
  /** Writes what the handler threw, or throws it on. Never gets an `RpcError`. */
  readonly fail: (error: unknown) => Outcome
}

export interface RunnerEnvironment extends HandlerEnvironment {
  readonly states: StateKeeper
}

/** Runs handlers. One that answers at once, as most do, costs no promise and no closure. */
export class HandlerRunner {
  readonly #environment: RunnerEnvironment

  constructor(environment: RunnerEnvironment) {
    this.#environment = environment
  }

  run<Args>(handler: Handler<Args>, args: Args, call: Call, context: CallContext): Outcome | Promise<Outcome> {
    const requestState = context.resume?.requestState
    return requestState === undefined
      ? this.#round(handler, args, call, context, undefined)
      : this.#laterRound(handler, args, call, context, requestState)
  }

  /** State that a client brings is verified for every handler, also for one that never gave any (MC-MRTR-09). */
  async #laterRound<Args>(
    handler: Handler<Args>,
    args: Args,
    call: Call,
    context: CallContext,
    requestState: string,
  ): Promise<Outcome> {
    const opened = await this.#environment.states.open(requestState, call, context)
    return this.#round(handler, args, call, context, opened)
  }

  #round<Args>(
    handler: Handler<Args>,
    args: Args,
    call: Call,
    context: CallContext,
    opened: OpenedState | undefined,
  ): Outcome | Promise<Outcome> {
    if (handler.timeoutMs !== undefined)
      return this.#roundInTime(handler, args, call, context, opened, handler.timeoutMs)
    const own = new LazyHandlerContext(context, this.#environment, opened)
    let returned: unknown
    try {
      returned = handler.invoke(args, own)
    } catch (error) {
      own.finish()
      return failed(handler, error)
    }
    if (isThenable(returned)) return this.#settle(handler, args, call, context, opened, own, returned)
    return this.#conclude(handler, args, call, context, opened, own, returned)
  }

  async #settle<Args>(
    handler: Handler<Args>,
    args: Args,
    call: Call,
    context: CallContext,
    opened: OpenedState | undefined,
    own: LazyHandlerContext,
    pending: PromiseLike<unknown>,
  ): Promise<Outcome> {
    let returned: unknown
    try {
      returned = await pending
    } catch (error) {
      own.finish()
      // What a cancelled handler throws is its way of stopping, not a failure.
      if (context.signal.aborted) throw context.signal.reason
      return failed(handler, error)
    }
    return this.#conclude(handler, args, call, context, opened, own, returned)
  }

  async #roundInTime<Args>(
    handler: Handler<Args>,
    args: Args,
    call: Call,
    context: CallContext,
    opened: OpenedState | undefined,
    timeoutMs: number,
  ): Promise<Outcome> {
    using linked = linkSignals([context.signal], { timeoutMs })
    const own = new LazyHandlerContext(context, this.#environment, opened, linked.signal)
    let returned: unknown
    try {
      returned = await untilAborted(async () => handler.invoke(args, own), linked.signal)
    } catch (error) {
      own.finish()
      if (context.signal.aborted) throw context.signal.reason
      if (!linked.signal.aborted) return failed(handler, error)
      return handler.fail(new ToolError(`The ${handler.label} did not finish within ${timeoutMs} ms.`))
    }
    return await this.#conclude(handler, args, call, context, opened, own, returned)
  }

  #conclude<Args>(
    handler: Handler<Args>,
    args: Args,
    call: Call,
    context: CallContext,
    opened: OpenedState | undefined,
    own: LazyHandlerContext,
    returned: unknown,
  ): Outcome | Promise<Outcome> {
    own.finish()
    if (returned instanceof AskReturn) return this.#ask(handler, returned, call, context, opened)
    try {
      const outcome = handler.encode(returned, args)
      return outcome instanceof Promise ? orFailed(handler, outcome) : outcome
    } catch (error) {
      return failed(handler, error)
    }
  }

  #ask<Args>(
    handler: Handler<Args>,
    asked: AskReturn,
    call: Call,
    context: CallContext,
    opened: OpenedState | undefined,
  ): Outcome | Promise<Outcome> {
    if (!handler.mayAsk) return failed(handler, new TypeError(`${call.method} cannot ask for input`))
    const requests = admittedRequests(asked, context)
    const { state } = asked.options
    if (state === undefined) {
      if (requests.size === 0) return failed(handler, new TypeError('ask was given neither requests nor state'))
      return { kind: 'ask', ...toAsk(requests, undefined) }
    }
    return this.#environment.states
      .close(state, asked.options, (opened?.round ?? 0) + 1, call, context)
      .then((requestState): Outcome => ({ kind: 'ask', ...toAsk(requests, requestState) }))
      .catch((error: unknown) => failed(handler, error))
  }
}

function orFailed<Args>(handler: Handler<Args>, outcome: Promise<Outcome>): Promise<Outcome> {
  return outcome.catch((error: unknown) => failed(handler, error))
}

function failed<Args>(handler: Handler<Args>, error: unknown): Outcome {
  if (RpcError.is(error)) throw error
  return handler.fail(error)
}

/** The value, or the reason of the signal as soon as it aborts. */
function untilAborted<T>(run: () => Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error)
    signal.addEventListener('abort', onAbort, { once: true })
    run()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', onAbort))
  })
}
