import type { JsonObject, JsonValue } from '@atenea/mcpcompat'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { explain } from './check.ts'
import { compileCheck } from './compile.ts'
import { compileFlatCheck } from './flat-check.ts'

const name = fc.constantFrom('a', 'b', 'é', '')
const property = fc.record(
  { type: fc.constantFrom('string', 'boolean', 'integer'), description: fc.constant('text'), default: fc.constant(1) },
  { requiredKeys: ['type'] },
)
const schema = fc
  .dictionary(name, property, { noNullPrototype: true })
  .chain((properties) =>
    fc
      .subarray(Object.keys(properties))
      .map((required): JsonObject => ({ type: 'object', title: 'text', properties, required })),
  )
const item = fc.constantFrom<JsonValue>(null, true, 0, -0, 1.5, 1e21, '', 'a', [], {})
const value = fc.oneof(
  { weight: 5, arbitrary: fc.dictionary(name, item, { noNullPrototype: true }) },
  { weight: 1, arbitrary: item },
)

test('says what the general check says, in the same words', () => {
  fc.assert(
    fc.property(schema, value, (flatSchema, given) => {
      const flat = compileFlatCheck(flatSchema)
      const general = compileCheck(flatSchema)
      if (flat === undefined || general === undefined) throw new Error('both must take a flat schema')
      expect(flat(given, undefined)).toBe(general(given, undefined))
      expect(explain(flat, given, 'arguments')).toBe(explain(general, given, 'arguments'))
    }),
    { numRuns: 2_000 },
  )
})

describe('takes no schema that demands more', () => {
  const a: JsonObject = { type: 'string' }
  test.each<[string, JsonObject]>([
    ['another root', { type: 'array' }],
    ['no root type', { properties: { a } }],
    ['several root types', { type: ['object', 'null'], properties: { a } }],
    ['unknown members', { type: 'object', properties: { a }, additionalProperties: false }],
    ['a number of members', { type: 'object', properties: { a }, minProperties: 1 }],
    ['a name that is not described', { type: 'object', properties: { a }, required: ['b'] }],
    ['a name that all objects inherit', { type: 'object', properties: { constructor: a } }],
    ['any value', { type: 'object', properties: { a: true } }],
    ['no type', { type: 'object', properties: { a: { description: 'text' } } }],
    ['several types', { type: 'object', properties: { a: { type: ['string', 'null'] } } }],
    ['numbers, of which some are none', { type: 'object', properties: { a: { type: 'number' } } }],
    ['a length', { type: 'object', properties: { a: { type: 'string', minLength: 1 } } }],
    ['a choice', { type: 'object', properties: { a: { type: 'string', enum: ['x'] } } }],
    ['an object within', { type: 'object', properties: { a: { type: 'object' } } }],
    ['a reference', { type: 'object', properties: { a: { $ref: '#/$defs/a' } }, $defs: { a } }],
  ])('%s', (_, demanding) => {
    expect(compileFlatCheck(demanding)).toBeUndefined()
  })
})
