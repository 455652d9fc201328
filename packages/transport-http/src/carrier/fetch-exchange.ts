import type { Principal, WireHints } from '@atenea/mcpcompat'
import { Rider, type Wheel } from '../wheel.ts'
import type { BodySink, ExchangeWatcher, HeaderFields, HttpExchange } from './http-exchange.ts'
import { nobody } from './nobody.ts'

/** Bytes that wait in a stream before its writer is asked to wait too. */
const highWaterMark = 64 * 1024

/** An exchange of the web platform: a `Request` in, a `Response` out. */
export class FetchExchange implements HttpExchange {
  readonly method: string
  readonly target: string
  readonly headers: WireHints
  readonly response: Promise<Response>
  principal: Principal = nobody
  commonFields: HeaderFields = []
  readonly #request: Request
  readonly #slowBodies: Wheel
  readonly #encoder = new TextEncoder()
  #respond: (response: Response) => void = () => undefined
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined
  #watcher: ExchangeWatcher | undefined
  #gone = false
  #over = false
  #relief: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined

  constructor(request: Request, slowBodies: Wheel) {
    const { host, pathname, search } = new URL(request.url)
    this.method = request.method
    this.target = pathname + search
    // the platform may have taken the field into the URL
    this.headers = { host, ...Object.fromEntries(request.headers) }
    this.#request = request
    this.#slowBodies = slowBodies
    this.response = new Promise((resolve) => {
      this.#respond = resolve
    })
  }

  get gone(): boolean {
    return this.#gone || this.#request.signal.aborted
  }

  get unsent(): number {
    const free = this.#stream?.desiredSize
    return free === undefined || free === null ? 0 : highWaterMark - free
  }

  read(maxBytes: number, sink: BodySink): void {
    const reading = new BodyReading(this, maxBytes, sink)
    this.#slowBodies.add(reading)
    void reading.run(this.#request.body)
  }

  watch(watcher: ExchangeWatcher): void {
    if (this.gone) {
      watcher.gone(this)
      return
    }
    this.#watcher = watcher
    this.#request.signal.addEventListener('abort', this.#left)
  }

  whole(status: number, fields: HeaderFields, body: string): void {
    if (this.#over) return
    this.#end()
    const empty = status === 204 || body === ''
    this.#respond(new Response(empty ? null : body, { status, headers: this.#head(fields) }))
  }

  open(fields: HeaderFields, first: string): void {
    if (this.#over) return
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#stream = controller
          controller.enqueue(this.#encoder.encode(first))
        },
        pull: () => this.#relieve(),
        cancel: () => this.#left(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark }),
    )
    this.#respond(new Response(body, { status: 200, headers: this.#head(fields) }))
  }

  write(text: string): void | Promise<void> {
    if (this.#over || this.gone || this.#stream === undefined) return
    this.#stream.enqueue(this.#encoder.encode(text))
    if ((this.#stream.desiredSize ?? 1) > 0) return
    if (this.#relief === undefined) {
      let resolve = (): void => undefined
      const promise = new Promise<void>((done) => {
        resolve = done
      })
      this.#relief = { promise, resolve }
    }
    return this.#relief.promise
  }

  finish(last: string): void {
    if (this.#over || this.gone || this.#stream === undefined) return
    if (last !== '') this.#stream.enqueue(this.#encoder.encode(last))
    this.#end()
    this.#stream.close()
  }

  destroy(): void {
    const stream = this.#over ? undefined : this.#stream
    this.#left()
    stream?.error(new DOMException('The client reads too slowly', 'AbortError'))
  }

  /** Whoever waits for the client is told, whether it reads on or has gone. */
  #relieve(): void {
    const relief = this.#relief
    this.#relief = undefined
    relief?.resolve()
  }

  readonly #left = (): void => {
    if (this.#over) return
    this.#gone = true
    const watcher = this.#watcher
    this.#end()
    this.#relieve()
    watcher?.gone(this)
  }

  #end(): void {
    this.#over = true
    this.#watcher = undefined
    this.#request.signal.removeEventListener('abort', this.#left)
  }

  #head(fields: HeaderFields): [string, string][] {
    const all = [...fields, ...this.commonFields]
    const pairs: [string, string][] = []
    for (let index = 0; index < all.length; index += 2) pairs.push([all[index] as string, all[index + 1] as string])
    return pairs
  }
}

/** A body while it arrives. */
class BodyReading extends Rider {
  readonly #exchange: FetchExchange
  readonly #maxBytes: number
  readonly #sink: BodySink
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  #over = false

  constructor(exchange: FetchExchange, maxBytes: number, sink: BodySink) {
    super()
    this.#exchange = exchange
    this.#maxBytes = maxBytes
    this.#sink = sink
  }

  async run(body: ReadableStream<Uint8Array> | null): Promise<void> {
    // ignoreBOM: a mark at the start is part of what came, and no JSON
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    let text = ''
    try {
      this.#reader = body?.getReader()
      for (let size = 0; this.#reader !== undefined; ) {
        const { done, value } = await this.#reader.read()
        if (done) break
        size += value.byteLength
        if (size > this.#maxBytes) {
          this.#fail('too-large')
          return
        }
        text += decoder.decode(value, { stream: true })
      }
      text += decoder.decode()
    } catch (error) {
      // a body that broke off has nobody who waits for an answer
      if (error instanceof TypeError) this.#fail('not-text')
      else this.#stop()
      return
    }
    if (this.#over) return
    this.#stop()
    this.#sink.body(this.#exchange, text)
  }

  /** A whole turn of the wheel has passed. */
  override turn(): void {
    this.#fail('too-slow')
  }

  #fail(fault: 'too-large' | 'not-text' | 'too-slow'): void {
    if (this.#over) return
    this.#stop()
    this.#reader?.cancel().catch(() => undefined)
    this.#sink.bodyFault(this.#exchange, fault)
  }

  #stop(): void {
    this.#over = true
    this.leave()
  }
}
