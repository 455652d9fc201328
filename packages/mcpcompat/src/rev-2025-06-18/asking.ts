import type { ServedContext } from '../contract/call-context.ts'
import type { Ask, Call, Outcome } from '../contract/call.ts'
import { abortable } from '../contract/abortable.ts'
import type { Clock } from '../contract/clock.ts'
import type { Dispatcher } from '../contract/dispatcher.ts'
import { method } from '../contract/methods.ts'
import { isOutcome } from '../contract/outcome.ts'
import { RpcError, rpcCode } from '../jsonrpc/errors.ts'
import type { JsonObject } from '../jsonrpc/json.ts'
import { nextRound } from '../results.ts'
import { type ClientQuestions, UnansweredError } from './client-questions.ts'
import type { LegacyFeatures } from './features.ts'

/** Who is asked. Most clients never are, so their questions are looked for only then. */
export interface AskedClient {
  readonly questions: ClientQuestions
}

/**
 * Calls a dispatcher on behalf of a client that knows no asks: what the dispatcher asks is put to the client as requests of
 * their own, and the call goes on with the answers (BR-121, BR-123), for a bounded number of rounds.
 */
export class AskingCaller {
  readonly #dispatcher: Dispatcher
  readonly #client: AskedClient
  readonly #clock: Clock

  constructor(dispatcher: Dispatcher, client: AskedClient, clock: Clock) {
    this.#dispatcher = dispatcher
    this.#client = client
    this.#clock = clock
  }

  call(call: Call, context: ServedContext, features: LegacyFeatures): Outcome | Promise<Outcome> {
    const outcome = this.#dispatcher.call(call, context)
    if (isOutcome(outcome)) return outcome.kind === 'ask' ? this.#goOn(call, context, features, outcome) : outcome
    return this.#later(call, context, features, outcome)
  }

  /** By itself, since a closure costs every call of the function that holds it. */
  #later(call: Call, context: ServedContext, features: LegacyFeatures, outcome: Promise<Outcome>): Promise<Outcome> {
    return outcome.then((later) => (later.kind === 'ask' ? this.#goOn(call, context, features, later) : later))
  }

  async #goOn(call: Call, context: ServedContext, features: LegacyFeatures, first: Ask): Promise<Outcome> {
    let ask = first
    for (let round = 1; ; round++) {
      const next = nextRound(round, ask)
      if (next.kind === 'too-many-rounds') {
        throw new RpcError(rpcCode.internalError, `No result after ${next.maxRounds} rounds of questions`)
      }
      if (next.pauseMs > 0) await pause(this.#clock, next.pauseMs, context.signal)
      let inputResponses: JsonObject = {}
      try {
        if (ask.inputRequests !== undefined) {
          inputResponses = await this.#client.questions.ask(context, ask.inputRequests, features)
        }
      } catch (error) {
        if (error instanceof UnansweredError) return unanswered(call, error)
        throw error
      }
      context.resume =
        ask.requestState === undefined ? { inputResponses } : { requestState: ask.requestState, inputResponses }
      const outcome = await this.#dispatcher.call(call, context)
      if (outcome.kind !== 'ask') return outcome
      ask = outcome
    }
  }
}

/** How a call ends whose question was not answered: a model can read why its tool gave nothing (BR-122). */
function unanswered(call: Call, error: UnansweredError): Outcome {
  if (call.method !== method.callTool) throw new RpcError(rpcCode.internalError, error.message, { cause: error })
  return { kind: 'result', value: { content: [{ type: 'text', text: error.message }], isError: true } }
}

/** Waits, or rejects with the signal's reason. */
function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  let timer: Disposable | undefined
  const waiting = new Promise<void>((resolve) => {
    timer = clock.after(delayMs, resolve, { holdsProcess: true })
  })
  return abortable(waiting, signal).finally(() => timer?.[Symbol.dispose]())
}
