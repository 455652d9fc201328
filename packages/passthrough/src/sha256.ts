const words = new Uint32Array(64)

/** Round constants: the first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
const rounds = Uint32Array.from(firstPrimes(64), (prime) => fraction(Math.cbrt(prime)))
/** Initial state: the same of the square roots of the first eight. */
const initial = Uint32Array.from(firstPrimes(8), (prime) => fraction(Math.sqrt(prime)))

/**
 * SHA-256 of the UTF-8 form of a text, in lower-case hexadecimal digits. WebCrypto answers only later, and whoever names or compares
 * tools needs the answer at once.
 */
export function sha256(text: string): string {
  const bytes = new TextEncoder().encode(text)
  const padded = new Uint8Array((((bytes.length + 8) >> 6) + 1) << 6)
  padded.set(bytes)
  padded[bytes.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 0x2000_0000))
  view.setUint32(padded.length - 4, (bytes.length << 3) >>> 0)
  const state = Uint32Array.from(initial)
  for (let at = 0; at < padded.length; at += 64) compress(state, view, at)
  return Array.from(state, (word) => word.toString(16).padStart(8, '0')).join('')
}

function compress(state: Uint32Array, block: DataView, at: number): void {
  for (let i = 0; i < 16; i++) words[i] = block.getUint32(at + 4 * i)
  for (let i = 16; i < 64; i++) {
    const early = word(i - 15)
    const late = word(i - 2)
    const mixed = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3)
    words[i] = word(i - 16) + mixed + word(i - 7) + (turn(late, 17) ^ turn(late, 19) ^ (late >>> 10))
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state
  for (let i = 0; i < 64; i++) {
    const choice = (e & f) ^ (~e & g)
    const first = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + choice + (rounds[i] ?? 0) + word(i)) >>> 0
    const majority = (a & b) ^ (a & c) ^ (b & c)
    const second = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + majority) >>> 0
    h = g
    g = f
    f = e
    e = (d + first) >>> 0
    d = c
    c = b
    b = a
    a = (first + second) >>> 0
  }
  for (const [i, value] of [a, b, c, d, e, f, g, h].entries()) state[i] = (state[i] ?? 0) + value
}

function word(index: number): number {
  return words[index] ?? 0
}

function turn(value: number, bits: number): number {
  return (value >>> bits) | (value << (32 - bits))
}

function fraction(root: number): number {
  return Math.floor((root - Math.floor(root)) * 0x1_0000_0000)
}

function firstPrimes(count: number): readonly number[] {
  const primes: number[] = []
  for (let candidate = 2; primes.length < count; candidate++) {
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate)
  }
  return primes
}
