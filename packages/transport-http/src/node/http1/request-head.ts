import type { HttpRequest } from '../../send.ts'
import { token } from './fields.ts'

/** Fields that HTTP itself owns: with two of them, each end of a connection could take another request for what it got. */
const owned =
  /^(?:host|content-length|transfer-encoding|connection|keep-alive|proxy-connection|te|trailer|upgrade|expect)$/i

const badValue = /[^\t\x20-\x7E\x80-\xFF]/

/** Names that have been looked at, as they are written. Those of one program are few. */
const names = new Map<string, string>()
const maxNames = 500

function written(name: string): string {
  const known = names.get(name)
  if (known !== undefined) return known
  if (!token.test(name) || owned.test(name)) {
    throw new TypeError(`The header ${JSON.stringify(name.slice(0, 80))} has no name that a caller may give.`)
  }
  const text = `${name}: `
  if (names.size < maxNames) names.set(name, text)
  return text
}

/** Where requests to one URL go, as their heads say it. */
export class RequestTarget {
  readonly #beginnings = { POST: '', GET: '', DELETE: '' }

  /** `extra`: fields for the way, each with its line end. `isAbsolute`: whether the target is the whole URL, as proxies want it. */
  constructor(url: URL, isAbsolute: boolean, extra = '') {
    const path = `${url.pathname}${url.search}`
    const target = isAbsolute ? `${url.protocol}//${url.host}${path}` : path
    // The parser of URLs has made it so; nothing depends on that alone.
    if (!/^[\x21-\x7E]+$/.test(target)) throw new TypeError('The URL holds what no request can hold.')
    for (const method of ['POST', 'GET', 'DELETE'] as const) {
      this.#beginnings[method] =
        `${method} ${target} HTTP/1.1\r\nhost: ${url.host}\r\nconnection: keep-alive\r\n${extra}`
    }
  }

  /**
   * The head of a request, without the length of its body and the blank line. Throws a `TypeError` for fields that are none, or that are
   * not the caller's to give.
   */
  head({ method, headers }: Pick<HttpRequest, 'method' | 'headers'>): string {
    let text = this.#beginnings[method]
    let saysEncoding = false
    for (const name in headers) {
      const value = headers[name] as string
      if (badValue.test(value))
        throw new TypeError(`The header ${name.slice(0, 80)} has a value that HTTP does not allow.`)
      text += `${written(name)}${value}\r\n`
      saysEncoding ||= name.length === 15 && name.toLowerCase() === 'accept-encoding'
    }
    // Without it a server may compress as it likes (RFC 9110, 12.5.3).
    return saysEncoding ? text : `${text}accept-encoding: identity\r\n`
  }
}
