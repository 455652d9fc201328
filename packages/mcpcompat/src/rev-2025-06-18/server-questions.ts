import type { Ask, Call, Outcome, ParkedCall, ParkedEnd } from '../contract/call.ts'
import type { Clock } from '../contract/clock.ts'
import type { CallContext, Resume } from '../contract/context.ts'
import { method } from '../contract/methods.ts'
import type { PeerPort } from '../contract/peer-port.ts'
import type { PendingCall } from '../contract/pending-calls.ts'
import { withResolvers } from '../contract/with-resolvers.ts'
import { askingMethods, inputRequestFault, missingForInput } from '../input-requests.ts'
import { RpcError, rpcCode } from '../jsonrpc/errors.ts'
import {
  isJsonObject,
  type JsonObject,
  type JsonRecord,
  type JsonValue,
  toObject,
  toText,
  toValue,
} from '../jsonrpc/json.ts'
import { JsonText } from '../jsonrpc/json-text.ts'
import type { RpcId, RpcRequest, RpcResponse } from '../jsonrpc/message.ts'
import { canonicalize } from '../jsonrpc/stringify.ts'
import { memberOf } from '../member.ts'
import { metaKey } from '../meta.ts'
import { nextRound } from '../results.ts'

export interface ServerQuestionsOptions {
  readonly port: PeerPort
  readonly clock: Clock
  /** Questions that come within this time of the first become one ask, in milliseconds. */
  readonly joinMs: number
  /** How long a call may wait for the caller's answers, in milliseconds. */
  readonly parkedMs: number
  readonly maxParked: number
  /** What `roots/list` is answered with that belongs to no call of anybody, if anything. */
  readonly ownRoots: JsonObject | undefined
  /** Ends the call of a caller with an ask; the request on the wire stays open. */
  readonly suspend: (pending: PendingCall, ask: Outcome) => void
  /** Goes on with a call, as its client does with one that is resumed. */
  readonly resume: (call: Call, context: CallContext) => Promise<Outcome>
  /** Hears of a question that nobody was asked, and why. */
  readonly unasked: (name: string, why: string) => void
  /** Cancels the request on the wire of a call that nobody resumed; `error` is for its caller, where there is one. */
  readonly abandon: (pending: PendingCall, error: RpcError) => void
}

/** What one call of a server may have asked at a time. More is answered without anybody. */
const questionLimits = { count: 64, characters: 1_048_576 }

/** A request of the server that waits for the answer of a caller. */
interface Question {
  readonly id: RpcId
  readonly key: string
  readonly call: Call
}

/** What the server asks during one call. */
interface Conversation {
  readonly pending: PendingCall
  /** The call as those see it who get its asks. */
  readonly parked: ParkedCall
  readonly tellEnded: (how: ParkedEnd) => void
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
  /** Asks that its caller was given. */
  rounds: number
}

/**
 * Questions that a legacy server asks in the middle of a call, as asks of that call (BR-221 to BR-227). The call's request
 * stays open on the wire while its caller looks for answers; the caller comes back with the handle, which names this process
 * and nothing else, is good for one retry of the same call by the same principal, and expires. A server that asks without end is given up
 * (A-42).
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
   * one that nobody can be asked is answered here (BR-222, BR-223).
   */
  take(message: RpcRequest, open: readonly PendingCall[], relatedTo: RpcId | undefined): void {
    const call: Call = { method: message.method, params: withoutToken(message.params ?? {}) }
    const fault = inputRequestFault({ method: call.method, params: toValue(call.params) })
    if (fault !== undefined) {
      this.#fail(message.id, rpcCode.invalidParams, `Invalid params: the request ${fault}`)
      return
    }
    const candidates = open.filter(
      (pending) =>
        askingMethods.has(pending.call.method) &&
        (relatedTo === undefined || pending.id === relatedTo) &&
        missingForInput(pending.context.peer.capabilities, call) === undefined,
    )
    const [pending] = candidates
    const conversation = candidates.length === 1 && pending !== undefined ? this.#conversationOf(pending) : undefined
    if (conversation === undefined || hasEnough(conversation, call)) {
      const { ownRoots } = this.#options
      // What is asked of one client is never answered with what is not its own.
      if (call.method === method.listRoots && ownRoots !== undefined && candidates.length !== 1) {
        this.#send({ kind: 'result', id: message.id, result: ownRoots })
        return
      }
      this.#options.unasked(call.method, whyAlone(candidates.length, conversation))
      this.#answerAlone(message.id, message.method, rpcCode.methodNotFound)
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
  forget(pending: PendingCall, how: ParkedEnd = 'over'): void {
    const conversation = this.#conversations.get(pending)
    if (conversation === undefined) return
    this.#conversations.delete(pending)
    conversation.timer?.[Symbol.dispose]()
    if (conversation.handle !== undefined) this.#parked.delete(conversation.handle)
    for (const { id, call } of [...conversation.asked, ...conversation.queued]) {
      this.#answerAlone(id, call.method, rpcCode.internalError)
    }
    conversation.tellEnded(how)
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
    const answers = conversation.asked.map((question) => ({ question, answer: answerTo(question, context.resume) }))
    const { early } = conversation
    // A server that has answered the call waits for nothing any more.
    if (early === undefined && answers.some(({ answer }) => answer === undefined)) {
      const ask = this.#park(conversation, conversation.asked)
      if (ask === undefined) throw this.#giveUp(conversation)
      return { ask }
    }
    conversation.handle = undefined
    conversation.asked = answers.flatMap(({ question, answer }) => (answer === undefined ? question : []))
    for (const { question, answer } of answers) {
      if (answer !== undefined) this.#send({ kind: 'result', id: question.id, result: answer })
    }
    conversation.pending.context = context
    if (conversation.queued.length > 0) this.#joinSoon(conversation)
    return { pending: conversation.pending, early }
  }

  /** Nobody can be answered any more. */
  end(): void {
    const conversations = [...this.#conversations.values()]
    this.#conversations.clear()
    this.#parked.clear()
    for (const { timer, tellEnded } of conversations) {
      timer?.[Symbol.dispose]()
      tellEnded('lost')
    }
  }

  #conversationOf(pending: PendingCall): Conversation | undefined {
    const known = this.#conversations.get(pending)
    if (known !== undefined) return known
    if (this.#conversations.size >= this.#options.maxParked) return undefined
    const { promise: ended, resolve: tellEnded } = withResolvers<ParkedEnd>()
    const conversation: Conversation = {
      pending,
      parked: {
        waitMs: this.#options.parkedMs,
        resume: (call, context) => this.#options.resume(call, context),
        abandon: () => this.#abandon(pending),
        ended,
      },
      tellEnded,
      queued: [],
      asked: [],
      handle: undefined,
      timer: undefined,
      early: undefined,
      keys: 0,
      rounds: 0,
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
      const ask = this.#park(conversation, questions)
      if (ask === undefined) this.#giveUp(conversation)
      else this.#options.suspend(conversation.pending, ask)
    }
    conversation.timer = this.#options.clock.after(this.#options.joinMs, ask, { holdsProcess: true })
  }

  /** The next ask of the call; `undefined` when there have been enough. */
  #park(conversation: Conversation, questions: Question[]): Outcome | undefined {
    const handle = randomHandle()
    conversation.asked = questions
    const ask = toAsk(questions, handle)
    if (nextRound(++conversation.rounds, ask).kind === 'too-many-rounds') return undefined
    conversation.handle = handle
    this.#parked.set(handle, conversation)
    conversation.timer = this.#options.clock.after(this.#options.parkedMs, () => {
      this.#abandon(conversation.pending, 'expired')
    })
    return { kind: 'ask', ...ask, parked: conversation.parked }
  }

  /** The server asks without end. The error is for whoever waits for the call. */
  #giveUp({ pending, rounds }: Conversation): RpcError {
    const error = new RpcError(rpcCode.internalError, `No result after ${rounds} rounds of questions`)
    this.forget(pending, 'given-up')
    this.#options.abandon(pending, error)
    return error
  }

  #abandon(pending: PendingCall, how: ParkedEnd = 'given-up'): void {
    if (!this.#conversations.has(pending)) return
    this.forget(pending, how)
    this.#options.abandon(pending, new RpcError(rpcCode.internalError, 'Nobody brought the answers'))
  }

  /**
   * What can be said without the caller: a form that nobody saw is cancelled, and nobody makes up the words of a model or roots. Roots for
   * which there was nobody from the start do not exist (BR-223), those that did not come in time have failed (BR-224).
   */
  #answerAlone(id: RpcId, name: string, rootsCode: number): void {
    if (name === method.elicit) this.#send({ kind: 'result', id, result: { action: 'cancel' } })
    else if (name === method.listRoots && rootsCode === rpcCode.methodNotFound)
      this.#fail(id, rootsCode, 'Method not found')
    else this.#fail(id, rpcCode.internalError, 'Nobody is there to answer')
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
    ({ key, call }) =>
      `${JSON.stringify(key)}:{"method":${JSON.stringify(call.method)},"params":${toText(call.params)}}`,
  )
  const raw = `{"resultType":"input_required","inputRequests":{${requests.join(',')}},"requestState":${JSON.stringify(requestState)}}`
  return { inputRequests, requestState, raw: new JsonText(raw) }
}

/** The token of the server's own progress means nothing to the caller (BR-221). All else stays as it came. */
function withoutToken(params: JsonRecord): JsonRecord {
  const meta = memberOf(params, '_meta')
  if (!isJsonObject(meta) || meta[metaKey.progressToken] === undefined) return params
  const { [metaKey.progressToken]: _token, ...kept } = meta
  const { _meta: _dropped, ...rest } = toObject(params)
  return Object.keys(kept).length > 0 ? { ...rest, _meta: kept } : rest
}

function whyAlone(candidates: number, conversation: Conversation | undefined): string {
  if (candidates === 0) return 'no call is open whose caller could be asked'
  if (candidates > 1) return 'it does not say which of several open calls it means'
  return conversation === undefined ? 'too many calls wait for answers' : 'too much is asked in this call already'
}

/** Whether the caller, who has to be shown all of it, is asked so much already that there is no room for another question. */
function hasEnough({ queued, asked }: Conversation, call: Call): boolean {
  if (queued.length + asked.length >= questionLimits.count) return true
  const open = [...queued, ...asked].map((question) => question.call)
  return [call, ...open].reduce((sum, { params }) => sum + toText(params).length, 0) > questionLimits.characters
}

/** A handle is good for the call that it was given for, and for whoever made it (MC-MRTR-10, -19). */
function isSameCall(pending: PendingCall, call: Call, context: CallContext): boolean {
  return (
    pending.context.principal.id === context.principal.id &&
    pending.call.method === call.method &&
    canonicalize(toValue(pending.call.params)) === canonicalize(toValue(call.params))
  )
}

/** The answer to one question as it came, or `undefined` when there is none or it is something else, such as a wrapped one. */
function answerTo(question: Question, resume: Resume | undefined): JsonRecord | undefined {
  const { inputResponses = {}, responsesText } = resume ?? {}
  const answer = Object.hasOwn(inputResponses, question.key) ? inputResponses[question.key] : undefined
  if (!isJsonObject(answer) || !fits(question.call.method, answer)) return undefined
  return responsesText?.member(question.key) ?? answer
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
