import { HttpFault } from './fault.ts'
import { parseFields } from './fields.ts'
import { HeadText } from './head-text.ts'

/** Takes pieces of a body. */
export interface PieceTaker {
  /** The memory of the bytes is used again as soon as this returns: copy what is kept. */
  onPiece(bytes: Buffer, from: number, to: number): void
}

/** Bytes of extensions that one chunk may have; nobody reads them. */
const maxExtensionBytes = 16_384

const lineFeed = 0x0a
const carriageReturn = 0x0d
const semicolon = 0x3b

/** What stands between the data of chunks. */
type Between = 'size' | 'extension' | 'size-end' | 'data-return' | 'data-end'

/** A body in chunks (RFC 9112, 7.1), from any pieces. Extensions and trailers are checked and dropped. */
export class Chunks {
  #part: Between | 'data' | 'trailer' | 'over' = 'size'
  #size = 0
  #digits = 0
  #extensionBytes = 0
  #trailer: HeadText | undefined

  get isOver(): boolean {
    return this.#part === 'over'
  }

  /** Takes bytes and gives where the rest of them begins, once the body is over. Throws an `HttpFault`. */
  take(bytes: Buffer, from: number, to: number, taker: PieceTaker): number {
    let at = from
    while (at < to) {
      const part = this.#part
      if (part === 'over') return at
      if (part === 'data') {
        const end = Math.min(to, at + this.#size)
        this.#size -= end - at
        taker.onPiece(bytes, at, end)
        at = end
        if (this.#size === 0) this.#part = 'data-return'
      } else if (part === 'trailer') {
        at = this.#takeTrailer(bytes, at, to)
      } else {
        this.#step(part, bytes[at++] as number)
      }
    }
    return at
  }

  #step(part: Between, byte: number): void {
    switch (part) {
      case 'size':
        return this.#sizeStep(byte)
      case 'extension':
        if (byte === carriageReturn) this.#part = 'size-end'
        else if ((byte < 0x20 && byte !== 0x09) || byte === 0x7f) throw new HttpFault('a chunk has a faulty extension')
        else if (++this.#extensionBytes > maxExtensionBytes) throw new HttpFault('a chunk has too many extensions')
        return
      case 'size-end':
        expectByte(byte, lineFeed)
        this.#digits = 0
        this.#extensionBytes = 0
        this.#part = this.#size === 0 ? 'trailer' : 'data'
        return
      case 'data-return':
        expectByte(byte, carriageReturn)
        this.#part = 'data-end'
        return
      case 'data-end':
        expectByte(byte, lineFeed)
        this.#part = 'size'
    }
  }

  #sizeStep(byte: number): void {
    const digit = hexDigit(byte)
    if (digit !== -1) {
      this.#size = this.#size * 16 + digit
      if (++this.#digits > 16 || this.#size > Number.MAX_SAFE_INTEGER) throw new HttpFault('a chunk is too large')
      return
    }
    if (this.#digits === 0) throw new HttpFault('a chunk does not say its size')
    if (byte === carriageReturn) this.#part = 'size-end'
    else if (byte === semicolon) this.#part = 'extension'
    else throw new HttpFault('the size of a chunk is none')
  }

  #takeTrailer(bytes: Buffer, at: number, to: number): number {
    if (this.#trailer === undefined) {
      this.#trailer = new HeadText()
      this.#trailer.beginAfterLine()
    }
    const next = this.#trailer.take(bytes, at, to)
    if (next === -1) return to
    parseFields(this.#trailer.takeText(), 2)
    this.#part = 'over'
    return next
  }
}

function expectByte(byte: number, expected: number): void {
  if (byte !== expected) throw new HttpFault('a chunk does not end where it says')
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}
