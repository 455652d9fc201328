import type { JsonObject, JsonValue } from '@atenea/mcpcompat'
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { explain } from './check.ts'
import { compileCheck } from './compile.ts'

function check(schema: JsonObject): (value: unknown) => string | undefined {
  const compiled = compileCheck(schema)
  if (compiled === undefined) throw new Error('the schema is not covered')
  return (value) => (compiled(value, undefined) ? undefined : explain(compiled, value, 'arguments'))
}

/** Names and values that schemas and values draw from, few enough to meet. */
const name = fc.constantFrom('a', 'b', 'constructor', '__proto__', 'é', '')
const scalar: fc.Arbitrary<JsonValue> = fc.constantFrom<JsonValue>(
  null,
  true,
  false,
  0,
  -0,
  1,
  2,
  1.5,
  -3,
  1e21,
  9007199254740992,
  '',
  'a',
  'ab',
  '😀',
  'é',
  '1',
)
const value = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }) as fc.Arbitrary<JsonValue>,
  ),
})).value

const typeName = fc.constantFrom('array', 'boolean', 'integer', 'null', 'number', 'object', 'string')
const count = fc.nat({ max: 3 })
const bound = fc.constantFrom(-3, 0, 1, 1.5, 2)
const schema = fc.letrec<{ schema: boolean | JsonObject }>((tie) => {
  const part = tie('schema')
  const parts = fc.array(part, { minLength: 1, maxLength: 3 })
  return {
    schema: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.boolean(),
      fc.record({ type: typeName }, { requiredKeys: ['type'] }),
      fc.record(
        {
          type: fc.oneof(typeName, fc.uniqueArray(typeName, { minLength: 1, maxLength: 3 })),
          enum: fc.uniqueArray(scalar, { minLength: 1, maxLength: 4, comparator: (a, b) => a === b }),
          const: scalar,
          minLength: count,
          maxLength: count,
          pattern: fc.constantFrom('^a', 'b$', '^(a|b)+$', '^.$'),
          minimum: bound,
          maximum: bound,
          exclusiveMinimum: bound,
          exclusiveMaximum: bound,
          items: part,
          minItems: count,
          maxItems: count,
          uniqueItems: fc.boolean(),
          properties: fc.dictionary(name, part, { maxKeys: 3, noNullPrototype: true }),
          required: fc.uniqueArray(name, { maxLength: 2 }),
          additionalProperties: part,
          minProperties: count,
          maxProperties: count,
          allOf: parts,
          anyOf: parts,
          oneOf: parts,
          not: part,
          format: fc.constant('date'),
          description: fc.constant('words'),
          'x-unknown': scalar,
        },
        { requiredKeys: [], noNullPrototype: true },
      ) as fc.Arbitrary<JsonObject>,
    ),
  }
}).schema

describe('compileCheck agrees with the full validator', () => {
  const options = { strict: false, validateFormats: false, ownProperties: true, logger: false } as const

  test.each([
    ['2020-12', new Ajv2020(options)],
    ['draft-07', new Ajv(options)],
  ])('MC-SCH-01: in %s', (_dialect, ajv) => {
    fc.assert(
      fc.property(schema, fc.array(value, { minLength: 1, maxLength: 6 }), (one, values) => {
        const compiled = compileCheck(one)
        if (compiled === undefined) throw new Error('the schema is not covered')
        const validate = ajv.compile(one)
        for (const item of values) {
          const expected = validate(item)
          expect(compiled(item, undefined)).toBe(expected)
          expect(explain(compiled, item, 'it') === '').toBe(expected)
        }
        if (typeof one === 'object') ajv.removeSchema(one)
      }),
      { numRuns: 250 },
    )
  })
})

describe('compileCheck', () => {
  test.each([
    { $ref: '#/$defs/a', $defs: { a: true } },
    { if: true, else: false },
    { properties: { a: { patternProperties: { '^a': true } } } },
    { items: { multipleOf: 2 } },
    { items: [true] },
    { const: { a: 1 } },
    { type: 'string', nullable: true },
  ] satisfies JsonObject[])('leaves %j to the full validator', (one) => {
    expect(compileCheck(one)).toBeUndefined()
  })

  test('takes what only describes', () => {
    expect(compileCheck({ type: 'string', title: 'T', default: 1, format: 'uri', 'x-mcp-header': 'A' })).toBeDefined()
  })

  test('E13: names that every object has count only when they are given', () => {
    const reason = check({ type: 'object', properties: { toString: { type: 'string' } }, required: ['constructor'] })
    expect(reason({})).toBe('arguments.constructor is required')
    expect(reason(JSON.parse('{"constructor":1}'))).toBeUndefined()
    expect(reason(JSON.parse('{"constructor":1,"toString":2}'))).toBe(
      'arguments.toString must be a string, but is an integer',
    )
    const closed = check({ type: 'object', additionalProperties: false })
    expect(closed(JSON.parse('{"__proto__":{"admin":true}}'))).toBe(
      'arguments has no property "__proto__"; there are none',
    )
  })
})

describe('A-27: reasons that a model can act on', () => {
  const reason = check({
    type: 'object',
    properties: {
      city: { type: 'string', minLength: 2, maxLength: 4 },
      unit: { enum: ['C', 'F'] },
      kind: {
        oneOf: [
          { const: 'x', title: 'X' },
          { const: 'y', title: 'Y' },
        ],
      },
      where: { type: 'object', properties: { lat: { type: 'number', minimum: -90 } }, required: ['lat'] },
      'odd name': { type: 'array', items: { type: 'integer' }, uniqueItems: true, maxItems: 2 },
      shape: { anyOf: [{ type: 'string' }, { type: 'array' }] },
    },
    required: ['city'],
    additionalProperties: false,
  })

  test.each([
    [{}, 'arguments.city is required'],
    [{ city: 1 }, 'arguments.city must be a string, but is an integer'],
    [{ city: null }, 'arguments.city must be a string, but is null'],
    [{ city: 'x' }, 'arguments.city must have at least 2 characters'],
    [{ city: '😀😀😀😀' }, undefined],
    [{ city: '😀😀😀😀😀' }, 'arguments.city must have at most 4 characters'],
    [{ city: 'Oslo', unit: 'K' }, 'arguments.unit must be one of "C", "F", but is "K"'],
    [{ city: 'Oslo', kind: 'z' }, 'arguments.kind must be one of "x", "y"'],
    [{ city: 'Oslo', where: { lat: -91 } }, 'arguments.where.lat must be at least -90, but is -91'],
    [{ city: 'Oslo', 'odd name': [1, 'a'] }, 'arguments["odd name"][1] must be an integer, but is a string'],
    [{ city: 'Oslo', 'odd name': [1, 1] }, 'arguments["odd name"] must not hold equal items'],
    [{ city: 'Oslo', shape: 1 }, 'arguments.shape fits none of the 2 allowed forms'],
    [
      { city: 'Oslo', citty: 1 },
      'arguments has no property "citty"; there are city, unit, kind, where, odd name, shape',
    ],
    [
      { where: {}, unit: 1 },
      'arguments.city is required; arguments.unit must be one of "C", "F", but is 1; arguments.where.lat is required',
    ],
  ])('%j: %s', (value, expected) => {
    expect(reason(value)).toBe(expected)
  })

  test('tells a bounded number of problems', () => {
    const many = check({ type: 'array', items: { type: 'string' } })
    expect(many(Array.from({ length: 100 }, () => 1))).toMatch(/; and 92 more$/)
  })
})
