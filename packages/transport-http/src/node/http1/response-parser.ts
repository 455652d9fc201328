import { Chunks, type PieceTaker } from './chunks.ts'
import { HttpFault } from './fault.ts'
import { HeadText } from './head-text.ts'
import { canBeginHead, parseResponseHead, type ResponseHead } from './response-head.ts'

/** Hears of an answer as it comes. */
export interface ResponseReader extends PieceTaker {
  onHead(head: ResponseHead): void
  /** The answer is whole. */
  onEnd(): void
}

const untilClose = Number.POSITIVE_INFINITY

export type RequestKind = 'plain' | 'tunnel'

/** Reads one answer after the other from the bytes of a connection, which may come in any pieces. */
export class ResponseParser {
  readonly #text = new HeadText()
  #reader: ResponseReader | undefined
  #kind: RequestKind = 'plain'
  /** Bytes of the body that are still to come, where it is neither in chunks nor ends with the connection. */
  #left = 0
  #chunks: Chunks | undefined
  #inBody = false
  /** That of the latest answer. */
  head: ResponseHead | undefined

  /** Expects an answer. For a `tunnel` one of success has no body, whatever its fields say (RFC 9110, 9.3.6). */
  expect(reader: ResponseReader, kind: RequestKind = 'plain'): void {
    this.#reader = reader
    this.#kind = kind
  }

  /** Whether an answer is expected or has begun. */
  get isBusy(): boolean {
    return this.#reader !== undefined
  }

  /** Nobody waits for the answer any more; what has come of it counts for nothing. */
  forget(): void {
    this.#reader = undefined
  }

  /** Takes bytes and gives where the rest of them begins: after the answer that is expected. Throws an `HttpFault`, after which it is of no use. */
  take(bytes: Buffer, to: number): number {
    let at = 0
    while (at < to && this.#reader !== undefined) {
      at = this.#inBody ? this.#takeBody(this.#reader, bytes, at, to) : this.#takeHead(this.#reader, bytes, at, to)
    }
    return at
  }

  /** The connection has ended. True when that ends the answer as it should. */
  takeEnd(): boolean {
    if (this.#reader === undefined || !this.#inBody || this.#left !== untilClose) return false
    this.#over(this.#reader)
    return true
  }

  #takeHead(reader: ResponseReader, bytes: Buffer, from: number, to: number): number {
    const at = this.#text.take(bytes, from, to)
    if (at === -1) {
      if (!canBeginHead(this.#text.soFar)) throw new HttpFault('what came is no HTTP answer')
      return to
    }
    const head = parseResponseHead(this.#text.takeText())
    if (head.status < 200) {
      if (head.status === 101) throw new HttpFault('the peer changes to another protocol, which nobody asked for')
      return at
    }
    this.head = head
    const end = this.#kind === 'tunnel' && head.status < 300 ? 0 : head.end
    this.#inBody = true
    this.#chunks = end === 'chunked' ? new Chunks() : undefined
    this.#left = end === 'chunked' ? 0 : end === 'close' ? untilClose : end
    reader.onHead(head)
    if (end === 0 && this.#reader === reader) this.#over(reader)
    return at
  }

  #takeBody(reader: ResponseReader, bytes: Buffer, from: number, to: number): number {
    if (this.#chunks !== undefined) {
      const at = this.#chunks.take(bytes, from, to, reader)
      if (this.#chunks.isOver) this.#over(reader)
      return at
    }
    const at = Math.min(to, from + this.#left)
    this.#left -= at - from
    reader.onPiece(bytes, from, at)
    if (this.#left === 0) this.#over(reader)
    return at
  }

  #over(reader: ResponseReader): void {
    this.#inBody = false
    this.#chunks = undefined
    // Whoever waits may already expect the next one.
    if (this.#reader === reader) this.#reader = undefined
    reader.onEnd()
  }
}
