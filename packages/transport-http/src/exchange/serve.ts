import type { Call, Dispatcher, OnDiagnostic, Outcome } from '@atenea/mcpcompat'
import {
  type AnswerForms,
  type CallHost,
  type CallRunner,
  encodeMessage,
  reportFailure,
  type RpcRequest,
  type RpcResponse,
  ServedContext,
  statusOfError,
  undeclaredAsk,
  type WireCodec,
} from '@atenea/mcpcompat/transport'
import { jsonFields } from '../carrier/answers.ts'
import type { ExchangeWatcher, HttpExchange } from '../carrier/http-exchange.ts'
import { sseEvent, sseFields } from '../sse/encode.ts'
import { EventStream, type StreamPolicy } from '../sse/event-stream.ts'
import { Rider } from '../wheel.ts'

/** What all exchanges of a handler share. */
export interface ExchangeHostOptions {
  /** Answers calls, discovery included. */
  readonly dispatcher: Dispatcher
  readonly streams: StreamPolicy
  readonly onDiagnostic: OnDiagnostic | undefined
}

/**
 * One POST that is one call (MH-POST-01), with nothing before or after it: the answer is JSON when it is all there is to say,
 * and a stream as soon as a notice comes first. A client that goes cancels its call at once (MH-SSE-10, A-47).
 */
export class ServedExchange extends Rider implements CallHost, ExchangeWatcher {
  readonly dispatcher: Dispatcher
  readonly #exchange: HttpExchange
  readonly #codec: WireCodec
  readonly #forms: AnswerForms
  readonly #options: ExchangeHostOptions
  #stream: EventStream | undefined
  /** The call while its client could leave it, and who runs it. */
  #followed: ServedContext | undefined
  #runner: CallRunner | undefined

  constructor(exchange: HttpExchange, codec: WireCodec, forms: AnswerForms, options: ExchangeHostOptions) {
    super()
    this.dispatcher = options.dispatcher
    this.#exchange = exchange
    this.#codec = codec
    this.#forms = forms
    this.#options = options
  }

  /** Runs the call of a request that the ladder has let through. */
  run(message: RpcRequest, runner: CallRunner): void {
    const { headers, principal } = this.#exchange
    const decoded = this.#codec.decodeCall(message, headers)
    if (!decoded.ok) {
      // the ladder has refused all but what only the codec knows: a method that the revision has not
      const code = decoded.reason === 'not-in-revision' ? -32_601 : -32_602
      this.#answer({ kind: 'error', id: message.id, error: { code, message: decoded.message } })
      return
    }
    if (runner.full) {
      const error = { code: -32_603, message: 'Too many requests in flight' }
      this.#answer({ kind: 'error', id: message.id, error })
      return
    }
    const context = new ServedContext(this, message.id, decoded.value, principal, headers, undefined)
    runner.run(context)
    if (!context.ended) this.#follow(context, runner)
  }

  /** Ends a subscription from this side, with its result and no more. */
  endListen(context: ServedContext, runner: CallRunner, reason: unknown): void {
    if (context.ended) return
    this.answer(context, { kind: 'result', value: {} })
    runner.cancel(context, reason)
  }

  /** The call is quiet for long: it becomes a stream (C8). */
  override turn(): void {
    this.#streaming().turn()
  }

  // the host of its call

  notify(context: ServedContext, notice: Call): void | Promise<void> {
    // a client that takes no stream misses what is only told on the way
    if (!this.#forms.sse) return
    const message = this.#codec.encodeNotice(context.call, notice, context, context.id)
    if (message !== undefined) return this.#streaming().write(sseEvent(encodeMessage(message)))
  }

  answer(context: ServedContext, outcome: Outcome): void {
    const undeclared = undeclaredAsk(outcome, context)
    if (undeclared !== undefined) throw undeclared
    this.#answer(this.#codec.encodeOutcome(context.call, outcome, context, context.id))
  }

  refuse(context: ServedContext, error: unknown): void {
    reportFailure(error, context.call, this.#options.onDiagnostic)
    this.#answer(this.#codec.encodeError(error, context.id, context.call))
  }

  #answer(message: RpcResponse): void {
    const text = encodeMessage(message)
    const stream = this.#stream
    if (stream?.opened === true) {
      stream.finish(sseEvent(text))
      return
    }
    stream?.leave()
    this.leave()
    const status = message.kind === 'error' ? statusOfError(message.error.code) : 200
    if (this.#forms.json) this.#exchange.whole(status, jsonFields, text)
    else this.#exchange.whole(status, sseFields, sseEvent(text))
  }

  /** The client has gone. */
  gone(): void {
    this.#stream?.leave()
    this.leave()
    if (this.#followed !== undefined) {
      this.#runner?.cancel(this.#followed, new DOMException('The client is gone', 'AbortError'))
    }
  }

  /** Only a call that takes its time needs it. */
  #follow(context: ServedContext, runner: CallRunner): void {
    this.#followed = context
    this.#runner = runner
    this.#exchange.watch(this)
    // Most are answered before they need a stream.
    if (this.#forms.sse && !context.ended && this.#stream === undefined) this.#options.streams.beats.add(this)
  }

  #streaming(): EventStream {
    if (this.#stream === undefined) {
      // It has a seat of its own.
      this.leave()
      this.#stream = new EventStream(this.#exchange, this.#options.streams)
    }
    return this.#stream
  }
}
