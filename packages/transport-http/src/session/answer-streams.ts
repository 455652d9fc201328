import { TransportError } from '@atenea/mcpcompat'
import {
  isSseType,
  type LinkedSignal,
  lostCall,
  type RpcMessage,
  type RpcReject,
  type RpcRequest,
} from '@atenea/mcpcompat/transport'
import { MessageStream, type Payload } from '../answer.ts'
import type { Endpoint } from '../endpoint.ts'
import { SessionLostError } from '../http-errors.ts'
import { discard } from '../read-body.ts'
import type { HttpAnswer } from '../send.ts'
import { backoffMs, wait } from '../wait.ts'

/** Times that one answer is looked for again after its stream broke without a message in between. */
const maxResumptions = 5

const resumption = { firstMs: 1_000, maxMs: 30_000 }

export interface AnswerStreamsOptions {
  readonly endpoint: Endpoint
  readonly payload: Payload
  /** Takes up a stream after the event of that id. */
  readonly open: (lastEventId: string, signal: AbortSignal) => Promise<HttpAnswer>
  /** Takes what came. True when it is the answer to the request on whose stream it came. */
  readonly take: (message: RpcMessage | RpcReject, request: RpcRequest | undefined) => boolean
}

/** The streams on which a legacy server answers requests. One that breaks is taken up again where the server gave ids (LG-RESUME-01). */
export class AnswerStreams {
  readonly #options: AnswerStreamsOptions
  readonly #endpoint: Endpoint

  constructor(options: AnswerStreamsOptions) {
    this.#options = options
    this.#endpoint = options.endpoint
  }

  /** Reads until the answer has come. Rejects when none will. */
  async follow(first: MessageStream, request: RpcRequest, link: LinkedSignal): Promise<void> {
    let stream = first
    let lastEventId: string | undefined
    let retryMs: number | undefined
    for (let attempt = 0; ; attempt++) {
      const read = await this.#read(stream, request, link)
      if (read.answered) return
      if (read.messages > 0) attempt = 0
      lastEventId = stream.lastEventId ?? lastEventId
      retryMs = stream.retryMs ?? retryMs
      const broke = new TransportError('closed', `${this.#endpoint.name} ended the stream of ${request.method}`, {
        cause: read.error,
      })
      if (lastEventId === undefined || attempt >= maxResumptions) throw lostCall(broke)
      stream = await this.#resume(lastEventId, retryMs, attempt, link.signal, broke)
    }
  }

  /** Takes up the stream of an answer where it broke off (LG-RESUME-01). */
  async #resume(
    lastEventId: string,
    retryMs: number | undefined,
    firstAttempt: number,
    signal: AbortSignal,
    broke: TransportError,
  ): Promise<MessageStream> {
    for (let attempt = firstAttempt; attempt < maxResumptions; attempt++) {
      await wait(backoffMs(attempt, retryMs, resumption), signal, this.#endpoint.clock, true)
      let answer: HttpAnswer
      try {
        answer = await this.#options.open(lastEventId, signal)
      } catch (error) {
        if (!TransportError.is(error)) throw error
        // The server has taken the request, so a session that is gone does not mean that it can be made again.
        if (SessionLostError.is(error)) break
        continue
      }
      if (answer.status === 429 || answer.status >= 500) {
        await discard(answer.body, this.#endpoint.clock)
        continue
      }
      if (answer.status === 200 && isSseType(answer.headers['content-type'])) {
        return new MessageStream(answer.body, this.#endpoint.maxMessageBytes, this.#options.payload)
      }
      void discard(answer.body, this.#endpoint.clock)
      break
    }
    throw lostCall(broke)
  }

  async #read(
    stream: MessageStream,
    request: RpcRequest,
    link: LinkedSignal,
  ): Promise<{ readonly answered: boolean; readonly messages: number; readonly error?: unknown }> {
    const messages = stream[Symbol.asyncIterator]()
    let count = 0
    try {
      for (;;) {
        const next = await messages.next()
        if (next.done === true) return { answered: false, messages: count }
        count++
        if (!this.#options.take(next.value, request)) continue
        void this.#letEnd(messages, link)
        return { answered: true, messages: count }
      }
    } catch (error) {
      link.signal.throwIfAborted()
      if (TransportError.is(error) && error.kind === 'too-large') throw error
      return { answered: false, messages: count, error }
    }
  }

  /** What comes on a stream after its answer is rare but not forbidden; nobody waits for its end. */
  async #letEnd(messages: AsyncIterator<RpcMessage | RpcReject>, link: LinkedSignal): Promise<void> {
    const timer = this.#endpoint.clock.after(1_000, () => link.abort())
    try {
      for (let next = await messages.next(); next.done !== true; next = await messages.next()) {
        this.#options.take(next.value, undefined)
      }
    } catch {
      // It broke, and its answer is here already.
    } finally {
      timer[Symbol.dispose]()
    }
  }
}
