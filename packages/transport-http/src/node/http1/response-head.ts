import { HttpFault } from './fault.ts'
import { type FieldMap, parseFields } from './fields.ts'

/** Where the body of an answer ends: after so many bytes, where its chunks say so, or with the connection. */
export type BodyEnd = number | 'chunked' | 'close'

export interface ResponseHead {
  readonly status: number
  readonly headers: FieldMap
  readonly end: BodyEnd
  /** Whether another request may follow on the connection. */
  readonly keepsAlive: boolean
}

const statusLine = /^HTTP\/1\.([01]) ([1-9][0-9]{2})(?: [^\r\n]*)?\r\n/

/** Whether what has come so far can be the beginning of an answer. */
export function canBeginHead(text: string): boolean {
  return 'HTTP/1.'.startsWith(text.slice(0, 7))
}

/**
 * Reads a head: its lines, each with its end, without the blank one. Whatever leaves room for two readings of where the body ends is an
 * `HttpFault` (RFC 9112, 6.3 and 11): two lengths, a length beside chunks, an encoding that is not chunks alone, obsolete line folding.
 */
export function parseResponseHead(text: string): ResponseHead {
  const line = statusLine.exec(text)
  if (line === null) throw new HttpFault('what came is no HTTP answer')
  const status = Number(line[2])
  const headers = parseFields(text, line[0].length)
  return {
    status,
    headers,
    end: endOf(status, headers),
    keepsAlive: keepsAlive(headers['connection'], line[1] === '1'),
  }
}

function endOf(status: number, headers: FieldMap): BodyEnd {
  const length = headers['content-length']
  const encoding = headers['transfer-encoding']
  if (encoding !== undefined) {
    if (length !== undefined) throw new HttpFault('there is a content-length beside a transfer-encoding')
    if (encoding.toLowerCase() !== 'chunked') throw new HttpFault('the transfer-encoding is none that was asked for')
  }
  const bytes = length === undefined ? undefined : parseLength(length)
  if (status < 200 || status === 204 || status === 304) return 0
  return encoding === undefined ? (bytes ?? 'close') : 'chunked'
}

function parseLength(value: string): number {
  const bytes = /^[0-9]{1,16}$/.test(value) ? Number(value) : Number.NaN
  if (!Number.isSafeInteger(bytes)) throw new HttpFault('the content-length is none')
  return bytes
}

function keepsAlive(connection: string | undefined, isNewer: boolean): boolean {
  if (connection === undefined) return isNewer
  if (connection === 'keep-alive') return true
  const options = connection.toLowerCase().split(/[\t ]*,[\t ]*/)
  return !options.includes('close') && (isNewer || options.includes('keep-alive'))
}
