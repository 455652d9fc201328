import type { OnDiagnostic, TransportErrorKind } from '@atenea/mcpcompat'
import { type Clock, systemClock } from '@atenea/mcpcompat/transport'
import { parseChallenges } from './auth/challenge.ts'
import type { Authorizer, AuthRefusal, RenewOptions } from './authorizer.ts'
import type { CallEnd } from './call-end.ts'
import { HttpAuthError, HttpStatusError } from './http-errors.ts'
import { discard, snippet } from './read-body.ts'
import { isRedirect, locationOf, redirectError, redirectTarget } from './redirect.ts'
import { parseRetryAfter } from './retry-after.ts'
import { safeUrl } from './safe-url.ts'
import type { Ending, HttpAnswer, HttpRequest, HttpSend } from './send.ts'
import { wait } from './wait.ts'

/** Gives the value of `Authorization`, such as `Bearer abc`, anew for each request; `undefined` for none. */
export type Authorization = () => string | undefined | Promise<string | undefined>

/** Where credentials come from: a value that the caller knows, or something that gets them and mends them. */
export type Credentials = Authorization | Authorizer

export interface EndpointOptions {
  readonly url: string
  readonly send: HttpSend
  /** Fields that the caller wants on every request. They never replace one that the protocol or HTTP itself owns. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly authorization?: Credentials | undefined
  /** Bytes that one message may have. */
  readonly maxMessageBytes: number
  readonly onDiagnostic?: OnDiagnostic | undefined
  readonly clock?: Clock | undefined
}

/** What of an answer can be looked at as often as one likes. */
export type AnswerHead = Pick<HttpAnswer, 'status' | 'headers'>

/** What a caller of an endpoint decides about one request. */
export type EndpointRequest = Omit<HttpRequest, 'url'> & {
  /** Leave redirects and throttling to the caller, who looks at the answer as it came. */
  readonly plain?: boolean
  /** Nobody waits for it, so no person is asked to sign in for it. */
  readonly unattended?: boolean
  /** Leave 401 and 403 to the caller, who asks for better credentials outside of its time limit (`renew`). */
  readonly keepsRefusal?: boolean
}

/** A POST of one message whose end is told without a signal being made for it. */
export class PostRequest implements EndpointRequest {
  readonly method = 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly repeatable: boolean
  readonly ending: CallEnd
  readonly keepsRefusal: boolean

  constructor(
    headers: Readonly<Record<string, string>>,
    body: string,
    repeatable: boolean,
    ending: CallEnd,
    keepsRefusal = false,
  ) {
    this.headers = headers
    this.body = body
    this.repeatable = repeatable
    this.ending = ending
    this.keepsRefusal = keepsRefusal
  }

  get signal(): AbortSignal {
    return this.ending.signal
  }
}

/** A request as it leaves, with all its fields. */
class LeavingRequest implements HttpRequest {
  readonly method: HttpRequest['method']
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly repeatable: boolean
  readonly ending: Ending | undefined
  readonly #request: EndpointRequest

  constructor(request: EndpointRequest, url: string, headers: Readonly<Record<string, string>>) {
    const { method, body, repeatable, ending } = request
    this.method = method
    this.url = url
    this.headers = headers
    if (body !== undefined) this.body = body
    this.repeatable = repeatable
    this.ending = ending
    this.#request = request
  }

  get signal(): AbortSignal {
    return this.#request.signal
  }
}

/** How often one request is made with other credentials. Each time there has to be a reason; this bounds servers that always give one. */
export const maxRenewals = 4

/** Longest pause that `Retry-After` can ask for within a request; beyond it the caller decides. */
const maxRetryAfterMs = 10_000

const bothForms = 'application/json, text/event-stream'

/**
 * One URL of a server: adds what every request carries, stays at its origin, and puts what goes wrong into words. Within its origin a 307
 * or 308 is followed once, with the request whole. Where the server says `Retry-After` with 429 or 503 it has not looked at the request:
 * one that changes nothing is then repeated once, after at most 10 s; anything else is the caller's to repeat.
 */
export class Endpoint {
  readonly maxMessageBytes: number
  readonly clock: Clock
  readonly onDiagnostic: OnDiagnostic | undefined
  #url: string
  readonly #send: HttpSend
  readonly #headers: Readonly<Record<string, string>>
  readonly #authorization: Authorization | undefined
  readonly #authorizer: Authorizer | undefined
  /** Values that must not appear in messages. */
  readonly #secrets: readonly string[]
  #token: string | undefined
  /** The credentials that were refused, by the head of the answer. */
  readonly #refused = new WeakMap<object, string | undefined>()
  /** The answers that errors were made of; not a member of the error, whose members end up in logs. */
  readonly #heads = new WeakMap<HttpAuthError, AnswerHead>()

  constructor(options: EndpointOptions) {
    const { url, basic } = splitCredentials(options.url)
    this.#url = url
    this.#send = options.send
    this.maxMessageBytes = options.maxMessageBytes
    this.clock = options.clock ?? systemClock
    this.onDiagnostic = options.onDiagnostic
    if (typeof options.authorization === 'function') this.#authorization = options.authorization
    else this.#authorizer = options.authorization
    const headers = { ...basic, ...options.headers }
    this.#headers = allowedHeaders(headers, options.authorization !== undefined, options.onDiagnostic)
    this.#token = this.#headers['authorization']
    this.#secrets = [...Object.values(this.#headers), ...queryValues(url)]
  }

  get url(): string {
    return this.#url
  }

  /** The URL for messages. */
  get name(): string {
    return safeUrl(this.#url)
  }

  /** From now on requests go here, within the same origin. */
  moveTo(url: string): void {
    this.#url = url
  }

  /** Makes one request. Rejects as `HttpSend` does, or with an `HttpRedirectError`. */
  async request(request: EndpointRequest): Promise<HttpAnswer> {
    const first = await this.#once(request, this.#url)
    if (request.plain === true) return first
    if (isRedirect(first.status)) return await this.#follow(request, first)
    const retryAfterMs = request.repeatable ? refusedForNow(first) : undefined
    if (retryAfterMs === undefined || retryAfterMs > maxRetryAfterMs) return first
    await discard(first.body, this.clock)
    await wait(retryAfterMs, request.signal, this.clock, true)
    return await this.#once(request, this.#url)
  }

  async #follow(request: EndpointRequest, answer: HttpAnswer): Promise<HttpAnswer> {
    const url = this.#url
    void discard(answer.body, this.clock)
    const target = redirectTarget(answer, url)
    // For good, says 308; 307 is for this time.
    if (answer.status === 308) this.#url = target
    const second = await this.#once(request, target)
    if (!isRedirect(second.status)) return second
    void discard(second.body, this.clock)
    throw redirectError(second.status, locationOf(second, target), target)
  }

  /** Makes a request, and makes it again with better credentials where it was not let in: then the server has not carried it out. */
  async #once(request: EndpointRequest, url: string): Promise<HttpAnswer> {
    let answer = await this.#attempt(request, url)
    if (request.keepsRefusal === true) return answer
    for (let renewals = 0; isRefusal(answer.status) && this.#authorizer !== undefined; renewals++) {
      void discard(answer.body, this.clock)
      const refused = { ...answer, body: empty }
      const { signal } = request
      if (renewals === maxRenewals || !(await this.renew(answer, { signal, unattended: request.unattended })))
        return refused
      answer = await this.#attempt(request, url)
    }
    return answer
  }

  #attempt(request: EndpointRequest, url: string): Promise<HttpAnswer> {
    const headers: Record<string, string> = { accept: bothForms, ...this.#headers, ...request.headers }
    return this.#authorization === undefined && this.#authorizer === undefined
      ? this.#leave(request, url, headers)
      : this.#authorized(request, url, headers)
  }

  /** The request stands for its signal, which is made only if getting credentials takes its time. */
  async #authorized(request: EndpointRequest, url: string, headers: Record<string, string>): Promise<HttpAnswer> {
    const token = await this.#authorization?.()
    if (token !== undefined) headers['authorization'] = token
    const given = this.#authorizer?.fields({ method: request.method, url }, request)
    if (given !== undefined) Object.assign(headers, given instanceof Promise ? await given : given)
    const sent = headers['authorization']
    if (sent !== undefined) this.#token = sent
    if (request.ending?.isAborted ?? request.signal.aborted) throw request.ending?.reason ?? request.signal.reason
    const answer = await this.#leave(request, url, headers)
    if (this.#authorizer !== undefined) {
      this.#authorizer.saw?.(answer, url)
      if (isRefusal(answer.status)) this.#refused.set(answer.headers, sent)
    }
    return answer
  }

  #leave(request: EndpointRequest, url: string, headers: Readonly<Record<string, string>>): Promise<HttpAnswer> {
    if (this.#send.hearsEnding === true) return this.#send(new LeavingRequest(request, url, headers))
    // Others may copy a request member by member.
    const { method, body, signal, repeatable } = request
    return this.#send({ method, url, headers, signal, repeatable, ...(body !== undefined && { body }) })
  }

  /** Gets better credentials after an answer that wants them, or the error made of it. Resolves with whether to ask again. */
  async renew(answer: AnswerHead | HttpAuthError, options: RenewOptions): Promise<boolean> {
    const { status, headers } = HttpAuthError.is(answer) ? (this.#heads.get(answer) ?? noHead) : answer
    if (this.#authorizer === undefined || !isRefusal(status)) return false
    const refusal: AuthRefusal = {
      status,
      challenges: parseChallenges(headers['www-authenticate']),
      sent: this.#refused.get(headers),
    }
    return await this.#authorizer.renew(refusal, options)
  }

  /** The error for an answer that wants credentials. */
  authError({ status, headers }: AnswerHead): HttpAuthError {
    const challenges = parseChallenges(headers['www-authenticate'] ?? headers['proxy-authenticate'])
    const [first] = challenges
    const scope = first?.parameters.get('scope')
    const advice =
      status === 407
        ? 'The proxy on the way wants credentials: put them into its URL.'
        : status === 403
          ? `The credentials do not suffice${scope === undefined ? '' : ` (wanted scope: ${snippet(scope, this.#allSecrets)})`}, or this client is not let in.`
          : first === undefined
            ? 'Give credentials, such as an Authorization header.'
            : `Give credentials of the scheme ${first.scheme.slice(0, 40)}.`
    const error = new HttpAuthError(`${this.name} refused access with ${status}. ${advice}`, status, challenges)
    this.#heads.set(error, { status, headers })
    return error
  }

  /** The error for an answer that holds no message. `text` is what is known of its body. */
  statusError({ status, headers }: AnswerHead, text: string, repeatable: boolean): HttpStatusError {
    const retryAfterMs = parseRetryAfter(headers['retry-after'])
    const said = snippet(text, this.#allSecrets)
    const message = `${this.name} answered with ${status}${said === '' ? '' : ` and "${said}"`}. ${advice(status, repeatable)}`
    const kind = kindOf(status, retryAfterMs !== undefined, repeatable)
    return new HttpStatusError(kind, message, { status, retryAfterMs, retryable: kind === 'unreachable' })
  }

  get #allSecrets(): readonly string[] {
    const token = this.#token ?? ''
    // A short one would be found by chance, and is no secret.
    return [...this.#secrets, token, token.replace(/^\S+\s+/, '')].filter((secret) => secret.length >= 8)
  }
}

function isRefusal(status: number): boolean {
  return status === 401 || status === 403
}

const noHead: AnswerHead = { status: 0, headers: {} }

/** The body of an answer that has been let go. */
const empty: AsyncIterable<Uint8Array> = {
  [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: undefined }) }),
}

/** Credentials in a URL are for the `Authorization` field; not every way to make requests takes them. */
function splitCredentials(url: string): { readonly url: string; readonly basic: Readonly<Record<string, string>> } {
  const parsed = new URL(url)
  if (parsed.username === '' && parsed.password === '') return { url, basic: {} }
  const bytes = `${bytesOf(parsed.username)}:${bytesOf(parsed.password)}`
  parsed.username = ''
  parsed.password = ''
  return { url: parsed.href, basic: { authorization: `Basic ${btoa(bytes)}` } }
}

/** What a part of a URL stands for, a character for each byte. A percent sign that begins nothing stands for itself, as in browsers. */
function bytesOf(part: string): string {
  return part.replaceAll(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/** Milliseconds after which a server that refused a request without looking at it wants to see it again. */
function refusedForNow({ status, headers }: HttpAnswer): number | undefined {
  return status === 429 || status === 503 ? parseRetryAfter(headers['retry-after']) : undefined
}

function kindOf(status: number, saysWhen: boolean, repeatable: boolean): TransportErrorKind {
  if (status === 413) return 'too-large'
  if (status === 408 || status === 425 || status === 429 || (status === 503 && saysWhen)) return 'unreachable'
  if (status >= 500) return repeatable ? 'unreachable' : 'unknown-outcome'
  return 'protocol'
}

function advice(status: number, repeatable: boolean): string {
  if (status < 300) return 'That is no answer of an MCP server: check the URL.'
  if (status === 404 || status === 405 || status === 410) return 'There is no MCP endpoint: check the path of the URL.'
  if (status === 413) return 'The request is larger than the server takes.'
  if (status === 429) return 'The server wants fewer requests: wait and try again.'
  if (status >= 500) {
    return repeatable
      ? 'The server or a gateway before it has failed: try again later.'
      : 'The server or a gateway before it has failed; the call may have been carried out.'
  }
  return 'The server does not take this request.'
}

/** What stands in the query of a URL, as it is written there and as it is meant: keys are often handed over that way. */
function queryValues(url: string): readonly string[] {
  const { search, searchParams } = new URL(url)
  const written = search
    .slice(1)
    .split('&')
    .map((pair) => pair.replace(/^[^=]*=?/, ''))
  return [...written, ...searchParams.values()]
}

/** Fields that the protocol, HTTP or the way owns. */
const ownedHeader =
  /^(?:mcp-.*|accept|content-.*|host|connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect|last-event-id|proxy-.*)$/i

function allowedHeaders(
  headers: Readonly<Record<string, string>>,
  hasAuthorization: boolean,
  onDiagnostic: OnDiagnostic | undefined,
): Readonly<Record<string, string>> {
  const allowed: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) || !/^[\t\x20-\x7E\x80-\xFF]*$/.test(value)) {
      throw new TypeError(
        `The header ${JSON.stringify(name.slice(0, 80))} has a name or a value that HTTP does not allow.`,
      )
    }
    const key = name.toLowerCase()
    if (ownedHeader.test(key) || (hasAuthorization && key === 'authorization')) {
      onDiagnostic?.({
        level: 'warning',
        code: 'header-ignored',
        message: `The header ${key} belongs to the protocol or is given by other means; the configured one is not sent.`,
      })
    } else {
      allowed[key] = value
    }
  }
  return allowed
}
