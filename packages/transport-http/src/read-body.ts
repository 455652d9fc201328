import { TransportError } from '@atenea/mcpcompat'
import type { Clock } from '@atenea/mcpcompat/transport'
import type { HttpBody } from './send.ts'

/** The whole body as text; a promise where it has to be waited for. Fails with a `TransportError` of kind `too-large` past the limit. */
export function readText(body: HttpBody, maxBytes: number): string | Promise<string> {
  return body.text === undefined ? collectText(body, maxBytes) : body.text(maxBytes)
}

async function collectText(body: HttpBody, maxBytes: number): Promise<string> {
  const { chunks, complete } = await collect(body, maxBytes)
  if (!complete) throw tooLarge(maxBytes)
  return decode(chunks)
}

/** The error for an answer that has more bytes than its reader takes. */
export function tooLarge(maxBytes: number): TransportError {
  return new TransportError('too-large', `The answer has more than ${maxBytes} bytes`)
}

/** The beginning of a body as text, at most so many bytes of it. What breaks off is as good as what has come. */
export async function readSome(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const { chunks } = await collect(body, maxBytes)
  return decode(chunks)
}

async function collect(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<{ readonly chunks: readonly Uint8Array[]; readonly complete: boolean }> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > maxBytes) {
      chunks.push(chunk.subarray(0, chunk.length - (bytes - maxBytes)))
      return { chunks, complete: false }
    }
    chunks.push(chunk)
  }
  return { chunks, complete: true }
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: false })

/** All at once: to decode piece by piece takes three times as long. */
function decode(chunks: readonly Uint8Array[]): string {
  const [only] = chunks
  if (chunks.length === 1 && only !== undefined) return utf8.decode(only)
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return utf8.decode(bytes)
}

/** An answer that nobody needs is read to its end, within these bounds, so that its connection can be used again. */
const discardBytes = 65_536
const discardMs = 1_000

/** Lets go of a body: reads the little that is left, or ends the exchange. Never rejects; nobody has to wait for it. */
export async function discard(body: AsyncIterable<Uint8Array>, clock: Clock): Promise<void> {
  let timer: Disposable | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = clock.after(discardMs, () => resolve('late'))
  })
  try {
    const iterator = body[Symbol.asyncIterator]()
    for (let bytes = 0; bytes <= discardBytes; ) {
      const next = await Promise.race([iterator.next(), late])
      if (next === 'late') break
      if (next.done === true) return
      bytes += next.value.length
    }
    await iterator.return?.()
  } catch {
    // It broke, so there is nothing left of it.
  } finally {
    timer?.[Symbol.dispose]()
  }
}

/** A short piece of text that came from outside, fit for a message: one line, printable, bounded, and without our secrets. */
export function snippet(text: string, secrets: readonly string[]): string {
  let clean = text
  for (const secret of secrets) clean = clean.replaceAll(secret, '[redacted]')
  clean = clean.replaceAll(/[\s\p{C}]+/gu, ' ').trim()
  return clean.length > 200 ? `${clean.slice(0, 200)}…` : clean
}
