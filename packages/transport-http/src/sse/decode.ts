import { TransportError } from '@atenea/mcpcompat'

/** One event as it was dispatched. */
export interface SseEvent {
  /** `message` unless the stream named another type. */
  readonly type: string
  /** The data lines, joined with line feeds. */
  readonly data: string
}

export interface CreateSseDecoderOptions {
  /** Bytes that one event may have. What belongs to no event, such as a comment, is never held. */
  readonly maxEventBytes: number
}

/** Turns the bytes of one stream into events. */
export interface SseDecoder {
  /** Takes the next bytes and gives the events that they complete. Throws a `TransportError` of kind `too-large`. */
  push(chunk: Uint8Array): readonly SseEvent[]
  /** The id of the last event that was complete and had one; where a stream may be resumed. An empty one resets it. */
  readonly lastEventId: string | undefined
  /** The last reconnection time that the stream asked for, in milliseconds. */
  readonly retryMs: number | undefined
}

/**
 * A decoder by the rules of WHATWG, at any chunking: lines end with LF, CR or CRLF and with nothing else, a leading BOM is
 * dropped, an event that the end of the stream cuts off is none. Time is linear in the number of bytes.
 */
export function createSseDecoder(options: CreateSseDecoderOptions): SseDecoder {
  return new Decoder(options.maxEventBytes)
}

const lineFeed = 0x0a
const carriageReturn = 0x0d
const colon = 0x3a
const byteOrderMark = [0xef, 0xbb, 0xbf]
const nothing: readonly SseEvent[] = []

function indexOrEnd(chunk: Uint8Array, byte: number, from: number): number {
  const index = chunk.indexOf(byte, from)
  return index === -1 ? chunk.length : index
}

class Decoder implements SseDecoder {
  lastEventId: string | undefined
  retryMs: number | undefined
  readonly #maxEventBytes: number
  // A sequence of UTF-8 holds no line end, so lines can be decoded one by one. A BOM counts at the start of the stream only.
  readonly #text = new TextDecoder('utf-8', { ignoreBOM: true })
  /** The beginning of a line whose end has not come. */
  #parts: Uint8Array[] = []
  #partBytes = 0
  /** The line that has begun is a comment, which may be of any length and is not held. */
  #inComment = false
  #afterCarriageReturn = false
  /** How much of a leading BOM has been seen; `undefined` once that is settled. */
  #bomBytes: number | undefined = 0
  // the event that is being read
  #bytes = 0
  #data: string[] = []
  #type = ''
  #id: string | undefined

  constructor(maxEventBytes: number) {
    this.#maxEventBytes = maxEventBytes
  }

  push(chunk: Uint8Array): readonly SseEvent[] {
    let start = this.#bomBytes === undefined ? 0 : this.#skipByteOrderMark(chunk)
    let events: SseEvent[] | undefined
    // Where the next line ends of both kinds are, searched for again only when one has been passed: every byte is looked at once.
    let nextFeed = -1
    let nextReturn = -1
    while (start < chunk.length) {
      if (this.#afterCarriageReturn) {
        this.#afterCarriageReturn = false
        if (chunk[start] === lineFeed) {
          start++
          continue
        }
      }
      if (nextFeed < start) nextFeed = indexOrEnd(chunk, lineFeed, start)
      if (nextReturn < start) nextReturn = indexOrEnd(chunk, carriageReturn, start)
      const byReturn = nextReturn < nextFeed
      const end = byReturn ? nextReturn : nextFeed
      if (end === chunk.length) {
        this.#hold(chunk.subarray(start))
        break
      }
      const event = this.#line(chunk.subarray(start, end))
      if (event !== undefined) (events ??= []).push(event)
      this.#afterCarriageReturn = byReturn
      start = end + 1
    }
    return events ?? nothing
  }

  /** Gives where the content of the first chunks begins. Bytes that looked like the beginning of a BOM and were none are content. */
  #skipByteOrderMark(chunk: Uint8Array): number {
    let index = 0
    let matched = this.#bomBytes ?? 0
    while (index < chunk.length && matched < 3 && chunk[index] === byteOrderMark[matched]) {
      index++
      matched++
    }
    if (index === chunk.length && matched < 3) {
      this.#bomBytes = matched
      return index
    }
    const earlier = this.#bomBytes ?? 0
    this.#bomBytes = undefined
    if (matched === 3) return index
    if (earlier > 0) this.#hold(Uint8Array.from(byteOrderMark.slice(0, earlier)))
    return 0
  }

  #hold(part: Uint8Array): void {
    if (this.#partBytes === 0 && !this.#inComment) this.#inComment = part[0] === colon
    if (this.#inComment) return
    this.#count(this.#partBytes + part.length)
    this.#parts.push(part)
    this.#partBytes += part.length
  }

  /** The rest of a line, without its end. */
  #line(rest: Uint8Array): SseEvent | undefined {
    if (this.#inComment) {
      this.#inComment = false
      return undefined
    }
    const length = this.#partBytes + rest.length
    if (length === 0) return this.#dispatch()
    if (this.#partBytes === 0 && rest[0] === colon) return undefined
    this.#count(length)
    this.#bytes += length
    this.#field(this.#text.decode(this.#partBytes === 0 ? rest : this.#joined(rest)))
    return undefined
  }

  #joined(rest: Uint8Array): Uint8Array {
    const line = new Uint8Array(this.#partBytes + rest.length)
    let at = 0
    for (const part of this.#parts) {
      line.set(part, at)
      at += part.length
    }
    line.set(rest, at)
    this.#parts = []
    this.#partBytes = 0
    return line
  }

  #count(lineBytes: number): void {
    if (this.#bytes + lineBytes <= this.#maxEventBytes) return
    throw new TransportError('too-large', `An event of the stream has more than ${this.#maxEventBytes} bytes`)
  }

  #field(line: string): void {
    const at = line.indexOf(':')
    const name = at === -1 ? line : line.slice(0, at)
    const value = at === -1 ? '' : line.slice(line.charCodeAt(at + 1) === 0x20 ? at + 2 : at + 1)
    switch (name) {
      case 'data':
        this.#data.push(value)
        return
      case 'event':
        this.#type = value
        return
      case 'id':
        if (!value.includes('\0')) this.#id = value
        return
      case 'retry':
        if (/^[0-9]+$/.test(value)) this.retryMs = Number(value)
    }
  }

  /** A blank line: the event is complete. Without a data line it is none, but its id counts. */
  #dispatch(): SseEvent | undefined {
    if (this.#id !== undefined) this.lastEventId = this.#id
    const data = this.#data
    const type = this.#type === '' ? 'message' : this.#type
    this.#bytes = 0
    this.#type = ''
    if (data.length === 0) return undefined
    this.#data = []
    return { type, data: data.length === 1 ? (data[0] as string) : data.join('\n') }
  }
}
