import type { RpcId } from '@atenea/mcpcompat'
import type { AnswerForms } from '@atenea/mcpcompat/transport'
import type { ExchangeWatcher, HttpExchange } from '../carrier/http-exchange.ts'
import type { EventStream } from '../sse/event-stream.ts'
import { Rider } from '../wheel.ts'

/** Makes the stream of a request that has something to say before its answer. */
export interface StreamMaker {
  /** The stream of this request; `undefined` when there is no exchange for it. */
  streamOf(post: OpenPost): EventStream | undefined
}

/**
 * The POST of one request of a legacy session, until it is answered. It sits on the wheel itself while it has no stream: one that is quiet
 * for long becomes one (C8), and most are answered before.
 */
export class OpenPost extends Rider implements ExchangeWatcher {
  /** Under which it runs here. */
  readonly id: RpcId
  /** As the client gave it, which may be the id of another open request too. */
  readonly clientId: RpcId
  readonly forms: AnswerForms
  /** The number of its stream. */
  readonly stream: number
  /** Where the answer goes, unless the client has gone; it may come back for it. */
  exchange: HttpExchange | undefined
  /** The stream of events on that exchange, when one was begun. */
  events: EventStream | undefined = undefined
  /** Whether a stream that is gone had begun, so that the client can ask for the rest of it. */
  streamed = false
  readonly #maker: StreamMaker

  constructor(
    maker: StreamMaker,
    id: RpcId,
    clientId: RpcId,
    forms: AnswerForms,
    stream: number,
    exchange: HttpExchange,
  ) {
    super()
    this.#maker = maker
    this.id = id
    this.clientId = clientId
    this.forms = forms
    this.stream = stream
    this.exchange = exchange
  }

  override turn(): void {
    this.#maker.streamOf(this)?.turn()
  }

  /** The client of an exchange has gone. It may have come back for the answer on another one before. */
  gone(exchange: HttpExchange): void {
    if (this.exchange === exchange) this.detach()
  }

  /** The client has gone, or was told to come back: what is still to come waits for it. */
  detach(): void {
    const { events } = this
    this.streamed ||= events?.opened === true
    this.exchange = undefined
    this.events = undefined
    this.leave()
    events?.leave()
  }
}
