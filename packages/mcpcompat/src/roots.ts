import type { JsonObject } from './jsonrpc/json.ts'

/** A folder or file that a server may look at, as `roots/list` tells of it. */
export interface Root {
  /** A `file://` URI. */
  readonly uri: string
  /** For people. */
  readonly name?: string | undefined
}

/**
 * Why a URI names no root, or `undefined` when it does (MC-ROOT-02, MC-ROOT-03). It must mean one place however it is read, so what would be
 * resolved by some readers and not by others is refused, written plainly or encoded.
 */
export function rootFault(uri: string): string | undefined {
  const path = /^file:\/\/(?:[\w.-]+|\[[\da-f:.]+\])?(\/[^?#]*)$/i.exec(uri)?.[1]
  if (path === undefined) return 'is no file:// URI with an absolute path and nothing after it'
  if (!/^(?:[\w.~!$&'()*+,;=:@/-]|%[\da-f]{2})*$/i.test(path)) return 'has characters that must be percent-encoded'
  const segments = path.split('/').map(decoded)
  if (segments.includes(undefined)) return 'is not UTF-8 when it is decoded'
  if (segments.some((segment) => segment === '.' || segment === '..')) return 'has a segment . or ..'
  if (segments.some((segment) => /[/\\\0]/.test(segment ?? ''))) return 'has an encoded separator or NUL'
  return undefined
}

/** The answer to `roots/list`; `undefined` without any root. Throws a `TypeError` that names the one that is none. */
export function rootsResult(roots: readonly Root[] = []): JsonObject | undefined {
  if (roots.length === 0) return undefined
  return {
    roots: roots.map(({ uri, name }) => {
      const fault = rootFault(uri)
      if (fault !== undefined) throw new TypeError(`The root ${JSON.stringify(uri)} ${fault}`)
      return name === undefined ? { uri } : { uri, name }
    }),
  }
}

/** The `file://` URI of an absolute path: of POSIX, of Windows with a drive, or of Windows with a server and a share. `undefined` for any other. */
export function fileUriOf(path: string): string | undefined {
  if (!path.isWellFormed()) return undefined
  if (path.startsWith('/')) return `file://${path.split('/').map(encoded).join('/')}`
  const [, start, rest = ''] = /^([a-z]:|\\\\[\w.-]+)[\\/](.+)?$/is.exec(path) ?? []
  if (start === undefined) return undefined
  const isDrive = start.endsWith(':')
  const segments = rest.split(/[\\/]/).map(encoded)
  return `file://${isDrive ? `/${start}` : start.slice(2)}/${segments.join('/')}`
}

/** As RFC 3986 has a segment of a path: what may stand there plainly does. */
function encoded(segment: string): string {
  return encodeURIComponent(segment).replace(/%(?:24|26|2B|2C|3A|3B|3D|40)/g, decodeURIComponent)
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}
