import type { ServedContext } from '../contract/call-context.ts'
import type { Ask, Call, Outcome } from '../contract/call.ts'
import { abortable } from '../contract/abortable.ts'
import type { Clock } from '../contract/clock.ts'
import type { Resume } from '../contract/context.ts'
import type { Dispatcher } from '../contract/dispatcher.ts'
import { method } from '../contract/methods.ts'
import { isOutcome } from '../contract/outcome.ts'
import { RpcError, rpcCode } from '../jsonrpc/errors.ts'
import { type JsonRecord, toObject, toText } from '../jsonrpc/json.ts'
import { JsonText } from '../jsonrpc/json-text.ts'
import { nextRound } from '../results.ts'
import { type ClientQuestions, UnansweredError } from './client-questions.ts'
import type { LegacyFeatures } from './features.ts'

/** Who is asked. Most clients never are, so their questions are looked for only then. */
export interface AskedClient {
  readonly questions: ClientQuestions
}

/**
 * Calls a dispatcher on behalf of a client that knows no asks: what the dispatcher asks is put to the client as requests of
 * their own, and the call goes on with the answers (BR-121, BR-123), for a bounded number of rounds and a bounded time.
 */
export class AskingCaller {
  readonly #dispatcher: Dispatcher
  readonly #client: AskedClient
  readonly #clock: Clock
  readonly #budgetMs: number

  /** `budgetMs`: how long after its first question a call may go on asking. */
  constructor(dispatcher: Dispatcher, client: AskedClient, clock: Clock, budgetMs: number) {
    this.#dispatcher = dispatcher
    this.#client = client
    this.#clock = clock
    this.#budgetMs = budgetMs
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
    const { signal } = context
    // Not every dispatcher stops when its caller has given up.
    signal.throwIfAborted()
    const budget = new AbortController()
    const follow = (): void => budget.abort(signal.reason)
    signal.addEventListener('abort', follow, { once: true })
    const timer = this.#clock.after(this.#budgetMs, () => budget.abort(outOfTime(this.#budgetMs)))
    try {
      return await this.#rounds(call, context, features, first, budget.signal)
    } finally {
      timer[Symbol.dispose]()
      signal.removeEventListener('abort', follow)
    }
  }

  /** `limit` ends the asking; what the dispatcher takes for its answer is its own affair. */
  async #rounds(
    call: Call,
    context: ServedContext,
    features: LegacyFeatures,
    first: Ask,
    limit: AbortSignal,
  ): Promise<Outcome> {
    let ask = first
    for (let round = 1; ; round++) {
      limit.throwIfAborted()
      const next = nextRound(round, ask)
      if (next.kind === 'too-many-rounds') {
        throw new RpcError(rpcCode.internalError, `No result after ${next.maxRounds} rounds of questions`)
      }
      if (next.pauseMs > 0) await pause(this.#clock, next.pauseMs, limit)
      let answers: ReadonlyMap<string, JsonRecord> = new Map()
      try {
        if (ask.inputRequests !== undefined) {
          answers = await this.#client.questions.ask(context, ask.inputRequests, features, limit)
        }
      } catch (error) {
        if (error instanceof UnansweredError) return unanswered(call, error)
        throw error
      }
      context.resume = resumeWith(ask, answers)
      const outcome = await this.#dispatcher.call(call, context)
      if (outcome.kind !== 'ask') return outcome
      ask = outcome
    }
  }
}

/** The state byte for byte (MC-MRTR-16), and the answers as the client wrote them where that is at hand. */
function resumeWith({ requestState }: Ask, answers: ReadonlyMap<string, JsonRecord>): Resume {
  // fromEntries defines members, so a key named __proto__ stays data
  const inputResponses = Object.fromEntries([...answers].map(([key, answer]) => [key, toObject(answer)]))
  const state = requestState === undefined ? {} : { requestState }
  if (![...answers.values()].some((answer) => JsonText.is(answer))) return { ...state, inputResponses }
  const members = [...answers].map(([key, answer]) => `${JSON.stringify(key)}:${toText(answer)}`)
  return { ...state, inputResponses, responsesText: new JsonText(`{${members.join(',')}}`) }
}

function outOfTime(budgetMs: number): RpcError {
  return new RpcError(rpcCode.internalError, `No result within ${budgetMs} ms of questions`)
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
