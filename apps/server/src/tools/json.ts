/** A parsed JSON object of unknown content. Ask `Object.hasOwn` before you trust that a member is there. */
export type UnknownObject = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is UnknownObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What a value is, in words that fit after "this is". */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  if (value === '') return 'an empty string'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object') return 'an object'
  return `a ${typeof value}`
}
