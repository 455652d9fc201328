import type { RpcId } from '@atenea/mcpcompat'
import type { AnswerForms } from '@atenea/mcpcompat/transport'
import type { ExchangeWatcher, HttpExchange } from '../carrier/http-exchange.ts'
import type { EventStream } from '../sse/event-stream.ts'

/** The POST of one request of a legacy session, until it is answered. */
export class OpenPost implements ExchangeWatcher {
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

  constructor(id: RpcId, clientId: RpcId, forms: AnswerForms, stream: number, exchange: HttpExchange) {
    this.id = id
    this.clientId = clientId
    this.forms = forms
    this.stream = stream
    this.exchange = exchange
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
    events?.leave()
  }
}
