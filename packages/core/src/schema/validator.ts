import { type JsonObject, isJsonObject } from '@atenea/mcpcompat'
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { DefinitionError } from '../definition-error.ts'
import { type Check, explain, pathText } from './check.ts'
import { createRawSchema } from './raw.ts'
import type { AnySchema } from './schema-types.ts'

/** A value that does not fit, and why, in words for whoever gave it. */
export class Invalid {
  readonly reason: string

  constructor(reason: string) {
    this.reason = reason
  }
}

/** A schema that is ready for use. */
export interface Validator {
  /** As clients see it. */
  readonly json: JsonObject
  /** Gives the value to go on with, or an `Invalid`; a promise only where the schema or its validator needs one. */
  readonly validate: (value: unknown) => unknown
}

export interface CreateValidatorOptions {
  /** Names the schema in errors, such as `tool "x": inputSchema`. */
  readonly where: string
  /** What the values are called in reasons, such as `arguments`. */
  readonly root: string
  /** Whether clients give the values or get them; conversions make the two differ. */
  readonly side: 'input' | 'output'
  /** The JSON Schema that clients see, for libraries that cannot tell. */
  readonly json?: JsonObject | undefined
}

/** Makes a schema ready, once, when it is registered. Throws a `DefinitionError` when it cannot be served. */
export function createValidator(schema: AnySchema, options: CreateValidatorOptions): Validator {
  if (isStandard(schema)) return standardValidator(schema, options)
  if (!isJsonObject(schema)) {
    throw new DefinitionError(
      `${options.where} is neither a JSON Schema object nor a schema of a library that follows Standard Schema`,
    )
  }
  return rawValidator(schema, options)
}

/** Whether a schema is one of a library. Some are functions. */
export function isStandard(schema: unknown): schema is StandardSchemaV1 {
  const isHolder = (typeof schema === 'object' && schema !== null) || typeof schema === 'function'
  return isHolder && '~standard' in schema
}

function rawValidator(schema: JsonObject, { where, root }: CreateValidatorOptions): Validator {
  const raw = createRawSchema(schema, where)
  const verdict = (check: Check, value: unknown): unknown =>
    check(value, undefined) ? value : new Invalid(explain(check, value, root))
  const load = (value: unknown): unknown => raw.load().then((check) => verdict(check, value))
  return {
    json: schema,
    validate(value) {
      const { check } = raw
      return check === undefined ? load(value) : verdict(check, value)
    },
  }
}

function standardValidator(schema: StandardSchemaV1, options: CreateValidatorOptions): Validator {
  const { validate } = schema['~standard']
  const conclude = (result: StandardSchemaV1.Result<unknown>): unknown =>
    result.issues === undefined ? result.value : new Invalid(issuesText(result.issues, options.root))
  return {
    json: options.json ?? convert(schema, options),
    validate(value) {
      const result = validate(value)
      return result instanceof Promise ? result.then(conclude) : conclude(result)
    },
  }
}

/** The JSON Schema of a library's schema, by the library itself. */
function convert(schema: StandardSchemaV1, { where, side }: CreateValidatorOptions): JsonObject {
  const { vendor, ...standard } = schema['~standard'] as StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props>
  if (standard.jsonSchema === undefined) {
    throw new DefinitionError(
      `${where}: this version of ${vendor} cannot turn its schemas into JSON Schema by itself; give the JSON Schema as ${side}JsonSchema beside it`,
    )
  }
  try {
    const converted = standard.jsonSchema[side]({ target: 'draft-2020-12' })
    // A plain copy without members that JSON has no way to write.
    return JSON.parse(JSON.stringify(converted)) as JsonObject
  } catch (error) {
    throw new DefinitionError(`${where}: ${vendor} cannot turn the schema into JSON Schema: ${messageOf(error)}`, {
      cause: error,
    })
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

const maxIssues = 8

function issuesText(issues: readonly StandardSchemaV1.Issue[], root: string): string {
  const told = issues
    .slice(0, maxIssues)
    .map(({ message, path }) => `${pathText([root, ...(path ?? []).map(keyOf)])}: ${message}`)
  if (issues.length > maxIssues) told.push(`and ${issues.length - maxIssues} more`)
  return told.join('; ')
}

function keyOf(step: PropertyKey | StandardSchemaV1.PathSegment): string | number {
  const key = typeof step === 'object' ? step.key : step
  return typeof key === 'symbol' ? String(key) : key
}

/** Whether a value is a promise or acts like one. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
