import { isAscii, isUtf8 } from 'node:buffer'
import { edgeLength } from '@atenea/mcpcompat/transport'

/** Bytes that one line may have before its line feed, unless told otherwise: 16 MiB. */
export const defaultMaxLineBytes: number = 16 * 1024 * 1024

/** Why a line is none that a message can be read from. */
export type LineFault =
  /** Bytes that are not UTF-8. They are refused, never replaced by U+FFFD. */
  | 'invalid-utf8'
  /** Over the limit. Reported once, as soon as it is known; the rest of the line is skipped without keeping it. */
  | 'too-long'
  /** The peer frames with `Content-Length:` headers, as language servers do. Nothing it sends can be understood. */
  | 'content-length'

/** Where a framer puts what it finds, in the order of the bytes. */
export interface LineSink {
  /** A line without its end (LF or CRLF). Never empty or blank. */
  line(text: string): void
  /** `head` and `tail` are the ends of the line as far as they are known by then: of one that is too long its head alone. */
  fault(fault: LineFault, head: string, tail: string): void
  /** The end of a line that was too long: its last characters. */
  skipped?(tail: string): void
}

export interface CreateLineFramerOptions {
  /** Bytes before the line feed. Default 16 MiB. */
  readonly maxLineBytes?: number | undefined
}

export interface LineFramer {
  /** Takes the next bytes. They may be reused by the caller afterwards. */
  push(chunk: Buffer): void
  /** The stream has ended. Returns the number of bytes of an unfinished last line, which is discarded. */
  end(): number
}

const lineFeed = 0x0a
const byteOrderMark = 0xfeff
const openBrace = 0x7b
const blank = /^[\t\r ]*$/
const contentLength = /^content-length[\t ]*:[\t ]*\d+[\t\r ]*$/i

const nothing: Buffer = Buffer.alloc(0)

/** Kept between lines for the next long one. */
const keptBytes = 1024 * 1024

/**
 * Bytes to lines (MS-FRM-01, A-34). Only LF ends a line, and it is looked for in the bytes, so neither U+2028 nor a character
 * that is cut between two chunks can break a frame. A byte order mark at the start of the stream is dropped.
 *
 * Work is linear in the bytes at any chunking, and no more than twice the limit is held.
 */
export function createLineFramer(sink: LineSink, options: CreateLineFramerOptions = {}): LineFramer {
  const maxLineBytes = options.maxLineBytes ?? defaultMaxLineBytes
  let atStart = true
  let skipping = false
  /** The last bytes of a line that is skipped. */
  let tail: Buffer = nothing
  let held: Buffer = Buffer.alloc(0)
  let heldBytes = 0

  function emit(text: string): void {
    if (atStart) {
      atStart = false
      if (text.charCodeAt(0) === byteOrderMark) text = text.slice(1)
    }
    if (text.charCodeAt(0) !== openBrace) {
      if (blank.test(text)) return
      if (contentLength.test(text)) {
        sink.fault('content-length', text, text)
        return
      }
    }
    sink.line(text.endsWith('\r') ? text.slice(0, -1) : text)
  }

  /** One line as bytes, without its line feed. */
  function emitBytes(bytes: Buffer): void {
    const text = bytes.length > maxLineBytes ? undefined : decode(bytes)
    if (text !== undefined) {
      emit(text)
      return
    }
    atStart = false
    sink.fault(bytes.length > maxLineBytes ? 'too-long' : 'invalid-utf8', headOf(bytes), tailOf(bytes))
  }

  /** Lines that stand whole in one chunk, without the last line feed. Decoding them together is what makes short messages cheap. */
  function emitLines(chunk: Buffer, from: number, to: number): void {
    const text = to - from > maxLineBytes ? undefined : decodePart(chunk, from, to)
    if (text === undefined) {
      forEachSlice(chunk.subarray(from, to), emitBytes)
      return
    }
    let start = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      emit(text.slice(start, end))
      start = end + 1
    }
    emit(start === 0 ? text : text.slice(start))
  }

  /** Keeps the beginning of a line until its end comes. */
  function hold(chunk: Buffer, start: number, end: number): void {
    const part = chunk.subarray(start, end)
    if (skipping) {
      tail = lastOf(tail, part)
      return
    }
    const needed = heldBytes + part.length
    if (needed > maxLineBytes) {
      skipping = true
      atStart = false
      const begun = held.subarray(0, heldBytes)
      const head = headOf(heldBytes < edgeLength ? Buffer.concat([begun, part.subarray(0, edgeLength)]) : begun)
      tail = lastOf(begun, part)
      release()
      sink.fault('too-long', head, '')
      return
    }
    if (needed > held.length) {
      const grown = Buffer.allocUnsafeSlow(Math.min(Math.max(needed * 2, 4096), maxLineBytes))
      held.copy(grown, 0, 0, heldBytes)
      held = grown
    }
    chunk.copy(held, heldBytes, start, end)
    heldBytes = needed
  }

  function release(): void {
    heldBytes = 0
    if (held.length > keptBytes * 2) held = Buffer.alloc(0)
  }

  /** The line feed of a line that began in an earlier chunk. */
  function finish(): void {
    if (skipping) {
      skipping = false
      sink.skipped?.(tailOf(tail))
      tail = nothing
      return
    }
    emitBytes(held.subarray(0, heldBytes))
    release()
  }

  return {
    push(chunk) {
      let start = 0
      if (skipping || heldBytes > 0) {
        const end = chunk.indexOf(lineFeed)
        hold(chunk, 0, end === -1 ? chunk.length : end)
        if (end === -1) return
        finish()
        start = end + 1
      }
      const last = chunk.lastIndexOf(lineFeed)
      if (last >= start) {
        emitLines(chunk, start, last)
        start = last + 1
      }
      if (start < chunk.length) hold(chunk, start, chunk.length)
    },

    end() {
      const discarded = heldBytes
      skipping = false
      release()
      return discarded
    },
  }
}

function forEachSlice(bytes: Buffer, use: (line: Buffer) => void): void {
  let start = 0
  for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, start)) {
    use(bytes.subarray(start, end))
    start = end + 1
  }
  use(bytes.subarray(start))
}

/** The last bytes of two parts together, in memory of their own. */
function lastOf(before: Buffer, part: Buffer): Buffer {
  return Buffer.concat([before.subarray(-edgeLength), part.subarray(-edgeLength)]).subarray(-edgeLength)
}

function headOf(bytes: Buffer): string {
  return bytes.toString('utf8', 0, edgeLength)
}

function tailOf(bytes: Buffer): string {
  return bytes.toString('utf8', Math.max(0, bytes.length - edgeLength))
}

/** Like `decode` for a part of a chunk; of ASCII, as most chunks are, no view of that part has to be made. */
function decodePart(chunk: Buffer, from: number, to: number): string | undefined {
  return isAscii(chunk) ? chunk.toString('latin1', from, to) : decode(chunk.subarray(from, to))
}

/** The text of UTF-8 bytes, or `undefined` when they are none. A byte order mark is kept. */
function decode(bytes: Buffer): string | undefined {
  // On Node 20 the decoder for UTF-8 is six times slower on long ASCII text than the one for Latin-1, which agrees with it there.
  if (isAscii(bytes)) return bytes.toString('latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined
}
