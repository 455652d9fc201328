import { type JsonObject, type JsonValue, canonicalize, isJsonObject } from '@atenea/mcpcompat'
import { type Check, type Trace, checkAt, fails, quote, typeText } from './check.ts'
import type { Schema } from './keywords.ts'
import { compilePattern } from './pattern.ts'

/**
 * Keywords with a meaning that closures do not cover. A schema that has one of them anywhere is left to the full validator.
 * `nullable` and `id` are none of the dialects', but validators give them one.
 */
const uncovered: ReadonlySet<string> = new Set([
  '$dynamicRef',
  '$recursiveRef',
  '$ref',
  'additionalItems',
  'contains',
  'dependencies',
  'dependentRequired',
  'dependentSchemas',
  'else',
  'id',
  'if',
  'maxContains',
  'minContains',
  'multipleOf',
  'nullable',
  'patternProperties',
  'prefixItems',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
])

/** A schema that closures do not cover. */
class Uncovered extends Error {}

const anything: Check = () => true

/**
 * Compiles a schema of the simple, common kind to closures: no library, no generated code, and words that help a model. Gives
 * `undefined` for any other schema. Verdicts are those of the full validator; a test compares the two.
 */
export function compileCheck(schema: Schema): Check | undefined {
  try {
    return compile(schema)
  } catch (error) {
    if (error instanceof Uncovered) return undefined
    throw error
  }
}

function compile(schema: Schema): Check {
  if (schema === true) return anything
  if (schema === false) return (_value, trace) => fails(trace, 'is not allowed')
  const needed = new Set<Builder>()
  for (const key of Object.keys(schema)) {
    if (uncovered.has(key)) throw new Uncovered()
    const builder = builders.get(key)
    if (builder !== undefined) needed.add(builder)
  }
  // A fixed order, whatever the order of the keywords: the first check that fails is the one that is told.
  return all(builderOrder.filter((builder) => needed.has(builder)).map((builder) => builder(schema)))
}

/** Makes the check of some keywords; `undefined` when they demand nothing. */
type Builder = (schema: JsonObject) => Check | undefined

const builderOrder: readonly Builder[] = [
  typeCheck,
  valuesCheck,
  textCheck,
  numberCheck,
  arrayCheck,
  objectCheck,
  combinationCheck,
]

/** Who looks at which keyword. Those of keywords that are not there never run: the first call of a tool waits for this. */
const builders: ReadonlyMap<string, Builder> = new Map([
  ['type', typeCheck],
  ['enum', valuesCheck],
  ['const', valuesCheck],
  ['minLength', textCheck],
  ['maxLength', textCheck],
  ['pattern', textCheck],
  ['minimum', numberCheck],
  ['maximum', numberCheck],
  ['exclusiveMinimum', numberCheck],
  ['exclusiveMaximum', numberCheck],
  ['items', arrayCheck],
  ['minItems', arrayCheck],
  ['maxItems', arrayCheck],
  ['uniqueItems', arrayCheck],
  ['properties', objectCheck],
  ['required', objectCheck],
  ['minProperties', objectCheck],
  ['maxProperties', objectCheck],
  ['additionalProperties', objectCheck],
  ['allOf', combinationCheck],
  ['anyOf', combinationCheck],
  ['oneOf', combinationCheck],
  ['not', combinationCheck],
])

/** One check of several; the first that fails decides. */
function all(candidates: readonly (Check | undefined)[]): Check {
  const checks = candidates.filter((check) => check !== undefined)
  const [first, second] = checks
  if (first === undefined) return anything
  if (second === undefined) return first
  if (checks.length === 2) return (value, trace) => first(value, trace) && second(value, trace)
  return (value, trace) => {
    for (const check of checks) if (!check(value, trace)) return false
    return true
  }
}

const typeTests: Readonly<Record<string, (value: unknown) => boolean>> = {
  array: Array.isArray,
  boolean: (value) => typeof value === 'boolean',
  integer: Number.isInteger,
  null: (value) => value === null,
  number: Number.isFinite,
  object: isPlainObject,
  string: (value) => typeof value === 'string',
}

function isPlainObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function typeCheck(schema: JsonObject): Check | undefined {
  const { type } = schema
  if (type === undefined) return undefined
  if (typeof type === 'string') {
    const test = typeTests[type] as (value: unknown) => boolean
    return (value, trace) => test(value) || wrongType([type], value, trace)
  }
  const names = type as readonly string[]
  const tests = names.map((name) => typeTests[name] as (value: unknown) => boolean)
  return (value, trace) => tests.some((test) => test(value)) || wrongType(names, value, trace)
}

function wrongType(names: readonly string[], value: unknown, trace: Trace | undefined): false {
  if (trace === undefined) return false
  const expected = names
    .map((name) => (name === 'null' ? name : `${/^[aio]/.test(name) ? 'an' : 'a'} ${name}`))
    .join(' or ')
  return fails(trace, `must be ${expected}, but is ${typeText(value)}`)
}

/** `enum` and `const` of values that `===` can compare. */
function valuesCheck(schema: JsonObject): Check | undefined {
  const checks: Check[] = []
  for (const values of [
    schema.enum as readonly JsonValue[] | undefined,
    Object.hasOwn(schema, 'const') ? [schema.const] : undefined,
  ]) {
    if (values === undefined) continue
    if (values.some((value) => typeof value === 'object' && value !== null)) throw new Uncovered()
    const allowed = new Set<unknown>(values)
    const expected = values.length === 1 ? quote(values[0]) : `one of ${values.map((value) => quote(value)).join(', ')}`
    checks.push((value, trace) => allowed.has(value) || fails(trace, `must be ${expected}, but is ${quote(value)}`))
  }
  return checks.length === 0 ? undefined : all(checks)
}

function textCheck(schema: JsonObject): Check | undefined {
  const minLength = schema.minLength as number | undefined
  const maxLength = schema.maxLength as number | undefined
  const source = schema.pattern as string | undefined
  if (minLength === undefined && maxLength === undefined && source === undefined) return undefined
  const pattern = source === undefined ? undefined : compilePattern(source)
  return (value, trace) => {
    if (typeof value !== 'string') return true
    if (minLength !== undefined && isShorter(value, minLength)) {
      return fails(trace, `must have at least ${minLength} characters`)
    }
    if (maxLength !== undefined && !isShorter(value, maxLength + 1)) {
      return fails(trace, `must have at most ${maxLength} characters`)
    }
    if (pattern !== undefined && !pattern.test(value)) return fails(trace, `must match the pattern ${source}`)
    return true
  }
}

/** Whether a text has fewer code points than `length`. They are counted only where the code units leave it open. */
function isShorter(text: string, length: number): boolean {
  if (text.length < length) return true
  if (text.length >= length * 2) return false
  let count = 0
  for (const _ of text) if (++count >= length) return false
  return count < length
}

type Comparison = readonly [limit: number, isBeyond: (value: number, limit: number) => boolean, words: string]

function numberCheck(schema: JsonObject): Check | undefined {
  const limits: Comparison[] = []
  const add = (limit: JsonValue | undefined, isBeyond: Comparison[1], words: string): void => {
    if (typeof limit === 'number') limits.push([limit, isBeyond, `${words} ${limit}`])
  }
  add(schema.minimum, (value, limit) => value < limit, 'must be at least')
  add(schema.maximum, (value, limit) => value > limit, 'must be at most')
  add(schema.exclusiveMinimum, (value, limit) => value <= limit, 'must be greater than')
  add(schema.exclusiveMaximum, (value, limit) => value >= limit, 'must be less than')
  if (limits.length === 0) return undefined
  return (value, trace) => {
    if (typeof value !== 'number' || !Number.isFinite(value)) return true
    for (const [limit, isBeyond, words] of limits) {
      if (isBeyond(value, limit)) return fails(trace, `${words}, but is ${value}`)
    }
    return true
  }
}

function arrayCheck(schema: JsonObject): Check | undefined {
  if (Array.isArray(schema.items)) throw new Uncovered()
  const minItems = (schema.minItems as number | undefined) ?? 0
  const maxItems = (schema.maxItems as number | undefined) ?? Infinity
  const item = schema.items === undefined ? anything : compile(schema.items as Schema)
  const unique = schema.uniqueItems === true
  if (minItems === 0 && maxItems === Infinity && item === anything && !unique) return undefined
  return (value, trace) => {
    if (!Array.isArray(value)) return true
    if (value.length < minItems) return fails(trace, `must have at least ${minItems} items`)
    if (value.length > maxItems) return fails(trace, `must have at most ${maxItems} items`)
    if (unique && hasEqualItems(value as readonly JsonValue[])) return fails(trace, 'must not hold equal items')
    if (item === anything) return true
    if (trace === undefined) return value.every((entry) => item(entry, undefined))
    return value.filter((entry, index) => !checkAt(item, entry, index, trace)).length === 0
  }
}

/** Whether a list holds one value twice, in linear time. */
export function hasEqualItems(items: readonly JsonValue[]): boolean {
  const seen = new Set<JsonValue>()
  for (const item of items) {
    // No string equals the text of a container, since those of the list's own strings get a mark.
    const key =
      typeof item === 'object' && item !== null ? canonicalize(item) : typeof item === 'string' ? `"${item}` : item
    if (seen.has(key)) return true
    seen.add(key)
  }
  return false
}

interface Member {
  readonly key: string
  readonly check: Check
  readonly required: boolean
  /** Every object has something under this name; only an own member counts (field report E13). */
  readonly inherited: boolean
}

function objectCheck(schema: JsonObject): Check | undefined {
  const properties = (schema.properties ?? {}) as JsonObject
  const required = (schema.required ?? []) as readonly string[]
  const names = [...new Set([...Object.keys(properties), ...required])]
  const members: Member[] = names.map((key) => ({
    key,
    check: Object.hasOwn(properties, key) ? compile(properties[key] as Schema) : anything,
    required: required.includes(key),
    inherited: key in Object.prototype,
  }))
  const minProperties = (schema.minProperties as number | undefined) ?? 0
  const maxProperties = (schema.maxProperties as number | undefined) ?? Infinity
  const others = othersCheck(schema, Object.keys(properties))
  const counts = minProperties > 0 || maxProperties < Infinity
  if (members.length === 0 && !counts && others === undefined) return undefined
  return (value, trace) => {
    if (!isPlainObject(value)) return true
    let fits = true
    // By index: an iterator costs a young process more than most checks do.
    for (let index = 0; index < members.length; index++) {
      const { key, check, required, inherited } = members[index] as Member
      const item = inherited && !Object.hasOwn(value, key) ? undefined : value[key]
      if (item === undefined) {
        if (!required) continue
        fits = checkAt(missing, item, key, trace)
      } else if (!checkAt(check, item, key, trace)) fits = false
      if (!fits && trace === undefined) return false
    }
    if (counts) {
      const count = Object.keys(value).length
      if (count < minProperties) return fails(trace, `must have at least ${minProperties} members`)
      if (count > maxProperties) return fails(trace, `must have at most ${maxProperties} members`)
    }
    if (others !== undefined && !others(value, trace)) return false
    return fits
  }
}

const missing: Check = (_value, trace) => fails(trace, 'is required')

/** The members that `properties` does not name. */
function othersCheck(schema: JsonObject, named: readonly string[]): Check | undefined {
  const additional = schema.additionalProperties as Schema | undefined
  if (additional === undefined || additional === true) return undefined
  const known = new Set(named)
  const hint = named.length === 0 ? 'there are none' : `there are ${named.slice(0, 20).join(', ')}`
  const check = additional === false ? undefined : compile(additional)
  return (value, trace) => {
    let fits = true
    for (const key in value as JsonObject) {
      if (known.has(key)) continue
      if (check === undefined) fits = fails(trace, `has no property ${quote(key)}; ${hint}`)
      else if (!checkAt(check, (value as JsonObject)[key], key, trace)) fits = false
      if (!fits && trace === undefined) return false
    }
    return fits
  }
}

function combinationCheck(schema: JsonObject): Check {
  const checks: Check[] = []
  const { allOf, anyOf, oneOf, not } = schema
  if (allOf !== undefined) checks.push(...(allOf as readonly Schema[]).map(compile))
  if (anyOf !== undefined) {
    const forms = (anyOf as readonly Schema[]).map(compile)
    const expected = formsText(anyOf as readonly Schema[])
    checks.push((value, trace) => forms.some((form) => form(value, undefined)) || fails(trace, expected))
  }
  if (oneOf !== undefined) {
    const forms = (oneOf as readonly Schema[]).map(compile)
    const expected = formsText(oneOf as readonly Schema[])
    checks.push((value, trace) => {
      let count = 0
      for (const form of forms) if (form(value, undefined)) count++
      if (count === 1) return true
      return fails(trace, count === 0 ? expected : `fits ${count} of the forms of which it must fit one`)
    })
  }
  if (not !== undefined) {
    const form = compile(not as Schema)
    checks.push((value, trace) => !form(value, undefined) || fails(trace, 'has a form that is not allowed'))
  }
  return all(checks)
}

/** What to say when a value fits none of several forms; titled choices are named. */
function formsText(forms: readonly Schema[]): string {
  const constants = forms.map((form) =>
    isJsonObject(form) && Object.hasOwn(form, 'const') ? quote(form.const) : undefined,
  )
  if (constants.every((constant) => constant !== undefined)) return `must be one of ${constants.join(', ')}`
  return `fits none of the ${forms.length} allowed forms`
}
