import type { Principal, WireHints } from '@atenea/mcpcompat'
import { Rider, type Wheel } from '../wheel.ts'
import { BodyReading, type BodyReader } from './body-reading.ts'
import type { BodySink, ExchangeWatcher, HeaderFields, HttpExchange } from './http-exchange.ts'
import { nobody } from './nobody.ts'

/** What is used of `net.Socket`. */
export interface NodeConnection {
  readonly destroyed: boolean
  once(event: 'close', listener: () => void): unknown
  destroy(): unknown
}

/** What is used of `http.IncomingMessage`. */
export interface NodeRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: object
  readonly socket: NodeConnection
  on(event: 'data', listener: (chunk: Uint8Array) => void): unknown
  on(event: 'end' | 'close', listener: () => void): unknown
  destroy(): unknown
  /**
   * Hands the body over as it arrives, without the queue of a stream in between; false when some of it waits in that queue already. Only
   * requests of a server of our own can do that, whose connections nobody else writes to.
   */
  readInto?(reader: BodyReader): boolean
  /** Lets go of the head, which nobody asks for once an answer has begun that may go on for hours. There with `readInto`. */
  forget?(): void
}

/** What is used of `http.ServerResponse`. */
export interface NodeResponse {
  /** None while answers to earlier requests on the same connection are still being written. */
  readonly socket: object | null
  readonly destroyed: boolean
  readonly writableFinished: boolean
  readonly writableLength: number
  /** Whether the platform puts what is written into chunks; known once the head is written. */
  chunkedEncoding?: boolean
  writeHead(status: number, fields: string[]): unknown
  write(text: string | Uint8Array): boolean
  end(text: string): unknown
  writeContinue(): unknown
  on(event: 'close', listener: () => void): unknown
  once(event: 'drain' | 'close', listener: () => void): unknown
  off(event: 'drain' | 'close', listener: () => void): unknown
  destroy(): unknown
}

/** The global of Node, where requests of this kind come from. */
declare const Buffer: {
  byteLength(text: string): number
  from(text: string): Uint8Array
}

/** Smaller answers fit into what the system keeps for a socket. */
const largeBody = 16 * 1024
/** Turns of the wheel in which nothing of an answer is read before its client counts as gone. */
const maxStalledTurns = 4

const noFields: HeaderFields = []
const noHeaders: WireHints = Object.freeze({})
const lastAnswer: HeaderFields = ['Connection', 'close']

/** An exchange of `node:http`, without anything of the web platform in between: that would cost more than all the rest. */
export class NodeExchange implements HttpExchange {
  headers: WireHints
  principal: Principal = nobody
  commonFields: HeaderFields = noFields
  readonly #req: NodeRequest
  readonly #res: NodeResponse
  readonly #slowBodies: Wheel
  /** Whether the client sends its body only when it is told to go on. */
  #waits: boolean
  #relief: Promise<void> | undefined
  #watcher: ExchangeWatcher | undefined
  /** Whether the chunks of its stream are made here. */
  #framed = false

  constructor(req: NodeRequest, res: NodeResponse, slowBodies: Wheel, waits: boolean) {
    // only set-cookie can be a list, and nobody asks for that
    this.headers = req.headers as WireHints
    this.#req = req
    this.#res = res
    this.#slowBodies = slowBodies
    this.#waits = waits
  }

  get method(): string {
    return this.#req.method ?? 'GET'
  }

  get target(): string {
    return this.#req.url ?? '/'
  }

  get gone(): boolean {
    return this.#res.destroyed || this.#req.socket.destroyed
  }

  get unsent(): number {
    return this.#res.writableLength
  }

  read(maxBytes: number, sink: BodySink): void {
    if (this.#waits) {
      this.#waits = false
      this.#res.writeContinue()
    }
    const reading = new BodyReading(this, this.#req, maxBytes, sink)
    this.#slowBodies.add(reading)
    if (this.#req.readInto?.(reading) !== true) readStream(this.#req, reading)
  }

  watch(watcher: ExchangeWatcher): void {
    const res = this.#res
    if (this.gone) {
      watcher.gone(this)
      return
    }
    this.#watcher = watcher
    if (res.socket === null) this.#watchQueued()
    else res.on('close', () => this.#closed())
  }

  whole(status: number, fields: HeaderFields, body: string): void {
    if (this.gone) return
    // whether the body of a client that waits still comes, nobody knows: what follows on the connection could be either
    const own = this.#waits ? [...fields, ...lastAnswer] : fields
    this.#res.writeHead(status, [...own, ...this.commonFields, 'Content-Length', String(Buffer.byteLength(body))])
    this.#res.end(body)
    if (body.length > largeBody && this.#res.writableLength > 0) this.#awaitReader()
  }

  open(fields: HeaderFields, first: string): void {
    if (this.gone) return
    const res = this.#res
    res.writeHead(200, [...fields, ...this.commonFields])
    if (this.#req.forget !== undefined) {
      // The platform writes each chunk in four pieces, which costs more than all the rest of an event.
      if (res.chunkedEncoding === true) {
        res.chunkedEncoding = false
        this.#framed = true
      }
      this.#req.forget()
      this.headers = noHeaders
      this.commonFields = noFields
    }
    // the head is kept as long as the stream, and as one string only when it is written by itself: bytes do not join it
    res.write(Buffer.from(this.#piece(first)))
  }

  write(text: string): void | Promise<void> {
    if (this.gone || this.#res.write(this.#piece(text))) return
    this.#relief ??= this.#relieved()
    return this.#relief
  }

  finish(last: string): void {
    if (!this.gone) this.#res.end(this.#framed ? `${this.#piece(last)}0\r\n\r\n` : last)
  }

  /** A piece of a stream as it goes over the wire. An empty one would be the end. */
  #piece(text: string): string {
    return this.#framed && text !== '' ? `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n` : text
  }

  destroy(): void {
    this.#res.destroy()
    // an answer that waits for its turn has no connection of its own to close
    if (this.#res.socket === null) this.#req.socket.destroy()
  }

  #closed(): void {
    const watcher = this.#watcher
    this.#watcher = undefined
    if (!this.#res.writableFinished) watcher?.gone(this)
  }

  /** An answer that waits for its turn on the connection is not told when that closes. */
  #watchQueued(): void {
    const waiting = waitingOn(this.#req.socket)
    const closed = (): void => {
      waiting.delete(closed)
      this.#closed()
    }
    waiting.add(closed)
    this.#res.on('close', closed)
  }

  #awaitReader(): void {
    this.#slowBodies.add(new UnreadAnswer(this.#res))
  }

  #relieved(): Promise<void> {
    const res = this.#res
    const waiting = res.socket === null ? waitingOn(this.#req.socket) : undefined
    return new Promise((resolve) => {
      const done = (): void => {
        waiting?.delete(done)
        res.off('drain', done)
        res.off('close', done)
        this.#relief = undefined
        resolve()
      }
      waiting?.add(done)
      res.once('drain', done)
      res.once('close', done)
    })
  }
}

/** By itself: its listeners stay as long as the request, which may be a stream for hours, and hold what is in scope here. */
function readStream(req: NodeRequest, reading: BodyReading): void {
  req.on('data', (chunk) => reading.take(chunk))
  req.on('end', () => reading.end())
  req.on('close', () => reading.gone())
}

const waitingByConnection = new WeakMap<NodeConnection, Set<() => void>>()

/** Who is to be told when a connection closes. One listener for all, however many requests a client queues on it. */
function waitingOn(connection: NodeConnection): Set<() => void> {
  const known = waitingByConnection.get(connection)
  if (known !== undefined) return known
  const waiting = new Set<() => void>()
  waitingByConnection.set(connection, waiting)
  connection.once('close', () => {
    for (const onGone of waiting) onGone()
  })
  return waiting
}

/** An answer that is written, and of which the client reads nothing for long: its memory is better used for others. */
class UnreadAnswer extends Rider {
  readonly #res: NodeResponse
  #unsent: number
  #stalledTurns = 0

  constructor(res: NodeResponse) {
    super()
    this.#res = res
    this.#unsent = res.writableLength
  }

  override turn(): void {
    const res = this.#res
    if (res.destroyed || res.writableFinished) {
      this.leave()
      return
    }
    this.#stalledTurns = res.writableLength === this.#unsent ? this.#stalledTurns + 1 : 0
    this.#unsent = res.writableLength
    if (this.#stalledTurns >= maxStalledTurns) res.destroy()
  }
}
