import { readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { modernRevision } from '@atenea/mcpcompat'
import { Ajv, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'

/** A JSON Schema as far as tests look into it. */
export interface SpecSchema {
  readonly [keyword: string]: unknown
}

/** An example value that the specification gives for one of its types. */
export interface SpecExample {
  readonly type: string
  readonly name: string
  readonly value: unknown
}

interface Spec {
  readonly definitions: Readonly<Record<string, SpecSchema>>
  validator(definition: string): ValidateFunction
}

const folder = new URL('../fixtures/spec/', import.meta.url)
const specs = new Map<string, Spec>()

/** What in a value is not as the specification's schema of this revision and type demands; empty when all is well. */
export function specFaults(revision: string, definition: string, value: unknown): readonly string[] {
  const validate = specOf(revision).validator(definition)
  if (validate(value)) return []
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || '/'} ${message ?? 'is invalid'}`)
}

/** The schemas of all types of a revision, by the name of the type. */
export function specDefinitions(revision: string): Readonly<Record<string, SpecSchema>> {
  return specOf(revision).definitions
}

/** The examples that the specification of the modern revision gives. */
export function specExamples(): readonly SpecExample[] {
  const root = new URL(`examples-${modernRevision}/`, folder)
  return readdirSync(root).flatMap((type) =>
    readdirSync(new URL(`${type}/`, root)).map((file) => ({
      type,
      name: file.replace(/\.json$/, ''),
      value: JSON.parse(readFileSync(new URL(`${type}/${file}`, root), 'utf8')) as unknown,
    })),
  )
}

/**
 * The JSON Schema is made from the specification's TypeScript schema and says less in two places: in unions `number` became
 * `integer`, and `null` was lost. The TypeScript schema is the source, so both are put back.
 */
function correct(definitions: Readonly<Record<string, SpecSchema>>): void {
  const { JSONValue, ElicitResult } = definitions as Record<
    string,
    { anyOf?: unknown; properties?: { content: unknown } }
  >
  if (JSONValue !== undefined) JSONValue.anyOf = [{}]
  if (ElicitResult?.properties !== undefined) {
    const lists = { type: 'array', items: { type: 'string' } }
    const values = [{ type: ['string', 'number', 'boolean'] }, ...(JSONValue === undefined ? [] : [lists])]
    ElicitResult.properties.content = { type: 'object', additionalProperties: { anyOf: values } }
  }
}

function specOf(revision: string): Spec {
  let spec = specs.get(revision)
  if (spec === undefined) {
    spec = loadSpec(revision)
    specs.set(revision, spec)
  }
  return spec
}

function loadSpec(revision: string): Spec {
  const path = fileURLToPath(new URL(`schema-${revision}.json`, folder))
  const schema = JSON.parse(readFileSync(path, 'utf8')) as {
    readonly definitions?: Readonly<Record<string, SpecSchema>>
    readonly $defs?: Readonly<Record<string, SpecSchema>>
  }
  const definitions = schema.$defs ?? schema.definitions ?? {}
  correct(definitions)
  // The specification's formats (uri, byte) are annotations.
  const options = { strict: false, validateFormats: false, allErrors: true }
  const ajv = schema.$defs === undefined ? new Ajv(options) : new Ajv2020(options)
  ajv.addSchema(schema, 'spec')
  const keyword = schema.$defs === undefined ? 'definitions' : '$defs'
  return {
    definitions,
    validator(definition) {
      const validate = ajv.getSchema(`spec#/${keyword}/${definition}`)
      if (validate === undefined) throw new Error(`revision ${revision} has no type ${definition}`)
      return validate as ValidateFunction
    },
  }
}
