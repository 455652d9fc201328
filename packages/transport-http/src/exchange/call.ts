import {
  type Call,
  type CallContext,
  type Diagnostic,
  type Dispatcher,
  type Implementation,
  method,
  notice as noticeName,
  type Outcome,
  RpcError,
  type RpcId,
  rpcCode,
  type ServerView,
  TransportError,
  type WireHints,
} from '@atenea/mcpcompat'
import {
  abortable,
  closedConnection,
  createIds,
  createModernCodec,
  encodeMessage,
  InvalidResultError,
  lostCall,
  peerView,
  type PeerViewParts,
  PendingCall,
  type RpcMessage,
  type RpcNotification,
  type RpcReject,
  type WireCodec,
} from '@atenea/mcpcompat/transport'
import { type Payload, readAnswer, type ReadAnswerOptions } from '../answer.ts'
import { CallEnd, hasEnded, OpenRequests } from '../call-end.ts'
import { type Endpoint, PostRequest } from '../endpoint.ts'
import { HeaderPlans } from '../header-plans.ts'
import { HttpStatusError } from '../http-errors.ts'
import { isRepeatable } from '../repeatable.ts'
import { type Fields, ToolHeaders } from './tool-headers.ts'
import { isWanted } from './wanted-notice.ts'

/** What an answer with a client error said, for a second look at the era of the server. */
export interface Refusal {
  readonly method: string
  readonly status: number
  readonly headers: WireHints
  readonly body: string
}

export interface CreateExchangeClientOptions {
  readonly endpoint: Endpoint
  readonly revision: string
  /** Who we are, for callers that do not say who they are. */
  readonly info: Implementation
  /** What the server said when it was discovered. */
  readonly server: PeerViewParts
  /** Gives ids that no other open request has. */
  readonly nextId?: () => RpcId
  readonly payload: Payload
  /** Longest time that a call may take, subscriptions aside. */
  readonly callTimeoutMs: number
  /** Hears of answers that a modern server would hardly give. */
  readonly onRefusal?: (refusal: Refusal) => void
  readonly onDiagnostic?: ((diagnostic: Diagnostic) => void) | undefined
}

/** A client of a modern server over HTTP. `end` fails every open call. */
export interface ExchangeClient extends Dispatcher {
  end(cause?: unknown): void
}

/**
 * Calls a modern server: one POST is one call (MH-POST-01, -04), its headers are made from its body (MH-HDR-01, -05, -06), and closing its
 * stream is how it is cancelled (B13). A call whose stream ends without an answer fails at once with `unknown-outcome` and is never
 * repeated (MH-SSE-09, F11). What a tool mirrors into headers is learnt from lists; when the server finds the headers of a tool call
 * wrong, all lists are read again and the call is repeated once, which the server has not looked at (A-17, B8).
 */
export function createExchangeClient(options: CreateExchangeClientOptions): ExchangeClient {
  return new Exchanges(options)
}

const drained = Symbol('drained')
const noFields: Fields = {}

class Exchanges implements ExchangeClient {
  readonly #options: CreateExchangeClientOptions
  readonly #endpoint: Endpoint
  readonly #codec: WireCodec
  readonly #view: ServerView
  readonly #nextId: () => RpcId
  readonly #plans: HeaderPlans
  readonly #toolHeaders: ToolHeaders
  readonly #life = new AbortController()
  /** What ends the calls that are open. */
  readonly #open = new OpenRequests()
  /** Those of subscriptions. */
  readonly #listens = new Set<CallEnd>()
  readonly #readOnce: ReadAnswerOptions
  readonly #readAgain: ReadAnswerOptions
  #draining = false
  #ended: { readonly cause: unknown } | undefined

  constructor(options: CreateExchangeClientOptions) {
    this.#options = options
    this.#endpoint = options.endpoint
    this.#codec = createModernCodec({ revision: options.revision })
    this.#nextId = options.nextId ?? createIds()
    this.#plans = new HeaderPlans(options.onDiagnostic)
    const plans = this.#plans
    this.#toolHeaders = new ToolHeaders({
      plans,
      listTools: async (params, context) => await this.#run({ method: method.listTools, params }, context, undefined),
      life: this.#life.signal,
      timeoutMs: options.callTimeoutMs,
      onDiagnostic: options.onDiagnostic,
    })
    const { endpoint, payload } = options
    this.#readOnce = { endpoint, payload, repeatable: false }
    this.#readAgain = { endpoint, payload, repeatable: true }
    this.#view = { ...peerView(options.server), headerPlan: (tool) => plans.get(tool) }
  }

  async call(call: Call, context: CallContext): Promise<Outcome> {
    if (this.#ended !== undefined) throw closedConnection(this.#ended.cause)
    const isListen = call.method === method.listen
    if (isListen && this.#draining) throw new RpcError(rpcCode.internalError, 'No new subscriptions are taken')
    if (hasEnded(context)) throw context.signal.reason
    return await this.#run(call, context, isListen ? undefined : this.#options.callTimeoutMs)
  }

  async #run(call: Call, context: CallContext, timeoutMs: number | undefined): Promise<Outcome> {
    const end = new CallEnd().follow(context).limit(timeoutMs)
    this.#open.add(end)
    const isListen = call.method === method.listen
    if (isListen) this.#listens.add(end)
    try {
      return await this.#request(call, context, end)
    } catch (error) {
      if (end.reason === drained) return { kind: 'result', value: {} }
      throw this.#failure(error, call, context, end)
    } finally {
      if (isListen) this.#listens.delete(end)
      this.#open.delete(end)
      end[Symbol.dispose]()
    }
  }

  async notify(notice: Call): Promise<void> {
    // On HTTP a call is cancelled by closing its stream, and a cancel would name an id of another hop.
    if (this.#ended !== undefined || notice.method === noticeName.cancelled) return
    using end = new CallEnd().limit(this.#options.callTimeoutMs)
    this.#open.add(end)
    try {
      const { hints } = this.#codec.encodeCall(notice, nobody, 0)
      const body = encodeMessage({ kind: 'notification', method: notice.method, params: notice.params })
      const answer = await this.#post(hints, noFields, body, false, end)
      const content = await readAnswer(answer, this.#readOnce)
      if (content.kind === 'stream') end.abort()
      else if (content.kind === 'message')
        this.#report('debug', 'notice-answered', 'The server answered a notification.')
    } finally {
      this.#open.delete(end)
    }
  }

  view(): ServerView {
    return this.#view
  }

  drain(): Promise<void> {
    this.#draining = true
    for (const end of this.#listens) end.abort(drained)
    return Promise.resolve()
  }

  end(cause?: unknown): void {
    if (this.#ended !== undefined) return
    this.#ended = { cause }
    const reason = new DOMException('The connection has ended', 'AbortError')
    this.#life.abort(reason)
    this.#open.abort(reason)
  }

  // one call

  async #request(call: Call, context: CallContext, end: CallEnd): Promise<Outcome> {
    if (call.method !== method.callTool) return await this.#exchange(call, context, noFields, end)
    const headers = this.#toolHeaders.of(call, context)
    try {
      return await this.#exchange(call, context, headers, end)
    } catch (error) {
      if (!RpcError.is(error) || error.code !== rpcCode.headerMismatch) throw error
      const better = await this.#toolHeaders.better(call, context, headers, end.signal)
      if (better === undefined) throw error
      return await this.#exchange(call, context, better, end)
    }
  }

  async #exchange(call: Call, context: CallContext, mirrored: Fields, end: CallEnd): Promise<Outcome> {
    const id = this.#nextId()
    const { message, hints } = this.#codec.encodeCall(call, this.#written(context, id), id)
    const repeatable = isRepeatable(call.method)
    const answer = await this.#post(hints, mirrored, encodeMessage(message), repeatable, end)
    const { status, headers } = answer
    try {
      const content = await readAnswer(answer, repeatable ? this.#readAgain : this.#readOnce)
      const pending = new PendingCall(id, call, context)
      switch (content.kind) {
        case 'nothing':
          throw lostCall(
            new TransportError('protocol', `${this.#endpoint.name} answered with ${status} and nothing else`),
          )
        case 'message':
          if (status >= 400) this.#options.onRefusal?.({ method: call.method, status, headers, body: content.text })
          return this.#onlyAnswer(content.message, pending, content.text)
        case 'stream':
          return await this.#follow(content.stream, pending, end)
      }
    } catch (error) {
      if (HttpStatusError.is(error) && status >= 400)
        this.#options.onRefusal?.({ method: call.method, status, headers, body: '' })
      throw error
    }
  }

  /** How a call is written: as its caller says, with our name where it gives none (MC-REQ-03), and with a token of ours for progress. */
  #written(context: CallContext, id: RpcId): Parameters<WireCodec['encodeCall']>[1] {
    const { peer } = context
    const isNamed = peer.name !== undefined && peer.version !== undefined
    if (isNamed && context.progressToken === undefined) return context
    const { meta, metaText, logLevel, resume } = context
    const progressToken = context.progressToken === undefined ? undefined : id
    const { name, version } = this.#options.info
    return { peer: isNamed ? peer : { ...peer, name, version }, meta, metaText, progressToken, logLevel, resume }
  }

  #onlyAnswer(message: RpcMessage | RpcReject, pending: PendingCall, text: string): Outcome {
    if (message.kind === 'result' || message.kind === 'error') {
      const outcome = this.#outcome(message, pending)
      if (outcome !== undefined) return outcome
    }
    const what = message.kind === 'reject' ? message.reason : `a message of kind ${message.kind}`
    throw new InvalidResultError(
      `${this.#endpoint.name} answered ${pending.call.method} with what is no answer: ${what}`,
      text.slice(0, 1_000),
    )
  }

  async #follow(stream: AsyncIterable<RpcMessage | RpcReject>, pending: PendingCall, end: CallEnd): Promise<Outcome> {
    const messages = stream[Symbol.asyncIterator]()
    let acknowledged = false
    for (;;) {
      const next = await messages.next()
      if (next.done === true) {
        const cause = new TransportError('closed', `${this.#endpoint.name} ended the stream of ${pending.call.method}`)
        throw lostCall(cause)
      }
      const message = next.value
      switch (message.kind) {
        case 'result':
        case 'error': {
          const outcome = this.#outcome(message, pending)
          if (outcome === undefined) break
          void this.#letEnd(messages, end)
          return outcome
        }
        case 'notification': {
          if (message.method === noticeName.cancelled && pending.call.method === method.listen) {
            void this.#letEnd(messages, end)
            return { kind: 'result', value: {} }
          }
          const notice = this.#notice(message, pending, acknowledged)
          if (notice === undefined) break
          acknowledged ||= notice.method === noticeName.acknowledged
          await this.#emit(notice, pending.context, end.signal)
          break
        }
        case 'request':
          // MC-MSG-09, -10
          this.#report(
            'warning',
            'unexpected-request',
            `The server sent the request ${message.method.slice(0, 80)}; it was dropped.`,
          )
          break
        case 'reject':
          this.#report('warning', 'not-a-message', `The server sent what is no message: ${message.reason}`)
          // No other answer will come.
          if (message.like === 'response' && message.id === pending.id) this.#onlyAnswer(message, pending, '')
      }
    }
  }

  /** The rest of a stream after its answer is not waited for by anybody; its connection is kept when it ends soon. */
  async #letEnd(messages: AsyncIterator<unknown>, end: CallEnd): Promise<void> {
    const timer = this.#endpoint.clock.after(1_000, () => end.abort())
    try {
      for (let extra = 0; extra < 16; extra++) if ((await messages.next()).done === true) return
      end.abort()
    } catch {
      // Nobody waits for what it would have been.
    } finally {
      timer[Symbol.dispose]()
    }
  }

  #outcome(message: RpcMessage & { readonly kind: 'result' | 'error' }, pending: PendingCall): Outcome | undefined {
    // The exchange correlates, so an error may lack the id; an answer to something else is none.
    if (message.id !== pending.id && !(message.kind === 'error' && message.id === undefined)) {
      this.#report('warning', 'unknown-id', 'The server sent an answer to another request; it was dropped.')
      return undefined
    }
    const decoded = this.#codec.decodeOutcome(pending.call, message)
    if (!decoded.ok) throw new InvalidResultError(decoded.message, decoded.raw)
    return pending.call.method === method.listTools ? this.#plans.learn(decoded.value) : decoded.value
  }

  /** The notice, if this call asked for it. */
  #notice(message: RpcNotification, pending: PendingCall, acknowledged: boolean): Call | undefined {
    const name = message.method.slice(0, 80)
    const decoded = this.#codec.decodeNotice(message)
    if (!decoded.ok) {
      this.#report('warning', 'bad-notice', `The server sent ${name}, but ${decoded.message}.`)
      return undefined
    }
    const notice = decoded.value
    if (isWanted(message, notice, pending, acknowledged)) return notice
    this.#report('debug', 'unknown-addressee', `The server sent ${name} that no open call asked for; it was dropped.`)
    return undefined
  }

  /** Waits for a caller that is slow to take its notices, which is how back-pressure reaches the server. */
  async #emit(notice: Call, context: CallContext, signal: AbortSignal): Promise<void> {
    try {
      const taken = context.emit(notice)
      if (taken !== undefined) await abortable(taken, signal)
    } catch (cause) {
      signal.throwIfAborted()
      this.#options.onDiagnostic?.({
        level: 'warning',
        code: 'notice-refused',
        message: 'A caller could not take a notice of its call.',
        cause,
      })
    }
  }

  // the way

  #post(
    headers: WireHints,
    mirrored: Fields,
    body: string,
    repeatable: boolean,
    ending: CallEnd,
  ): ReturnType<Endpoint['request']> {
    const fields = { ...headers, ...mirrored, 'content-type': 'application/json' } as Record<string, string>
    return this.#endpoint.request(new PostRequest(fields, body, repeatable, ending))
  }

  /** Why a call failed, in the words of its caller. */
  #failure(error: unknown, call: Call, context: CallContext, end: CallEnd): unknown {
    if (hasEnded(context)) return context.signal.reason
    const isListen = call.method === method.listen
    if (this.#ended !== undefined) {
      return isListen ? closedConnection(this.#ended.cause) : lostCall(this.#ended.cause)
    }
    if (end.isAborted) {
      const text = `${this.#endpoint.name} did not answer ${call.method} within ${this.#options.callTimeoutMs} ms; it may have been carried out.`
      return new TransportError('timeout', text, { cause: error })
    }
    if (!TransportError.is(error)) return error
    // A stream that broke, whether in order or not.
    if (error.kind === 'closed' && !isListen) return lostCall(error)
    if (error.kind === 'unknown-outcome' && isListen) return closedConnection(error.cause ?? error)
    return error
  }

  #report(level: Diagnostic['level'], code: string, message: string): void {
    this.#options.onDiagnostic?.({ level, code, message })
  }
}

const nobody = {
  peer: { capabilities: {} },
  meta: {},
  progressToken: undefined,
  logLevel: undefined,
  resume: undefined,
}
