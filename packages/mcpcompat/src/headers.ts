import type { Call } from './contract/call.ts'
import type { WireHints } from './contract/context.ts'
import { method } from './contract/methods.ts'
import { AteneaError, rpcCode } from './jsonrpc/errors.ts'
import type { JsonRecord, JsonValue } from './jsonrpc/json.ts'
import type { RpcErrorObject } from './jsonrpc/message.ts'
import { memberOf } from './member.ts'

/** Header fields of the HTTP binding, in lower case as `WireHints` has them. Names are compared without regard to case (MH-HDR-08). */
export const headerName = {
  protocolVersion: 'mcp-protocol-version',
  method: 'mcp-method',
  name: 'mcp-name',
  sessionId: 'mcp-session-id',
  lastEventId: 'last-event-id',
} as const

/** Longest header value that we send, in characters. */
export const maxHeaderLength = 8192

/** Why a value cannot be mirrored into a header. The call must not be sent; nothing has left yet. */
export class HeaderValueError extends AteneaError {
  override readonly name: string = 'HeaderValueError'
  readonly reason: 'lone-surrogate' | 'unsafe-integer' | 'too-long'

  constructor(reason: HeaderValueError['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

const prefix = '=?base64?'
const suffix = '?='

/**
 * The field value for a string in `Mcp-Name` or `Mcp-Param-*` (MH-ENC-01 to -03, -07): as it is where that is safe, else in the
 * Base64 sentinel form. The result never holds a control character. Throws a `HeaderValueError`.
 */
export function encodeHeaderValue(value: string): string {
  const encoded = isPlain(value) ? value : sentinel(value)
  if (encoded.length > maxHeaderLength) {
    throw new HeaderValueError(
      'too-long',
      `The header value has ${encoded.length} characters; at most ${maxHeaderLength} are sent.`,
    )
  }
  return encoded
}

// an empty field value is dropped by some stacks. A-13: a tab is encoded as well.
function isPlain(value: string): boolean {
  if (value === '' || isBlank(value.charCodeAt(0)) || isBlank(value.charCodeAt(value.length - 1))) return false
  // by hand, since a pattern takes several times as long for names, which are short
  for (let index = 0; index < value.length; index++) {
    const code = value.charCodeAt(index)
    if (code < 0x20 || code > 0x7e) return false
  }
  return !(value.startsWith(prefix) && value.endsWith(suffix))
}

function sentinel(value: string): string {
  // no long way for a value that will be refused
  if (value.length > maxHeaderLength) return value
  if (/\p{Surrogate}/u.test(value)) {
    throw new HeaderValueError('lone-surrogate', 'The value holds half of a surrogate pair and has no UTF-8 form.')
  }
  const bytes = new TextEncoder().encode(value)
  return `${prefix}${btoa(String.fromCharCode(...bytes))}${suffix}`
}

/**
 * The value that a received `Mcp-Name` or `Mcp-Param-*` field stands for, or `undefined` when it is malformed (MH-ENC-04 to -06,
 * MH-VAL-08). Surrounding blanks are not part of a field value (MH-HDR-09). Decodes once.
 */
export function decodeHeaderValue(field: string): string | undefined {
  const value = trimField(field)
  if (!(value.startsWith(prefix) && value.endsWith(suffix))) return isFieldText(value) ? value : undefined
  const payload = value.slice(prefix.length, -suffix.length)
  // the two markers overlap in `=?base64?=`
  if (value.length < prefix.length + suffix.length || !isCanonicalBase64(payload)) return undefined
  const bytes = Uint8Array.from(atob(payload), (character) => character.charCodeAt(0))
  try {
    // ignoreBOM: a leading U+FEFF is part of the value
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined // not UTF-8
  }
}

/** A field value without optional whitespace around it. */
export function trimField(field: string): string {
  if (!isBlank(field.charCodeAt(0)) && !isBlank(field.charCodeAt(field.length - 1))) return field
  let start = 0
  let end = field.length
  while (start < end && isBlank(field.charCodeAt(start))) start++
  while (end > start && isBlank(field.charCodeAt(end - 1))) end--
  return field.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}

/** Visible ASCII, space and tab; a plain interior tab is accepted on receipt. */
function isFieldText(value: string): boolean {
  return /^[\x20-\x7E\t]*$/.test(value)
}

const base64Digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** Standard alphabet, padded, and zero in the bits after the last byte. */
function isCanonicalBase64(text: string): boolean {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return false
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  if (padding === 0) return true
  const last = base64Digits.indexOf(text.charAt(text.length - padding - 1))
  return padding === 2 ? (last & 0b1111) === 0 : (last & 0b11) === 0
}

/** The member of `params` that `Mcp-Name` mirrors, by method; no other method has one (MH-HDR-06, A-54). */
const nameSource: ReadonlyMap<string, 'name' | 'uri'> = new Map([
  [method.callTool, 'name'],
  [method.getPrompt, 'name'],
  [method.readResource, 'uri'],
])

function nameIn(methodName: string, params: JsonRecord | undefined): JsonValue | undefined {
  const source = nameSource.get(methodName)
  return source === undefined ? undefined : memberOf(params, source)
}

/**
 * The standard headers of a modern message (MH-HDR-01, -05, -06, A-19), made from the body that is sent: rebuild them whenever
 * a name was rewritten (BR-302). Throws a `HeaderValueError` for a name that no header can hold.
 */
export function standardHeaders(call: Call, revision: string): WireHints {
  const name = nameIn(call.method, call.params)
  const headers = { [headerName.protocolVersion]: revision, [headerName.method]: call.method }
  return typeof name === 'string' ? { ...headers, [headerName.name]: encodeHeaderValue(name) } : headers
}

/** The answer to headers that are missing, malformed or different from the body (MC-ERR-05). */
export function headerMismatch(message: string): RpcErrorObject {
  return { code: rpcCode.headerMismatch, message }
}

/**
 * Compares `Mcp-Method` and `Mcp-Name` with the body (MH-HDR-09 to -11, MH-VAL-01; ladder steps 21 and 22). A header that was
 * sent twice arrives joined, so it differs. `undefined` means that they agree.
 */
export function standardHeaderFault(
  methodName: string,
  params: JsonRecord | undefined,
  headers: WireHints,
): RpcErrorObject | undefined {
  // step 21: no sentinel here, so a value with other characters can only differ
  const stated = headers[headerName.method]
  if (stated === undefined) return headerMismatch('The Mcp-Method header is missing.')
  const source = nameSource.get(methodName)
  if (
    (stated !== methodName && trimField(stated) !== methodName) ||
    (source === undefined && !isFieldText(methodName))
  ) {
    return headerMismatch('The Mcp-Method header differs from the method in the body.')
  }
  // step 22
  if (source === undefined) return undefined
  const name = memberOf(params, source)
  const field = headers[headerName.name]
  // as nearly all are; what is plain stands for itself
  if (field !== undefined && field === name && isPlain(field)) return undefined
  // required by the method, also where the body names nothing: headers are judged before params
  if (field === undefined) return headerMismatch('The Mcp-Name header is missing.')
  const decoded = decodeHeaderValue(field)
  if (decoded === undefined) return headerMismatch('The Mcp-Name header is malformed.')
  if (decoded !== name) return headerMismatch(`The Mcp-Name header differs from params.${source} in the body.`)
  return undefined
}
