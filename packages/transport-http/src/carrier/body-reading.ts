import { Rider } from '../wheel.ts'
import type { BodyFault, BodySink, HttpExchange } from './http-exchange.ts'

/** The global of Node, where requests of this kind come from. */
declare const Buffer: { concat(chunks: readonly Uint8Array[]): Uint8Array }

/** Takes a body while it arrives. */
export interface BodyReader {
  take(chunk: Uint8Array): void
  /** All of it is there. Comes once, unless the client goes before. */
  end(): void
  /** The client has gone. May also come after the end. */
  gone(): void
}

/** How many times the limit is still read and thrown away after a refusal, so that the client gets to see it. */
const discardedLimits = 8

/** A body while it arrives. Most come in one chunk, which is decoded as it is. */
export class BodyReading extends Rider implements BodyReader {
  readonly #exchange: HttpExchange
  readonly #req: { destroy(): unknown }
  readonly #maxBytes: number
  readonly #sink: BodySink
  #first: Uint8Array | undefined
  #rest: Uint8Array[] | undefined
  #size = 0
  #over = false

  constructor(exchange: HttpExchange, req: { destroy(): unknown }, maxBytes: number, sink: BodySink) {
    super()
    this.#exchange = exchange
    this.#req = req
    this.#maxBytes = maxBytes
    this.#sink = sink
  }

  take(chunk: Uint8Array): void {
    this.#size += chunk.byteLength
    if (this.#size > this.#maxBytes) {
      this.#fail('too-large')
      if (this.#size > this.#maxBytes * discardedLimits) this.#req.destroy()
    }
    if (this.#over) return
    if (this.#first === undefined) this.#first = chunk
    else (this.#rest ??= [this.#first]).push(chunk)
  }

  end(): void {
    if (this.#over) return
    const bytes = this.#rest === undefined ? this.#first : Buffer.concat(this.#rest)
    const text = bytes === undefined ? '' : decode(bytes)
    if (text === undefined) this.#fail('not-text')
    else {
      this.#stop()
      this.#sink.body(this.#exchange, text)
    }
  }

  /** What has come is let go at once: clients that begin large bodies and go would fill the memory before their time is up. */
  gone(): void {
    if (!this.#over) this.#stop()
  }

  /** A whole turn of the wheel has passed. */
  override turn(): void {
    this.#fail('too-slow')
  }

  #fail(fault: BodyFault): void {
    if (this.#over) return
    this.#stop()
    this.#sink.bodyFault(this.#exchange, fault)
  }

  #stop(): void {
    this.#over = true
    this.#first = undefined
    this.#rest = undefined
    this.leave()
  }
}

/** The text of UTF-8, or `undefined`. Only a text with a replacement character can come from bytes that are none. */
function decode(bytes: Uint8Array): string | undefined {
  const text = (bytes as unknown as { toString(encoding: 'utf8'): string }).toString('utf8')
  if (!text.includes('\ufffd')) return text
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
