import { BlobError } from './blob-error.ts'

/** What bytes are called of which nothing else is known. */
export const unknownType = 'application/octet-stream'

/** Longer ones are nobody's. */
const maxLength = 200
const token = "[!#$&^_.+\\-'a-z0-9]+"
const form = new RegExp(`^(${token}/${token})((?:\\s*;\\s*${token}=(?:${token}|"[^"\\\\\\x00-\\x1f\\x7f]*"))*)$`, 'i')

/**
 * A MIME type in one spelling: type and subtype in lower case, parameters kept. Undefined for text that is none, for `*` as
 * a part (some servers say that of what they do not know), and for what does not fit into a header.
 */
export function normalizeType(text: string | undefined): string | undefined {
  const trimmed = text?.trim() ?? ''
  if (trimmed.length > maxLength || !/^[\x20-\x7e]*$/.test(trimmed)) return undefined
  const [, essence, parameters = ''] = form.exec(trimmed) ?? []
  return essence === undefined ? undefined : essence.toLowerCase() + parameters
}

/** A type without its parameters, which frameworks of web servers add on their own. */
export function essenceOf(type: string | undefined): string | undefined {
  return normalizeType(type)?.split(';', 1)[0]?.trimEnd()
}

/** The type to upload bytes as. A `BlobError` of kind `invalid-type` for what is none. */
export function parseType(text: string): string {
  const type = normalizeType(text)
  if (type !== undefined) return type
  const shown = JSON.stringify(String(text).slice(0, maxLength).toWellFormed())
  throw new BlobError(
    'invalid-type',
    `${shown} is not a MIME type such as image/png. Say ${unknownType} if it is not known.`,
  )
}

/** Whether a type says something about the bytes. */
function isSpecific(type: string | undefined): type is string {
  return type !== undefined && type !== unknownType
}

/** Of types that were said of the same bytes, in order of trust, the first that says something. */
export function bestType(...types: readonly (string | undefined)[]): string | undefined {
  return types.find(isSpecific) ?? types.find((type) => type !== undefined)
}
