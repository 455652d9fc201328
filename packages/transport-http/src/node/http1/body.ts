import { type Channel, channel, type Resolvers, withResolvers } from '@atenea/mcpcompat/transport'
import { tooLarge } from '../../read-body.ts'
import type { HttpBody } from '../../send.ts'
import { copyOf, HeldPieces } from './held-pieces.ts'
import { giveMemory, takeMemory } from './spare-memory.ts'

/** What a body can do to its connection. */
export interface BodySource {
  /** Nobody takes what comes at the moment. */
  pause(): void
  resume(): void
  /** Nobody wants the rest. */
  stop(): void
}

/** Up to here an answer that says its length gets one place ready for all of it; of others the pieces are held. */
const maxReadyBytes = 1_048_576

/** The longest string that there can be. */
const maxTextLength = 0x1fff_ffe8

const noBytes = Buffer.alloc(0)

/** What waits for a slow reader before the connection is paused. */
const waitAtBytes = 65_536

/**
 * The body of one answer. Before somebody wants it nothing is read off the connection but what came with the head, and what has a place
 * ready. Whoever wants it as text gets it whole; whoever iterates it gets the pieces, and holds up the server by being slow.
 */
export class AnswerBody implements HttpBody {
  readonly #source: BodySource
  /** Where an answer of known length is gathered. */
  #ready: Buffer | undefined
  #held: HeldPieces | undefined
  #bytes = 0
  #channel: Channel<Uint8Array> | undefined
  #whole: { readonly maxBytes: number; readonly text: Resolvers<string> } | undefined
  #isOver = false
  #failure: Error | undefined

  /** `length`: the bytes that it will have, where the head says so. */
  constructor(source: BodySource, length: number | undefined) {
    this.#source = source
    if (length !== undefined && length > 0 && length <= maxReadyBytes) this.#ready = takeMemory(length)
  }

  text(maxBytes: number): string | Promise<string> {
    const most = Math.min(maxBytes, maxTextLength)
    if (this.#isOver) {
      if (this.#failure !== undefined) throw this.#failure
      if (this.#bytes > most) throw tooLarge(most)
      return this.#text()
    }
    const text = withResolvers<string>()
    this.#whole = { maxBytes: most, text }
    if (!this.#isTooLarge()) this.#source.resume()
    return text.promise
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    const pieces: Channel<Uint8Array> = channel({
      waitAtBytes,
      // What one read brings beyond that; reading has been stopped by then.
      maxBytes: 64 * 1_048_576,
      onStop: () => this.#source.stop(),
    })
    this.#channel = pieces
    for (const piece of this.#pieces()) void pieces.push(piece, piece.length)
    if (this.#isOver) pieces.end(this.#failure)
    else this.#source.resume()
    return pieces[Symbol.asyncIterator]()
  }

  // what comes

  /** The memory of the bytes is used again as soon as this returns. */
  onPiece(bytes: Buffer, from: number, to: number): void {
    if (this.#isOver) return
    if (this.#channel !== undefined) {
      const room = this.#channel.push(copyOf(bytes, from, to), to - from)
      if (room === undefined) return
      this.#source.pause()
      void room.then(() => this.#source.resume())
      return
    }
    if (this.#ready === undefined) {
      this.#held ??= new HeldPieces()
      this.#held.add(bytes, from, to)
      if (this.#whole === undefined) this.#source.pause()
    } else {
      bytes.copy(this.#ready, this.#bytes, from, to)
    }
    this.#bytes += to - from
    if (this.#whole !== undefined) this.#isTooLarge()
  }

  /** All has come. */
  onEnd(): void {
    this.#isOver = true
    this.#channel?.end()
    this.#whole?.text.resolve(this.#text())
  }

  /** Nothing more will come. What has come before is still given to whoever iterates, unless it was the reader who gave up. */
  onFailure(error: Error, isGivenUp: boolean): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#failure = error
    this.#whole?.text.reject(error)
    if (isGivenUp) {
      this.#drop()
      this.#channel?.fail(error)
    } else this.#channel?.end(error)
  }

  #isTooLarge(): boolean {
    const whole = this.#whole
    if (whole === undefined || this.#bytes <= whole.maxBytes) return false
    this.onFailure(tooLarge(whole.maxBytes), true)
    this.#source.stop()
    return true
  }

  #text(): string {
    const ready = this.#ready
    const text = textOf(ready ?? this.#held?.whole() ?? noBytes, this.#bytes)
    this.#drop()
    if (ready !== undefined) giveMemory(ready)
    return text
  }

  /** What has come belongs to whoever gets it. */
  #pieces(): readonly Buffer[] {
    const pieces = this.#ready === undefined ? this.#held?.all() : [this.#ready.subarray(0, this.#bytes)]
    this.#drop()
    return pieces ?? []
  }

  #drop(): void {
    this.#ready = undefined
    this.#held = undefined
    this.#bytes = 0
  }
}

/** The text of bytes in UTF-8, without the mark that some put at its beginning. */
function textOf(bytes: Buffer, length: number): string {
  const hasMark = length >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  return bytes.toString('utf8', hasMark ? 3 : 0, length)
}
