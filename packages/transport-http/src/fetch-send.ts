import { TransportError } from '@atenea/mcpcompat'
import { safeUrl } from './safe-url.ts'
import type { HttpAnswer, HttpRequest, HttpSend } from './send.ts'

export interface CreateFetchSendOptions {
  /** Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch
}

/** Codes of runtimes that name the cause, for a server that was not reached at all. */
const notReached =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|CERT_.*|ERR_TLS_.*|DEPTH_ZERO_.*|SELF_SIGNED_.*|UNABLE_TO_.*)$/

/**
 * Makes requests with `fetch`, which every runtime has. It tells little about what went wrong: unless the runtime says that the server was not
 * reached, a request that failed counts as one of unknown outcome.
 */
export function createFetchSend(options: CreateFetchSendOptions = {}): HttpSend {
  return async (request) => {
    const answer = await attempt(options.fetch ?? globalThis.fetch, request)
    // Browsers hide where they were sent; nothing can be said about such an answer.
    if (answer.type === 'opaqueredirect') {
      throw new TransportError(
        'protocol',
        `${safeUrl(request.url)} redirects, and this runtime does not say where to. Configure the final URL.`,
      )
    }
    return { status: answer.status, headers: Object.fromEntries(answer.headers), body: bodyOf(answer, request) }
  }
}

async function attempt(fetch: typeof globalThis.fetch, request: HttpRequest): Promise<Response> {
  const { method, url, headers, body, signal } = request
  try {
    return await fetch(url, { method, headers, signal, redirect: 'manual', ...(body !== undefined && { body }) })
  } catch (error) {
    signal.throwIfAborted()
    const code = codeOf(error)
    const why = code ?? 'the reason is not told'
    throw code !== undefined && notReached.test(code)
      ? new TransportError('unreachable', `${safeUrl(url)} cannot be reached: ${why}`, {
          cause: error,
          retryable: true,
        })
      : new TransportError('unknown-outcome', `${safeUrl(url)} gave no answer: ${why}`, {
          cause: error,
          retryable: request.repeatable,
        })
  }
}

function codeOf(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined
  return typeof code === 'string' ? code : undefined
}

function bodyOf(answer: Response, request: HttpRequest): HttpAnswer['body'] {
  return {
    [Symbol.asyncIterator]() {
      const reader = answer.body?.getReader()
      return {
        async next(): Promise<IteratorResult<Uint8Array>> {
          if (reader === undefined) return { value: undefined, done: true }
          try {
            const { value, done } = await reader.read()
            return done ? { value: undefined, done } : { value, done }
          } catch (error) {
            request.signal.throwIfAborted()
            throw new TransportError('closed', `The answer of ${safeUrl(request.url)} broke off`, { cause: error })
          }
        },
        async return(): Promise<IteratorResult<Uint8Array>> {
          await reader?.cancel().catch(() => undefined)
          return { value: undefined, done: true }
        },
      }
    },
  }
}
