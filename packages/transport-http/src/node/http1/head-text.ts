import { HttpFault } from './fault.ts'
import { hasForeign } from './fields.ts'

/** Longest head, and longest trailer, that is taken; as much as Node's own client takes. */
const maxHeadBytes = 16_384

/** Most heads are shorter, and what comes after them need not be looked at. */
const stepBytes = 1_024

const lineFeed = 0x0a
const carriageReturn = 0x0d

/** Collects lines up to the blank one after them, from any pieces. */
export class HeadText {
  #text = ''
  /** Where the blank line begins. */
  #end = 0

  /** What has come of them. */
  get soFar(): string {
    return this.#text
  }

  /** The lines, each with its end, without the blank one. To be asked for once all of them have come. */
  takeText(): string {
    const text = this.#text.slice(0, this.#end + 2)
    this.#text = ''
    return text
  }

  /** Begins with lines that have none of their own, after the end of another. */
  beginAfterLine(): void {
    this.#text = '\r\n'
  }

  /** Takes bytes and gives where the rest of them begins; -1 when all are taken and the blank line has not come. Throws an `HttpFault`. */
  take(bytes: Buffer, from: number, to: number): number {
    let at = from
    // Some servers end a body with a line end too many.
    if (this.#text === '') while (at < to && (bytes[at] === carriageReturn || bytes[at] === lineFeed)) at++
    while (at < to) {
      const before = this.#text.length
      const next = Math.min(to, at + stepBytes)
      this.#text += bytes.toString('latin1', at, next)
      this.#end = this.#text.indexOf('\r\n\r\n', Math.max(0, before - 3))
      if (this.#end > maxHeadBytes) break
      if (this.#end !== -1) return at + this.#end + 4 - before
      at = next
      if (this.#text.length > maxHeadBytes) break
    }
    if (this.#text.length > maxHeadBytes) throw new HttpFault(`the head has more than ${maxHeadBytes} bytes`)
    // Who never says a blank line, since it speaks of something else, is not waited for.
    if (hasForeign(this.#text)) throw new HttpFault('the head holds characters that none may hold')
    return -1
  }
}
