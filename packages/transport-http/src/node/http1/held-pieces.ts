/** Pieces below this share memory, since each by itself takes a hundred bytes more than it has. */
const smallBytes = 1_024

const blockBytes = 16_384

/** Pieces of a body that are held until somebody wants them. */
export class HeldPieces {
  readonly #pieces: Buffer[] = []
  /** Where small pieces are gathered after the first one. Most bodies have but one piece. */
  #block: Buffer | undefined
  #used = 0

  /** Copies what is given. */
  add(bytes: Buffer, from: number, to: number): void {
    const length = to - from
    if (length >= smallBytes || (this.#pieces.length === 0 && this.#block === undefined)) {
      this.#sealBlock()
      this.#pieces.push(copyOf(bytes, from, to))
      return
    }
    if (this.#block === undefined || this.#used + length > blockBytes) {
      this.#sealBlock()
      this.#block = Buffer.allocUnsafe(blockBytes)
    }
    bytes.copy(this.#block, this.#used, from, to)
    this.#used += length
  }

  /** What has been added, in order. Nothing more can be added then. */
  all(): readonly Buffer[] {
    this.#sealBlock()
    return this.#pieces
  }

  /** The same in one piece. */
  whole(): Buffer {
    const pieces = this.all()
    const [first] = pieces
    return first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces)
  }

  #sealBlock(): void {
    if (this.#block !== undefined) this.#pieces.push(this.#block.subarray(0, this.#used))
    this.#block = undefined
    this.#used = 0
  }
}

/** A copy of a part of bytes whose memory is used again. */
export function copyOf(bytes: Buffer, from: number, to: number): Buffer {
  const copy = Buffer.allocUnsafe(to - from)
  bytes.copy(copy, 0, from, to)
  return copy
}
