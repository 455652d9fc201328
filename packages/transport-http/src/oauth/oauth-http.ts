import { TransportError } from '@atenea/mcpcompat'
import { linkSignals, systemClock } from '@atenea/mcpcompat/transport'
import { discard, readText } from '../read-body.ts'
import { isRedirect, locationOf } from '../redirect.ts'
import { safeUrl } from '../safe-url.ts'
import type { HttpAnswer, HttpSend } from '../send.ts'
import { guardedUrl } from './guarded-url.ts'
import { OAuthError } from './oauth-error.ts'

/** Bytes that a document or an answer of an authorization server may have. */
const maxBytes = 262_144
const timeoutMs = 20_000
/** How often a document may send us on, within its origin. */
const maxRedirects = 2

export interface OAuthHttpOptions {
  readonly send: HttpSend
  /** The server that we sign in to; decides which URLs may be asked. */
  readonly serverUrl: string
}

/** What came for a document. */
export interface FetchedDocument {
  /** Where it was found in the end. */
  readonly url: string
  readonly status: number
  readonly text: string
}

/**
 * Requests of the sign-in: to `https`, or to this machine where the server is on it; bounded in size and time; without redirects but for
 * documents, and there within the origin only.
 */
export class OAuthHttp {
  readonly #options: OAuthHttpOptions

  constructor(options: OAuthHttpOptions) {
    this.#options = options
  }

  /** Checks what somebody else wrote before it is asked or shown to anybody. */
  guard(url: string, what: string): URL {
    return guardedUrl(url, what, this.#options.serverUrl)
  }

  /** Gets a document. An `OAuthError` when the URL must not be asked, does not answer, or leads elsewhere. */
  async document(start: string, what: string, signal: AbortSignal | undefined): Promise<FetchedDocument> {
    let url = this.guard(start, what).href
    for (let hop = 0; ; hop++) {
      const { answer, text } = await this.#request(
        { method: 'GET', url, headers: { accept: 'application/json' }, body: undefined },
        signal,
      )
      if (!isRedirect(answer.status)) return { url, status: answer.status, text }
      const target = locationOf(answer, url)
      if (target === undefined || hop >= maxRedirects || new URL(target).origin !== new URL(url).origin) {
        const to = target === undefined ? 'nowhere' : safeUrl(target)
        throw new OAuthError('metadata', `The ${what} ${safeUrl(url)} redirects to ${to}, which is not followed.`)
      }
      url = this.guard(target, what).href
    }
  }

  /** As the libraries for OAuth want it. Redirects come back as they are; a server that cannot answer now is an `OAuthError`. */
  readonly fetch = async (target: string, init: FetchInit): Promise<Response> => {
    const url = this.guard(target, 'URL of the authorization server').href
    const body = init.body instanceof URLSearchParams ? init.body.toString() : init.body
    if (init.method !== 'POST' && init.method !== 'GET')
      throw new TypeError(`a sign-in makes no ${init.method} request`)
    const { answer, text } = await this.#request(
      { method: init.method, url, headers: init.headers, body: body ?? undefined },
      init.signal,
    )
    const { status } = answer
    // It says nothing about who asks: a sign-in that is good must not be given up for it.
    if ((status >= 500 && status <= 599) || status === 429)
      throw new OAuthError('unreachable', `${safeUrl(url)} cannot answer now (${status}). Try again later.`)
    if (status < 200 || status > 599)
      throw new OAuthError('invalid-response', `${safeUrl(url)} answered with the status ${status}.`)
    const hasNoBody = status === 204 || status === 205 || status === 304
    return new Response(hasNoBody ? null : text, { status, headers: fieldsOf(answer) })
  }

  async #request(
    request: {
      method: 'GET' | 'POST'
      url: string
      headers: Readonly<Record<string, string>>
      body: string | undefined
    },
    signal: AbortSignal | undefined,
  ): Promise<{ readonly answer: HttpAnswer; readonly text: string }> {
    const { method, url, headers, body } = request
    using limit = linkSignals([signal], { timeoutMs })
    try {
      const answer = await this.#options.send({
        method,
        url,
        headers,
        signal: limit.signal,
        // A code and a refresh token may be good for one use.
        repeatable: method === 'GET',
        ...(body !== undefined && { body }),
      })
      if (isRedirect(answer.status)) {
        void discard(answer.body, systemClock)
        return { answer, text: '' }
      }
      return { answer, text: await readText(answer.body, maxBytes) }
    } catch (error) {
      signal?.throwIfAborted()
      if (limit.signal.aborted) {
        throw new OAuthError('unreachable', `${safeUrl(url)} did not answer within ${timeoutMs} ms.`, { cause: error })
      }
      if (!TransportError.is(error) || OAuthError.is(error)) throw error
      const code = error.kind === 'too-large' ? 'metadata' : 'unreachable'
      throw new OAuthError(code, `${safeUrl(url)}: ${error.message}`, { cause: error })
    }
  }
}

/** The part of `RequestInit` that is used. */
export interface FetchInit {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: URLSearchParams | string | null | undefined
  readonly signal?: AbortSignal | undefined
}

function fieldsOf({ headers }: HttpAnswer): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined || name === 'content-length' || name === 'content-encoding' || name === 'set-cookie'
      ? []
      : [[name, String(value)]],
  )
}
