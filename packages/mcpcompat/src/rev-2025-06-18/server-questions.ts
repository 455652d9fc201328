import type { Ask, Call, Outcome } from '../contract/call.ts'
import type { Clock } from '../contract/clock.ts'
import type { CallContext } from '../contract/context.ts'
import { method } from '../contract/methods.ts'
import type { PeerPort } from '../contract/peer-port.ts'
import type { PendingCall } from '../contract/pending-calls.ts'
import { askingMethods, missingForInput } from '../input-requests.ts'
import { RpcError, rpcCode } from '../jsonrpc/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue, toObject, toValue } from '../jsonrpc/json.ts'
import type { RpcId, RpcRequest, RpcResponse } from '../jsonrpc/message.ts'
import { canonicalize } from '../jsonrpc/stringify.ts'
import { metaKey } from '../meta.ts'

export interface ServerQuestionsOptions {
  readonly port: PeerPort
  readonly clock: Clock
  /** Questions that come within this time of the first become one ask, in milliseconds. */
  readonly joinMs: number
  /** How long a call may wait for the caller's answers, in milliseconds. */
  readonly parkedMs: number
  readonly maxParked: number
  /** Ends the call of a caller with an ask; the request on the wire stays open. */
  readonly suspend: (pending: PendingCall, ask: Outcome) => void
  /** Cancels the request on the wire of a call that nobody resumed. */
  readonly abandon: (pending: PendingCall) => void
}

/** A request of the server that waits for the answer of a caller. */
interface Question {
  readonly id: RpcId
  readonly key: string
  readonly call: Call
}

/** What the server asks during one call. */
interface Conversation {
  readonly pending: PendingCall
  /** Asked and not yet part of an ask. */
  queued: Question[]
  /** Part of the ask that the caller has. */
  asked: Question[]
  /** The single-use name of that ask; set while the call is parked. */
  handle: string | undefined
  timer: Disposable | undefined
  /** The answer of the server when it came although nobody had answered its questions. */
  early: RpcResponse | undefined
  keys: number
}

/**
 * Questions that a legacy server asks in the middle of a call, as asks of that call (BR-221 to BR-227). The call's request
 * stays open on the wire while its caller looks for answers; the caller comes back with the handle, which names this process
 * and nothing else, is good for one retry of the same call by the same principal, and expires.
 */
export class ServerQuestions {
  readonly #options: ServerQuestionsOptions
  readonly #conversations = new Map<PendingCall, Conversation>()
  readonly #parked = new Map<string, Conversation>()

  constructor(options: ServerQuestionsOptions) {
    this.#options = options
  }

  /**
   * Takes a request of the server. It belongs to the call that its carrier names, or else to the only call that could be meant;
   * one that nobody can answer is answered here (BR-222, BR-223).
   */
  take(message: RpcRequest, open: readonly PendingCall[], relatedTo: RpcId | undefined): void {
    const call: Call = {
      method: message.method,
      params: withoutToken(message.params === undefined ? {} : toObject(message.params)),
    }
    const candidates = open.filter(
      (pending) =>
        askingMethods.has(pending.call.method) &&
        (relatedTo === undefined || pending.id === relatedTo) &&
        missingForInput(pending.context.peer.capabilities, call) === undefined,
    )
    const [pending] = candidates
    const conversation = candidates.length === 1 && pending !== undefined ? this.#conversationOf(pending) : undefined
    if (conversation === undefined) {
      this.#answerAlone(message.id, message.method)
      return
    }
    conversation.queued.push({ id: message.id, key: `question-${++conversation.keys}`, call })
    if (conversation.handle === undefined) this.#joinSoon(conversation)
  }

  /** Whether the call waits for its caller; nothing but its answer concerns it then. */
  isParked(pending: PendingCall): boolean {
    return this.#conversations.get(pending)?.handle !== undefined
  }

  /** Keeps the answer to a parked call until its caller comes back. False when the call is not parked. */
  keepAnswer(pending: PendingCall, response: RpcResponse): boolean {
    const conversation = this.#conversations.get(pending)
    if (conversation?.handle === undefined) return false
    conversation.early = response
    return true
  }

  /** The server takes a question back (BR-227). */
  withdrawn(id: RpcId | undefined): void {
    for (const conversation of this.#conversations.values()) {
      conversation.queued = conversation.queued.filter((question) => question.id !== id)
      // What the caller has been asked cannot be taken back; its answer is not sent.
      conversation.asked = conversation.asked.filter((question) => question.id !== id)
    }
  }

  /** The call is over, one way or the other; the server hears that its open questions lead to nothing. */
  forget(pending: PendingCall): void {
    const conversation = this.#conversations.get(pending)
    if (conversation === undefined) return
    this.#conversations.delete(pending)
    conversation.timer?.[Symbol.dispose]()
    if (conversation.handle !== undefined) this.#parked.delete(conversation.handle)
    for (const { id, call } of [...conversation.asked, ...conversation.queued]) this.#answerAlone(id, call.method)
  }

  /**
   * Goes on with a parked call. Throws an `RpcError` when there is none of that name for this caller and this call. Gives the
   * same questions under a new handle when answers are missing (BR-225), or the parked call and the answer that is there already.
   */
  resume(
    call: Call,
    context: CallContext,
  ): { readonly ask: Outcome } | { readonly pending: PendingCall; readonly early: RpcResponse | undefined } {
    const handle = context.resume?.requestState
    const conversation = handle === undefined ? undefined : this.#parked.get(handle)
    if (handle === undefined || conversation === undefined || !isSameCall(conversation.pending, call, context)) {
      throw new RpcError(rpcCode.invalidParams, 'The request state is unknown or has expired')
    }
    this.#parked.delete(handle)
    conversation.timer?.[Symbol.dispose]()
    conversation.timer = undefined
    const responses = context.resume?.inputResponses ?? {}
    const answers = conversation.asked.map((question) => ({ question, answer: answerTo(question, responses) }))
    if (answers.some(({ answer }) => answer === undefined)) return { ask: this.#park(conversation, conversation.asked) }
    conversation.handle = undefined
    conversation.asked = []
    for (const { question, answer } of answers) this.#send({ kind: 'result', id: question.id, result: answer ?? {} })
    conversation.pending.context = context
    if (conversation.queued.length > 0) this.#joinSoon(conversation)
    return { pending: conversation.pending, early: conversation.early }
  }

  /** Nobody can be answered any more. */
  end(): void {
    for (const conversation of this.#conversations.values()) conversation.timer?.[Symbol.dispose]()
    this.#conversations.clear()
    this.#parked.clear()
  }

  #conversationOf(pending: PendingCall): Conversation | undefined {
    const known = this.#conversations.get(pending)
    if (known !== undefined) return known
    if (this.#conversations.size >= this.#options.maxParked) return undefined
    const conversation: Conversation = {
      pending,
      queued: [],
      asked: [],
      handle: undefined,
      timer: undefined,
      early: undefined,
      keys: 0,
    }
    this.#conversations.set(pending, conversation)
    return conversation
  }

  #joinSoon(conversation: Conversation): void {
    if (conversation.timer !== undefined) return
    const ask = (): void => {
      conversation.timer = undefined
      if (conversation.queued.length === 0) return
      const questions = conversation.queued
      conversation.queued = []
      this.#options.suspend(conversation.pending, this.#park(conversation, questions))
    }
    conversation.timer = this.#options.clock.after(this.#options.joinMs, ask, { holdsProcess: true })
  }

  #park(conversation: Conversation, questions: Question[]): Outcome {
    const handle = randomHandle()
    conversation.asked = questions
    conversation.handle = handle
    this.#parked.set(handle, conversation)
    conversation.timer = this.#options.clock.after(this.#options.parkedMs, () => {
      this.forget(conversation.pending)
      this.#options.abandon(conversation.pending)
    })
    return { kind: 'ask', ...toAsk(questions, handle) }
  }

  /** What can be said without the caller: a form that nobody saw is cancelled, the rest is not possible here. */
  #answerAlone(id: RpcId, name: string): void {
    if (name === method.elicit) this.#send({ kind: 'result', id, result: { action: 'cancel' } })
    else if (name === method.createMessage) this.#fail(id, rpcCode.internalError, 'Nobody is there to answer')
    else this.#fail(id, rpcCode.methodNotFound, 'Method not found')
  }

  #fail(id: RpcId, code: number, message: string): void {
    this.#send({ kind: 'error', id, error: { code, message } })
  }

  #send(message: RpcResponse): void {
    const taken = this.#options.port.send(message)
    if (taken !== undefined) taken.then(undefined, () => undefined)
  }
}

/** The ask in the form of the modern revision. */
function toAsk(questions: readonly Question[], requestState: string): Ask {
  const inputRequests = new Map(questions.map(({ key, call }) => [key, call]))
  const requests = questions.map(
    ({ key, call }) => [key, { method: call.method, params: toValue(call.params) }] as const,
  )
  const raw: JsonObject = { resultType: 'input_required', inputRequests: Object.fromEntries(requests), requestState }
  return { inputRequests, requestState, raw }
}

/** The token of the server's own progress means nothing to the caller (BR-221). */
function withoutToken(params: JsonObject): JsonObject {
  const { _meta: meta, ...rest } = params
  if (!isJsonObject(meta)) return rest
  const { [metaKey.progressToken]: _token, ...kept } = meta
  return Object.keys(kept).length > 0 ? { ...rest, _meta: kept } : rest
}

/** A handle is good for the call that it was given for, and for whoever made it (MC-MRTR-10, -19). */
function isSameCall(pending: PendingCall, call: Call, context: CallContext): boolean {
  return (
    pending.context.principal.id === context.principal.id &&
    pending.call.method === call.method &&
    canonicalize(toValue(pending.call.params)) === canonicalize(toValue(call.params))
  )
}

/** The answer to one question, or `undefined` when there is none or it is something else, such as a wrapped one. */
function answerTo(question: Question, responses: JsonObject): JsonObject | undefined {
  const answer = Object.hasOwn(responses, question.key) ? responses[question.key] : undefined
  return isJsonObject(answer) && fits(question.call.method, answer) ? answer : undefined
}

function fits(name: string, answer: JsonObject): boolean {
  switch (name) {
    case method.elicit:
      return isAction(answer['action'])
    case method.createMessage:
      return answer['content'] !== undefined && typeof answer['role'] === 'string'
    default:
      return Array.isArray(answer['roots'])
  }
}

function isAction(value: JsonValue | undefined): boolean {
  return value === 'accept' || value === 'decline' || value === 'cancel'
}

/** 128 bits that nobody can guess: a handle is the only thing that a caller must show. */
function randomHandle(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
