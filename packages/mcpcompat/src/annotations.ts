import { isJsonObject, type JsonValue } from './jsonrpc/json.ts'

const roles: readonly JsonValue[] = ['user', 'assistant']
const iso8601 = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?)?$/

/** Why a value is no `annotations` of content or of a resource, or `undefined` (MC-RES-13). Unknown members are allowed. */
export function annotationsFault(value: JsonValue | undefined): string | undefined {
  if (!isJsonObject(value)) return 'is not an object'
  const { audience, priority, lastModified } = value
  if (
    audience !== undefined &&
    !(Array.isArray(audience) && audience.every((role: JsonValue) => roles.includes(role)))
  ) {
    return 'has an audience other than user and assistant'
  }
  if (priority !== undefined && !(typeof priority === 'number' && priority >= 0 && priority <= 1)) {
    return 'has a priority outside 0..1'
  }
  if (lastModified !== undefined && !isMoment(lastModified)) return 'has a lastModified that is no ISO 8601 time'
  return undefined
}

function isMoment(value: JsonValue): boolean {
  return typeof value === 'string' && iso8601.test(value) && !Number.isNaN(Date.parse(value))
}
