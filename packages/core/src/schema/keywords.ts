import { type JsonObject, type JsonValue, isJsonObject } from '@atenea/mcpcompat'

/** Keywords whose value is one schema. `items` may also be a list of them in draft-07. */
const one = [
  'additionalItems',
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
] as const

/** Keywords whose value is a list of schemas. */
const list = ['allOf', 'anyOf', 'items', 'oneOf', 'prefixItems'] as const

/** Keywords whose value maps names to schemas. A value of `dependencies` may also be a list of names. */
const map = ['$defs', 'definitions', 'dependencies', 'dependentSchemas', 'patternProperties', 'properties'] as const

/** A schema: an object, or `true` for anything and `false` for nothing. */
export type Schema = JsonObject | boolean

function isSchema(value: JsonValue | undefined): value is Schema {
  return typeof value === 'boolean' || isJsonObject(value)
}

/** Calls `visit` for each schema that stands directly in another one, with its place. Data, as under `enum`, is no place. */
export function eachSubschema(schema: JsonObject, visit: (schema: Schema, path: string) => void): void {
  const take = (value: JsonValue | undefined, path: string): void => {
    if (isSchema(value)) visit(value, path)
  }
  for (const key of one) take(schema[key], key)
  for (const key of list) {
    const values = schema[key]
    if (Array.isArray(values))
      for (const [index, value] of values.entries()) take(value as JsonValue, `${key}/${index}`)
  }
  for (const key of map) {
    const values = schema[key]
    if (isJsonObject(values)) for (const name of Object.keys(values)) take(values[name], `${key}/${name}`)
  }
}

type Shape = readonly [expected: string, fits: (value: JsonValue) => boolean]

const isCount = (value: JsonValue): boolean => Number.isInteger(value) && (value as number) >= 0
const isNames = (value: JsonValue): boolean =>
  Array.isArray(value) && value.every((name) => typeof name === 'string') && new Set(value).size === value.length
const typeNames = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'])
const isTypeName = (value: JsonValue): boolean => typeof value === 'string' && typeNames.has(value)

const aSchema: Shape = ['a schema', isSchema]
const schemas: Shape = [
  'a list of schemas',
  (value) => Array.isArray(value) && value.length > 0 && value.every(isSchema),
]
const schemaMap: Shape = [
  'an object of schemas',
  (value) => isJsonObject(value) && Object.values(value).every(isSchema),
]
const count: Shape = ['an integer of at least 0', isCount]
const bound: Shape = ['a number', (value) => typeof value === 'number']
const text: Shape = ['a string', (value) => typeof value === 'string']
const names: Shape = ['a list of different strings', isNames]

/** What the value of a keyword must be (MC-SCH-04). Keywords that are not here may hold anything. */
export const keywordShapes: ReadonlyMap<string, Shape> = new Map<string, Shape>([
  ['$anchor', text],
  ['$defs', schemaMap],
  ['$dynamicAnchor', text],
  ['$dynamicRef', text],
  ['$id', text],
  ['$ref', text],
  ['$schema', text],
  ['additionalItems', aSchema],
  ['additionalProperties', aSchema],
  ['allOf', schemas],
  ['anyOf', schemas],
  ['contains', aSchema],
  ['definitions', schemaMap],
  [
    'dependencies',
    [
      'an object of schemas and lists of names',
      (value) => isJsonObject(value) && Object.values(value).every((item) => isSchema(item) || isNames(item ?? null)),
    ],
  ],
  [
    'dependentRequired',
    [
      'an object of lists of names',
      (value) => isJsonObject(value) && Object.values(value).every((item) => isNames(item ?? null)),
    ],
  ],
  ['dependentSchemas', schemaMap],
  ['else', aSchema],
  ['enum', ['a list', (value) => Array.isArray(value) && value.length > 0]],
  ['exclusiveMaximum', bound],
  ['exclusiveMinimum', bound],
  ['format', text],
  ['if', aSchema],
  ['items', ['a schema', (value) => isSchema(value) || (Array.isArray(value) && value.every(isSchema))]],
  ['maxContains', count],
  ['maxItems', count],
  ['maxLength', count],
  ['maxProperties', count],
  ['maximum', bound],
  ['minContains', count],
  ['minItems', count],
  ['minLength', count],
  ['minProperties', count],
  ['minimum', bound],
  ['multipleOf', ['a number above 0', (value) => typeof value === 'number' && value > 0]],
  ['not', aSchema],
  ['oneOf', schemas],
  ['pattern', text],
  ['patternProperties', schemaMap],
  ['prefixItems', schemas],
  ['properties', schemaMap],
  ['propertyNames', aSchema],
  ['required', names],
  ['then', aSchema],
  [
    'type',
    [
      'one or more of "array", "boolean", "integer", "null", "number", "object" and "string"',
      (value) =>
        isTypeName(value) || (Array.isArray(value) && value.length > 0 && value.every(isTypeName) && isNames(value)),
    ],
  ],
  ['unevaluatedItems', aSchema],
  ['unevaluatedProperties', aSchema],
  ['uniqueItems', ['true or false', (value) => typeof value === 'boolean']],
])
