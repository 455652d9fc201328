import { abortable } from '../contract/abortable.ts'
import type { ServedContext } from '../contract/call-context.ts'
import type { Call } from '../contract/call.ts'
import type { Clock } from '../contract/clock.ts'
import { toRpcError } from '../contract/failure.ts'
import { method, notice } from '../contract/methods.ts'
import type { PeerPort } from '../contract/peer-port.ts'
import type { PeerAskOptions } from '../contract/peer-session.ts'
import { within } from '../contract/within.ts'
import { withResolvers } from '../contract/with-resolvers.ts'
import { missingCapability, missingForInput } from '../input-requests.ts'
import { withMember } from '../jsonrpc/edit.ts'
import { AteneaError, RpcError, rpcCode } from '../jsonrpc/errors.ts'
import { isJsonObject, type JsonRecord } from '../jsonrpc/json.ts'
import type { RpcId, RpcResponse } from '../jsonrpc/message.ts'
import { memberOf } from '../member.ts'
import { metaKey } from '../meta.ts'
import type { LegacyFeatures } from './features.ts'
import { questionForLegacy } from './question-form.ts'

export interface ClientQuestionsOptions {
  readonly port: PeerPort
  readonly clock: Clock
  /** How long a person may think, in milliseconds. */
  readonly answerTimeoutMs: number
  /** Questions that may be open at the same time. */
  readonly maxOpen: number
  /** Resolves when the client may be asked (LG-LIFE-05). */
  readonly ready: () => Promise<void>
}

/** A round cannot go on: the client did not say what only it can say (BR-122). The message tells why and is ours. */
export class UnansweredError extends AteneaError {
  override readonly name: string = 'UnansweredError'
}

interface OpenQuestion {
  readonly method: string
  /** Set for somebody else's question: its answer, also a refusal, is for them to read. */
  readonly relayed: Relayed | undefined
  readonly resolve: (answer: JsonRecord) => void
  readonly reject: (reason: unknown) => void
  readonly timer: Disposable
}

/** What passes between a client and somebody whose question was put to it. */
interface Relayed {
  readonly onProgress: PeerAskOptions['onProgress']
  lastProgress: number
}

/**
 * The requests that a session has sent to its client and that wait for an answer (BR-121). Their ids are this side's own and
 * never used twice.
 */
export class ClientQuestions {
  readonly #options: ClientQuestionsOptions
  readonly #open = new Map<RpcId, OpenQuestion>()
  #lastId = 0
  #unheard: string | undefined
  /** Rounds that wait until the client may be asked. */
  readonly #waiting = new Set<() => void>()

  constructor(options: ClientQuestionsOptions) {
    this.#options = options
  }

  /**
   * Puts all questions of a round to the client at once, on the stream of the call that asks, and waits for every answer. Only
   * what the client declared is asked (MC-MRTR-06). Rejects with the signal's reason when it aborts, and with an `UnansweredError` when the
   * round cannot go on; either way no question of the round stays open. Answers stay as they came.
   */
  async ask(
    context: ServedContext,
    questions: ReadonlyMap<string, Call>,
    features: LegacyFeatures,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, JsonRecord>> {
    const round = [...questions].map(([key, question]) => {
      const missing = missingForInput(context.peer.capabilities, question)
      if (missing !== undefined) throw toRpcError(missingCapability(missing))
      const id = ++this.#lastId
      return { key, id, method: question.method, params: questionForLegacy(question, features, id) }
    })
    await this.#mayAsk(signal)
    signal.throwIfAborted()
    if (this.#open.size + round.length > this.#options.maxOpen) {
      throw new RpcError(rpcCode.internalError, 'Too many questions to the client are open')
    }
    const withdrawAll = (reason: unknown): void => {
      for (const { id } of round) this.#withdraw(id, reason)
    }
    const onAbort = (): void => withdrawAll(signal.reason)
    signal.addEventListener('abort', onAbort)
    try {
      const answers = round.map(async ({ key, id, method: name, params }) => {
        return [key, await this.#put(id, name, params, context.id)] as const
      })
      return new Map(await Promise.all(answers))
    } catch (error) {
      withdrawAll(error)
      throw error
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  /**
   * Puts the question of somebody else to the client and gives the answer as it came (BR-307). Rejects with the client's own error, the
   * signal's reason, or an `RpcError` when no answer can come.
   */
  async relay(question: Call, callId: RpcId | undefined, options: PeerAskOptions): Promise<JsonRecord> {
    const { signal, onProgress } = options
    signal?.throwIfAborted()
    const { ready, answerTimeoutMs, clock } = this.#options
    const mayAsk = signal === undefined ? ready() : abortable(ready(), signal)
    if (!(await within(mayAsk, answerTimeoutMs, clock)))
      throw unanswered('The client did not say in time that it is initialized')
    signal?.throwIfAborted()
    if (this.#open.size >= this.#options.maxOpen) throw unanswered('Too many questions to the client are open')
    const id = ++this.#lastId
    const onAbort = (): void => this.#withdraw(id, signal?.reason)
    signal?.addEventListener('abort', onAbort)
    try {
      const params = onProgress === undefined ? question.params : withProgressToken(question.params, id)
      return await this.#put(id, question.method, params, callId, {
        onProgress,
        lastProgress: Number.NEGATIVE_INFINITY,
      })
    } finally {
      signal?.removeEventListener('abort', onAbort)
    }
  }

  /** Waits until the client may be asked. One that never says so counts as one that does not answer. */
  async #mayAsk(signal: AbortSignal): Promise<void> {
    const { ready, answerTimeoutMs, clock } = this.#options
    const over = withResolvers<void>()
    this.#waiting.add(over.resolve)
    try {
      const settled = Promise.race([ready(), over.promise])
      if (await within(abortable(settled, signal), answerTimeoutMs, clock)) return
    } finally {
      this.#waiting.delete(over.resolve)
    }
    throw new UnansweredError('The client did not say in time that it is initialized')
  }

  /** Takes the client's answer. False when no question waits for it, such as one that came too late. */
  answered(message: RpcResponse): boolean {
    const { id } = message
    const question = id === undefined ? undefined : this.#open.get(id)
    if (id === undefined || question === undefined) return false
    this.#close(id, question)
    if (message.kind === 'result') question.resolve(message.result)
    else if (question.relayed !== undefined) question.reject(toRpcError(message.error))
    else this.#leaveUnanswered(question, `The client refused: ${message.error.message.slice(0, 200)}`)
    return true
  }

  /** Takes what a client says of its progress. It is dropped when it does not grow, or when nobody wants to hear of it. */
  progressed(params: JsonRecord | undefined): void {
    const token = memberOf(params, metaKey.progressToken)
    const relayed = typeof token === 'number' ? this.#open.get(token)?.relayed : undefined
    const progress = memberOf(params, 'progress')
    if (params === undefined || relayed === undefined || typeof progress !== 'number') return
    if (progress <= relayed.lastProgress) return
    relayed.lastProgress = progress
    relayed.onProgress?.(params)
  }

  /** No answer can come any more: what is open, and what is asked later, counts as unanswered. */
  end(reason: string): void {
    this.#unheard = reason
    for (const resolve of this.#waiting) resolve()
    for (const [id, question] of this.#open) {
      this.#close(id, question)
      this.#leaveUnanswered(question, reason)
    }
  }

  #put(id: RpcId, name: string, params: JsonRecord, callId: RpcId | undefined, relayed?: Relayed): Promise<JsonRecord> {
    return new Promise((resolve, reject) => {
      const { clock, answerTimeoutMs, port } = this.#options
      const timer = clock.after(answerTimeoutMs, () => this.#timedOut(id))
      const question: OpenQuestion = { method: name, relayed, resolve, reject, timer }
      this.#open.set(id, question)
      if (this.#unheard !== undefined) {
        this.#close(id, question)
        this.#leaveUnanswered(question, this.#unheard)
        return
      }
      void port.send({ kind: 'request', id, method: name, params }, callId === undefined ? {} : { relatedTo: callId })
    })
  }

  #timedOut(id: RpcId): void {
    const question = this.#open.get(id)
    if (question === undefined) return
    this.#close(id, question)
    this.#tellCancelled(id, 'No answer in time')
    this.#leaveUnanswered(question, 'The client did not answer in time')
  }

  /** A form that nobody filled in is a cancelled form; nobody can make up roots or the words of a model (BR-122). */
  #leaveUnanswered(question: OpenQuestion, reason: string): void {
    if (question.relayed !== undefined) question.reject(unanswered(reason))
    else if (question.method === method.elicit) question.resolve({ action: 'cancel' })
    else question.reject(new UnansweredError(reason))
  }

  #withdraw(id: RpcId, reason: unknown): void {
    const question = this.#open.get(id)
    if (question === undefined) return
    this.#close(id, question)
    this.#tellCancelled(id, 'The answer is not needed any more')
    question.reject(reason)
  }

  #tellCancelled(id: RpcId, reason: string): void {
    const params = { requestId: id, reason }
    void this.#options.port.send({ kind: 'notification', method: notice.cancelled, params })
  }

  #close(id: RpcId, question: OpenQuestion): void {
    this.#open.delete(id)
    question.timer[Symbol.dispose]()
  }
}

/** Progress of a client comes under the id of its question, which nobody else uses. */
function withProgressToken(params: JsonRecord, id: RpcId): JsonRecord {
  const meta = memberOf(params, '_meta')
  return withMember(params, '_meta', { ...(isJsonObject(meta) && meta), [metaKey.progressToken]: id })
}

/** What is told to those whose question was relayed and will not be answered. */
function unanswered(reason: string): RpcError {
  return new RpcError(rpcCode.internalError, reason)
}
