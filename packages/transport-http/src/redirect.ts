import { HttpRedirectError } from './http-errors.ts'
import { safeUrl } from './safe-url.ts'
import type { HttpAnswer } from './send.ts'

/** Whether an answer sends us elsewhere. */
export function isRedirect(status: number): boolean {
  return status >= 300 && status < 400 && status !== 304
}

/**
 * Where a request may be sent again, whole: only within its origin, and only for the statuses that keep method and body (row H06, field
 * report C19). Throws an `HttpRedirectError` for anything else, which says what to configure instead.
 */
export function redirectTarget(answer: HttpAnswer, url: string): string {
  const { status } = answer
  const target = locationOf(answer, url)
  const stays = target !== undefined && new URL(target).origin === new URL(url).origin
  if (stays && (status === 307 || status === 308)) return target
  throw redirectError(status, target, url)
}

/** The absolute form of where an answer of this URL points; `undefined` when it points nowhere. */
export function locationOf({ headers }: Pick<HttpAnswer, 'headers'>, url: string): string | undefined {
  const location = headers['location']
  return location !== undefined && URL.canParse(location, url) ? new URL(location, url).href : undefined
}

/** The error for a redirect that is not followed. */
export function redirectError(status: number, target: string | undefined, url: string): HttpRedirectError {
  const from = safeUrl(url)
  const to = target === undefined ? undefined : safeUrl(target)
  const message =
    target === undefined
      ? `${from} redirects (${status}) to nowhere. Ask the operator of the server for its URL.`
      : `${from} redirects (${status}) to ${to}, which is not followed: ${difference(url, target)}. Configure the final URL.`
  return new HttpRedirectError(message, status, to)
}

function difference(from: string, to: string): string {
  const [a, b] = [new URL(from), new URL(to)]
  if (a.host === b.host && a.protocol !== b.protocol) {
    return a.protocol === 'http:' ? 'it wants https where http is configured' : 'it would leave https for http'
  }
  if (a.origin !== b.origin) return 'it is another origin, to which neither credentials nor the request are sent'
  if (`${a.pathname}/` === b.pathname) return 'the path wants a slash at its end'
  if (a.pathname === `${b.pathname}/`) return 'the path wants no slash at its end'
  return 'a POST would become a GET there, or it goes round in circles'
}
