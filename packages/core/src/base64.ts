/** What Node and some other runtimes offer beyond the standard library; both are many times faster than `btoa`. */
interface FastEncoders {
  readonly Buffer?: {
    from(bytes: ArrayBufferLike, offset: number, length: number): { toString(encoding: 'base64'): string }
  }
}

/** Bytes that `btoa` takes at a time; a multiple of three, so that no padding comes between. */
const chunkBytes = 3 * 8192

/** Bytes as base64 with padding (MC-RES-08, MC-TOOL-17). */
export function encodeBase64(bytes: Uint8Array): string {
  const { Buffer } = globalThis as FastEncoders
  if (Buffer !== undefined) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  return encodeByChunks(bytes)
}

/** The way of runtimes that have nothing better. */
export function encodeByChunks(bytes: Uint8Array): string {
  let text = ''
  for (let start = 0; start < bytes.length; start += chunkBytes) {
    text += btoa(String.fromCharCode(...bytes.subarray(start, start + chunkBytes)))
  }
  return text
}

/** Whether a text is base64 with its padding. */
export function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)
}
