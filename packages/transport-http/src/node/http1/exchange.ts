import { type AbortWatcher, TransportError } from '@atenea/mcpcompat'
import { safeUrl } from '../../safe-url.ts'
import type { Ending, HttpAnswer, HttpRequest } from '../../send.ts'
import { AnswerBody, type BodySource } from './body.ts'
import type { Connection, ConnectionUser } from './connection.ts'
import { codeText, compressed, isReset, noAnswer } from './failures.ts'
import type { ResponseHead } from './response-head.ts'
import { TunnelRefused } from './tunnel-refused.ts'
import type { Way } from './ways.ts'

/** One request and its answer. */
export class Exchange implements ConnectionUser, BodySource, AbortWatcher {
  readonly #request: HttpRequest
  readonly #ending: Ending
  readonly #way: Way
  readonly #resolve: (answer: HttpAnswer) => void
  readonly #reject: (error: unknown) => void
  #connection: Connection | undefined
  #isReused = false
  #body: AnswerBody | undefined

  constructor(
    request: HttpRequest,
    ending: Ending,
    way: Way,
    resolve: (answer: HttpAnswer) => void,
    reject: (error: unknown) => void,
  ) {
    this.#request = request
    this.#ending = ending
    this.#way = way
    this.#resolve = resolve
    this.#reject = reject
  }

  /** Sends the request. Throws a `TypeError` for one that HTTP cannot hold. */
  begin(): void {
    if (this.#ending.isAborted) {
      this.#reject(this.#ending.reason)
      return
    }
    const { method } = this.#request
    const { body = method === 'POST' ? '' : undefined } = this.#request
    const { pool, target } = this.#way
    const head = target.head(this.#request)
    const kept = pool.take()
    const connection = kept ?? pool.open()
    this.#isReused = kept !== undefined
    this.#connection = connection
    this.#ending.watch(this)
    connection.run({ head, body, kind: 'plain' }, this)
  }

  // the caller

  aborted(reason: unknown): void {
    this.#connection?.close()
    if (this.#body === undefined) this.#reject(reason)
    else this.#body.onFailure(reason as Error, true)
  }

  pause(): void {
    this.#connection?.pause()
  }

  resume(): void {
    this.#connection?.resume()
  }

  stop(): void {
    this.#ending.unwatch(this)
    this.#connection?.close()
  }

  // the connection

  onHead({ status, headers, end }: ResponseHead): void {
    const coding = headers['content-encoding'] ?? 'identity'
    if (coding !== 'identity') {
      this.stop()
      this.#reject(compressed(this.#request.url, coding))
      return
    }
    const body = new AnswerBody(this, typeof end === 'number' ? end : undefined)
    this.#body = body
    this.#resolve({ status, headers, body })
  }

  onPiece(bytes: Buffer, from: number, to: number): void {
    this.#body?.onPiece(bytes, from, to)
  }

  onEnd(): void {
    this.#ending.unwatch(this)
    // Another request may have it by now.
    this.#connection = undefined
    this.#body?.onEnd()
  }

  onLost(error: Error): void {
    const wrote = this.#connection?.hasWritten === true
    this.#ending.unwatch(this)
    this.#connection = undefined
    const { url, repeatable } = this.#request
    if (this.#body !== undefined) {
      const text = `The answer of ${safeUrl(url)} broke off${codeText(error)}`
      this.#body.onFailure(new TransportError('closed', text, { cause: error }), false)
    } else if (error instanceof TunnelRefused && error.head.status === 407) {
      // Credentials for the way are what its user can give.
      this.onHead({ ...error.head, end: 0 })
      this.onEnd()
    } else if (this.#isReused && isReset(error) && (!wrote || repeatable) && !this.#way.pool.isClosed) {
      // The others that rest are as old, so that this one is new, and the last.
      this.#way.pool.closeIdle()
      this.begin()
    } else {
      this.#reject(noAnswer(error, url, wrote, repeatable))
    }
  }
}
