import { type JsonObject, isJsonObject } from '@atenea/mcpcompat'
import type { Check } from './check.ts'
import { compileCheck } from './compile.ts'

/** Keywords that demand nothing. */
const annotations: ReadonlySet<string> = new Set(['title', 'description', 'default', 'examples', 'x-mcp-header'])

interface FlatProperty {
  readonly name: string
  readonly type: string
  readonly required: boolean
}

/**
 * Checks an object whose properties have one simple type each and of which nothing else is demanded, as the arguments of most
 * tools are: one function with no others inside, ready at once, for the first call of a tool waits for it. Says why a value
 * does not fit in the words of `compileCheck`. `undefined` for any other schema.
 */
export function compileFlatCheck(schema: JsonObject): Check | undefined {
  const properties = flatPropertiesOf(schema)
  if (properties === undefined) return undefined
  let inWords: Check | undefined
  return (value, trace) => {
    if (trace !== undefined) {
      inWords ??= compileCheck(schema)
      if (inWords !== undefined) return inWords(value, trace)
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
    for (let index = 0; index < properties.length; index++) {
      const { name, type, required } = properties[index] as FlatProperty
      const item = (value as JsonObject)[name]
      if (item === undefined) {
        if (required) return false
      } else if (type === 'integer') {
        if (!Number.isInteger(item)) return false
      } else if (typeof item !== type) return false
    }
    return true
  }
}

function flatPropertiesOf(schema: JsonObject): readonly FlatProperty[] | undefined {
  const { type, properties = {}, required = [], ...others } = schema
  if (type !== 'object' || !isJsonObject(properties) || !Array.isArray(required)) return undefined
  if (!hasOnlyAnnotations(others)) return undefined
  if (required.some((name) => !Object.hasOwn(properties, name as string))) return undefined
  const flat: FlatProperty[] = []
  for (const name of Object.keys(properties)) {
    const property = properties[name]
    // What every object inherits would be found in values that do not have it.
    if (!isJsonObject(property) || name in Object.prototype) return undefined
    const { type: itemType, ...rest } = property
    // The names that `typeof` knows as well, and integers.
    if (itemType !== 'string' && itemType !== 'boolean' && itemType !== 'integer') return undefined
    if (!hasOnlyAnnotations(rest)) return undefined
    flat.push({ name, type: itemType, required: required.includes(name) })
  }
  return flat
}

function hasOnlyAnnotations(schema: JsonObject): boolean {
  for (const key in schema) if (!annotations.has(key)) return false
  return true
}
