import type { JsonObject, JsonValue } from '@atenea/mcpcompat'
import type { Ajv as AjvType, ErrorObject, Options } from 'ajv'
import { type Check, type Trace, fails } from './check.ts'
import { hasEqualItems } from './compile.ts'
import type { Dialect } from './dialect.ts'
import type { SchemaFacts } from './inspect.ts'
import { type Schema, eachSubschema } from './keywords.ts'
import { compilePattern } from './pattern.ts'

/** Visits of subschemas that one validation may make, whatever the value (MC-SCH-08). */
const maxVisits = 4_000_000
/** Visits that a small value may cause, and further ones for each of its parts. Sound schemas need a fraction of that. */
const baseVisits = 100_000
const visitsPerPart = 20

/** Marks each object schema, so that visits can be counted. No schema can hold it by itself: it is added to our own copy. */
const visitKeyword = 'atenea:visit'

/** Too many visits. A shared instance, since its stack tells nothing. */
const exhausted = new Error('validation was given up')

let visitsLeft = 0

const options: Options = {
  strict: false,
  logger: false,
  // Unknown formats are annotations in both dialects.
  validateFormats: false,
  // A member counts only when it is the value's own (field report E13).
  ownProperties: true,
  // A schema that refers to itself many times must not be written out as many times.
  inlineRefs: false,
  code: { regExp: Object.assign((source: string) => compilePattern(source) as RegExp, { code: '' }) },
}

/** One validator for each dialect. Schemas with names of their own get a fresh one, since those must not be remembered. */
const shared = new Map<Dialect, Promise<AjvType>>()

/**
 * Compiles any schema that has been inspected with ajv, which is loaded the first time. Work is bounded in patterns, in
 * comparisons of items and in the number of subschemas visited; a value that needs more does not fit (MC-SCH-08).
 */
export async function compileWithAjv(schema: JsonObject, facts: SchemaFacts): Promise<Check> {
  let ajv = facts.hasIds ? undefined : shared.get(facts.dialect)
  if (ajv === undefined) {
    ajv = createAjv(facts.dialect)
    if (!facts.hasIds) shared.set(facts.dialect, ajv)
  }
  const validator = await ajv
  const marked = mark(schema) as JsonObject
  const validate = validator.compile(marked)
  // The compiled function stays; the instance need not remember the schema.
  validator.removeSchema(marked)
  let gaveUpOn: unknown
  return (value, trace) => {
    if (trace !== undefined && gaveUpOn !== undefined && value === gaveUpOn) {
      gaveUpOn = undefined
      return fails(trace, tooComplex)
    }
    visitsLeft = Math.min(maxVisits, baseVisits + visitsPerPart * countParts(value, maxVisits / visitsPerPart))
    try {
      if (validate(value)) return true
    } catch (error) {
      // A `RangeError` is the end of the stack: the value is nested too deeply for a schema that refers to itself.
      if (error !== exhausted && !(error instanceof RangeError)) throw error
      if (trace === undefined) gaveUpOn = value
      return fails(trace, tooComplex)
    }
    return explainError(validate.errors?.[0], trace)
  }
}

const tooComplex = 'is too complex to be checked'

function explainError(error: ErrorObject | undefined, trace: Trace | undefined): false {
  if (trace === undefined || error === undefined) return false
  return fails({ path: [...trace.path, ...pathOf(error)], problems: trace.problems }, words(error))
}

/** How many values a value consists of, counted up to a limit. */
function countParts(value: unknown, limit: number): number {
  const open = [value]
  let count = 0
  for (let part = open.pop(); part !== undefined && count < limit; part = open.pop()) {
    count++
    if (typeof part === 'object' && part !== null) for (const child of Object.values(part)) open.push(child)
  }
  return count
}

async function createAjv(dialect: Dialect): Promise<AjvType> {
  const { Ajv, _ } = await import('ajv')
  const settings = { ...options, ignoreKeywordsWithRef: dialect === 'draft-07' }
  const ajv = dialect === 'draft-07' ? new Ajv(settings) : new (await import('ajv/dist/2020.js')).Ajv2020(settings)
  ajv.addKeyword({
    keyword: visitKeyword,
    code: ({ gen }) => void gen.code(_`${gen.scopeValue('func', { ref: visit })}()`),
  })
  ajv.removeKeyword('uniqueItems')
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    validate: (unique: boolean, items: readonly JsonValue[]) => !unique || !hasEqualItems(items),
    error: { message: 'must not hold equal items' },
  })
  return ajv
}

function visit(): void {
  if (--visitsLeft < 0) throw exhausted
}

/** A copy in which every object schema is marked. */
function mark(schema: Schema): Schema {
  if (typeof schema === 'boolean') return schema
  const copy: Record<string, JsonValue | undefined> = { ...schema, [visitKeyword]: true }
  eachSubschema(schema, (child, path) => {
    const slash = path.indexOf('/')
    if (slash < 0) {
      copy[path] = mark(child)
      return
    }
    const key = path.slice(0, slash)
    const name = path.slice(slash + 1)
    const container = copy[key]
    const own =
      container === schema[key]
        ? Array.isArray(container)
          ? [...(container as JsonValue[])]
          : { ...(container as JsonObject) }
        : container
    Object.defineProperty(own, name, { value: mark(child), enumerable: true, configurable: true, writable: true })
    copy[key] = own as JsonValue
  })
  return copy
}

function pathOf(error: ErrorObject): (string | number)[] {
  return error.instancePath
    .split('/')
    .slice(1)
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step.replaceAll('~1', '/').replaceAll('~0', '~')))
}

function words(error: ErrorObject): string {
  const text = error.message ?? 'is not valid'
  if (error.keyword === 'additionalProperties' || error.keyword === 'unevaluatedProperties') {
    const [name] = Object.values(error.params) as readonly unknown[]
    return `has no property ${JSON.stringify(name)}`
  }
  if (error.keyword === 'enum') return `${text}: ${JSON.stringify(error.params.allowedValues).slice(0, 200)}`
  return text
}
