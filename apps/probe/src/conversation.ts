import type { Era, JsonObject } from '@atenea/mcpcompat'
import { inspectAnswer } from './checks/inspect-answer.ts'
import { obstacleOf, unusable } from './checks/obstacles.ts'
import type { FindingId } from './findings/catalog.ts'
import type { ProbeOptions } from './probe-options.ts'
import type { Recorder, Seen } from './recorder.ts'
import { showAnswer } from './show.ts'
import type { AskOptions, Talk } from './talk.ts'
import type { Answer, HttpPart } from './wire/answer.ts'
import { isBusy } from './wire/patience.ts'

/** Thrown to end the checks of one era early; what was found so far stands. */
export class ConversationEnded extends Error {
  override readonly name: string = 'ConversationEnded'
}

/** How long a server is waited for that may keep silent. */
const silenceMs = 3_000
/** A server that lets this many requests wait is not asked any further. */
const maxUnanswered = 3

/** How long things may take. */
export type Limits = Pick<ProbeOptions, 'timeoutMs' | 'budgetMs'>

/** A talk whose every answer is looked at, with the means to report. */
export class Conversation {
  readonly talk: Talk
  readonly recorder: Recorder
  /** Asked when the connection breaks: what is known about why. */
  readonly #epitaph: () => Promise<string>
  #unanswered = 0
  #wall: HttpPart | undefined

  readonly #limits: Limits
  readonly #started = performance.now()

  constructor(talk: Talk, recorder: Recorder, limits: Limits, epitaph: () => Promise<string>) {
    this.talk = talk
    this.recorder = recorder
    this.#limits = limits
    this.#epitaph = epitaph
  }

  get era(): Era {
    return this.talk.era
  }

  /** The first answer that wanted credentials. */
  get wall(): HttpPart | undefined {
    return this.#wall
  }

  found(id: FindingId, seen: Omit<Seen, 'era'>): void {
    this.recorder.found(id, { ...seen, era: this.era })
  }

  /** A request that a good client sends; its answer is checked in every way that holds for all. */
  async ask(method: string, params: JsonObject = {}, options: AskOptions = {}): Promise<Answer> {
    const came = await this.raw(method, params, options)
    const obstacle = obstacleOf(came, 'good-request')
    const answer = obstacle === undefined ? came : this.#meet(obstacle, method, came)
    inspectAnswer(this, { method, params, options, answer })
    return answer
  }

  /** A message that a good client would not send, or whose answer follows rules of its own. Only its being answered is checked. */
  async raw(method: string, params: JsonObject = {}, options: AskOptions = {}): Promise<Answer> {
    const { timeoutMs, budgetMs = Math.max(6 * timeoutMs, 15_000) } = this.#limits
    if (performance.now() - this.#started > budgetMs) {
      this.found('checks-cut-short', { evidence: `${budgetMs} ms were over before ${method}` })
      throw new ConversationEnded('the time for all checks is over')
    }
    const patience = options.mayBeSilent === true ? Math.min(timeoutMs, silenceMs) : timeoutMs
    const answer = await this.talk.send(method, params, { ...options, timeoutMs: options.timeoutMs ?? patience })
    const { failure } = answer
    if (failure === undefined) {
      const obstacle = obstacleOf(answer, 'any-request')
      return obstacle === undefined ? answer : this.#meet(obstacle, method, answer)
    }
    if (failure.kind === 'timeout') {
      if (options.idText !== null && options.mayBeSilent !== true) this.#onSilence(method, answer)
      return answer
    }
    const epitaph = await this.#epitaph()
    this.found('connection-broken', {
      subject: method,
      evidence: `${method} → ${showAnswer(answer)}${epitaph === '' ? '' : `; ${epitaph}`}`,
    })
    // over HTTP the next request makes a connection of its own
    if (this.talk.carrier === 'lines' || failure.kind === 'unreachable') throw new ConversationEnded(failure.message)
    return answer
  }

  /** Reports what stands between a request and its answer. What comes back cannot be taken for the answer. */
  #meet(obstacle: FindingId, method: string, answer: Answer): Answer {
    const evidence = `${method} → ${showAnswer(answer)}`
    this.found(obstacle, { ...(obstacle === 'error-malformed' && { subject: method }), evidence })
    if (answer.http?.status === 401 || answer.http?.status === 407) this.#wall ??= answer.http
    if (isBusy(answer)) throw new ConversationEnded(evidence)
    return unusable(answer)
  }

  #onSilence(method: string, answer: Answer): void {
    this.found('request-unanswered', { subject: method, evidence: `${method} → ${showAnswer(answer)}` })
    this.#unanswered += 1
    if (this.#unanswered >= maxUnanswered) throw new ConversationEnded('too many requests are not answered')
  }
}
