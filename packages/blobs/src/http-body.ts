import type { ClientRequest, IncomingMessage } from 'node:http'
import { BlobError } from './blob-error.ts'
import type { Deadline } from './deadline.ts'
import { tooLarge } from './read-chunks.ts'

/** Bytes to send, and how many they are. */
export interface HttpBody {
  readonly size: number
  readonly chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>
}

/**
 * Sends the body of a request, if it has one, as fast as the other side takes it. Stops when an answer comes before all of it
 * was sent: a server that answers early has made up its mind.
 */
export async function sendBody(request: ClientRequest, body: HttpBody | undefined, deadline: Deadline): Promise<void> {
  if (body === undefined) {
    request.end()
    return
  }
  let isOver = false
  const over = new Promise<void>((resolve) => {
    const stop = (): void => {
      isOver = true
      resolve()
    }
    request.once('response', stop)
    request.once('close', stop)
  })
  for await (const chunk of body.chunks) {
    if (isOver) return
    const taken = new Promise<void>((resolve) => {
      request.write(chunk, () => resolve())
    })
    await Promise.race([taken, over])
    deadline.progress()
  }
  request.end()
}

export interface ReadBodyOptions {
  readonly request: ClientRequest
  readonly url: URL
  readonly deadline: Deadline
  readonly maxBytes: number
}

/** The body of an answer, within its limit. Throws unless all of it came. When it ends, so do the clocks of the exchange. */
export async function* readBody(
  answer: IncomingMessage,
  { request, url, deadline, maxBytes }: ReadBodyOptions,
): AsyncGenerator<Uint8Array, void> {
  let size = 0
  let isWhole = false
  try {
    const chunks = answer[Symbol.asyncIterator]() as AsyncIterator<Buffer>
    for (;;) {
      deadline.progress()
      const next = await chunks.next()
      deadline.pause()
      if (next.done === true) break
      size += next.value.length
      if (size > maxBytes) throw tooLarge(maxBytes)
      yield next.value
    }
    isWhole = true
  } catch (error) {
    if (deadline.ended !== undefined) throw deadline.ended.reason
    throw BlobError.is(error) ? error : truncated(url, size, error)
  } finally {
    deadline.clear()
    if (!isWhole) answer.destroy()
    // An answer that came before the body was sent leaves a request that nobody ends.
    if (!request.writableFinished) request.destroy()
  }
}

function truncated(url: URL, size: number, cause?: unknown): BlobError {
  return new BlobError('truncated', `${url.origin} broke off after ${size} bytes`, {
    cause,
    details: { source: url.origin, size },
    retryable: true,
  })
}
