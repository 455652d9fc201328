import type { JsonObject } from '@atenea/mcpcompat'
import { describe, expect, test } from 'vitest'
import { DefinitionError } from '../definition-error.ts'
import { inspectSchema, maxSchemaDepth, maxSubschemas } from './inspect.ts'

const inspect = (schema: JsonObject) => () => inspectSchema(schema, 'inputSchema of tool "t"')

describe('dialects', () => {
  test.each([
    [undefined, '2020-12'],
    ['https://json-schema.org/draft/2020-12/schema', '2020-12'],
    ['https://json-schema.org/draft/2020-12/schema#', '2020-12'],
    ['http://json-schema.org/draft-07/schema#', 'draft-07'],
    ['http://json-schema.org/draft-07/schema', 'draft-07'],
  ])('MC-SCH-01, MC-SCH-03, F10: $schema %j is %s', ($schema, dialect) => {
    expect(inspect($schema === undefined ? {} : { $schema })().dialect).toBe(dialect)
  })

  test.each(['http://json-schema.org/draft-04/schema#', 'https://json-schema.org/draft/2019-09/schema', 'x', 7, null])(
    'MC-SCH-02, F10: refuses $schema %j and says what to write instead',
    ($schema) => {
      expect(inspect({ $schema })).toThrow(DefinitionError)
      expect(inspect({ $schema })).toThrow(
        `inputSchema of tool "t": the dialect ${JSON.stringify($schema)} is not supported; write it in JSON Schema 2020-12 or draft-07`,
      )
    },
  )
})

describe('references', () => {
  const $defs = {
    a: { $anchor: 'here', type: 'string' },
    'b/c~d': true,
    e: { $id: 'https://example.com/e', $defs: { f: {} } },
  }

  test.each([
    '#',
    '#/$defs/a',
    '#here',
    '#/$defs/b~1c~0d',
    '#/%24defs/a',
    'https://example.com/e',
    'https://example.com/e#/$defs/f',
    'https://json-schema.org/draft/2020-12/schema',
    'http://json-schema.org/draft-07/schema#',
  ])('MC-SCH-05, F10: %s stays inside or at hand', ($ref) => {
    expect(inspect({ $defs, properties: { x: { $ref } } })().hasIds).toBe(true)
  })

  test.each([
    'http://169.254.169.254/latest/meta-data',
    'https://example.com/other.json#/a',
    'other.json',
    '//example.com/x',
    'file:///etc/passwd',
  ])('MC-SCH-05, MC-SCH-07, F10: refuses %s, which would have to be fetched', ($ref) => {
    expect(inspect({ $defs, properties: { x: { $ref } } })).toThrow(
      `properties/x: $ref ${JSON.stringify($ref)} leads out of the schema and is never fetched`,
    )
  })

  test.each(['#/$defs/none', '#nowhere', '#/$defs/a/type', '#/%E0%A4%A', '#/properties/toString'])(
    'MC-SCH-07: refuses %s, which leads nowhere',
    ($ref) => {
      expect(inspect({ $defs, properties: { x: { $ref } } })).toThrow('leads nowhere')
    },
  )

  test('resolves against the nearest $id', () => {
    const part = { $id: 'https://example.com/schemas/part', $defs: { a: {} }, properties: { x: { $ref: '#/$defs/a' } } }
    expect(inspect({ properties: { part } })().hasIds).toBe(true)
    expect(inspect({ properties: { part: { $ref: 'https://example.com/schemas/part' }, part2: part } })().hasIds).toBe(
      true,
    )
    expect(inspect({ $id: 'https://example.com/root', properties: { x: { $ref: 'root#/properties' } } })().hasIds).toBe(
      true,
    )
    expect(inspect({ $id: 'http://[', type: 'object' })).toThrow('is no URI')
  })

  test('a $ref that is data is no reference', () => {
    expect(inspect({ const: { $ref: 'https://example.com/' }, enum: [{ $ref: 'x' }] })().hasIds).toBe(false)
    expect(inspect({ properties: { $ref: { type: 'string' } } })().hasIds).toBe(false)
  })
})

describe('MC-SCH-04: keywords', () => {
  test.each<[JsonObject, string]>([
    [{ type: 'strnig' }, 'type must be one or more of'],
    [{ type: [] }, 'type must be one or more of'],
    [{ properties: [] }, 'properties must be an object of schemas'],
    [{ properties: { a: { required: 'a' } } }, 'properties/a: required must be a list of different strings'],
    [{ required: ['a', 'a'] }, 'required must be a list of different strings'],
    [{ items: 7 }, 'items must be a schema'],
    [{ anyOf: [] }, 'anyOf must be a list of schemas'],
    [{ minLength: -1 }, 'minLength must be an integer of at least 0'],
    [{ minimum: '1' }, 'minimum must be a number'],
    [{ multipleOf: 0 }, 'multipleOf must be a number above 0'],
    [{ enum: 'a' }, 'enum must be a list'],
    [{ pattern: '(' }, 'Invalid regular expression'],
    [{ patternProperties: { '[': true } }, 'Invalid regular expression'],
    [{ dependencies: { a: 1 } }, 'dependencies must be'],
    [{ dependentRequired: { a: [1] } }, 'dependentRequired must be'],
    [{ $id: 1 }, '$id must be a string'],
    [{ uniqueItems: 'yes' }, 'uniqueItems must be true or false'],
  ])('%j is refused', (schema, message) => {
    expect(inspect(schema)).toThrow(`inputSchema of tool "t": ${message}`)
  })

  test('MC-SCH-09: unknown keywords may hold anything', () => {
    expect(inspect({ 'x-1': [null], constructor: 1, toString: 'a' })().hasIds).toBe(false)
  })
})

describe('MC-SCH-08: size', () => {
  const nested = (levels: number): JsonObject => {
    let schema: JsonObject = { type: 'string' }
    for (let level = 1; level < levels; level++) schema = { items: schema }
    return schema
  }

  test('refuses schemas that are nested too deeply', () => {
    expect(inspect(nested(maxSchemaDepth))().hasIds).toBe(false)
    expect(inspect(nested(maxSchemaDepth + 1))).toThrow(`nested deeper than ${maxSchemaDepth} levels`)
  })

  test('refuses schemas of too many parts', () => {
    const properties = Object.fromEntries(Array.from({ length: maxSubschemas }, (_, n) => [`p${n}`, true]))
    expect(inspect({ properties })).toThrow(`more than ${maxSubschemas} subschemas`)
  })

  test('refuses patterns that nothing can bound', () => {
    expect(inspect({ properties: { x: { pattern: '^(?:(a+)\\1)+$' } } })).toThrow('properties/x: the pattern')
  })
})
