import type { JsonObject } from '@atenea/mcpcompat'
import { describe, expect, test } from 'vitest'
import { explain } from './check.ts'
import { createRawSchema } from './raw.ts'

/** The reason why a value does not fit, by whatever checks it. */
async function reason(schema: JsonObject, value: unknown): Promise<string | undefined> {
  const raw = createRawSchema(schema, 'test')
  const check = raw.check ?? (await raw.load())
  return check(value, undefined) ? undefined : explain(check, value, 'arguments')
}

const draft07 = 'http://json-schema.org/draft-07/schema#'

describe('the full validator', () => {
  test('is loaded only for schemas that need it', async () => {
    expect(createRawSchema({ type: 'object' }, 'test').check).toBeDefined()
    const raw = createRawSchema({ type: 'object', properties: { a: { $ref: '#' } } }, 'test')
    expect(raw.check).toBeUndefined()
    const check = await raw.load()
    expect(raw.check).toBe(check)
    expect(await raw.load()).toBe(check)
  })

  test('MC-SCH-02, F10: each dialect has its own rules', async () => {
    const tuple = { items: [{ type: 'string' }], additionalItems: false, definitions: { a: {} } }
    expect(await reason({ $schema: draft07, ...tuple }, ['a', 'b'])).toMatch(
      /^arguments must NOT have more than 1 items/,
    )
    expect(await reason({ $schema: draft07, ...tuple }, ['a'])).toBeUndefined()
    expect(await reason({ prefixItems: [{ type: 'string' }], items: false }, ['a', 'b'])).toMatch(/^arguments must NOT/)
    expect(
      await reason({ unevaluatedProperties: false, allOf: [{ properties: { a: true } }] }, { a: 1 }),
    ).toBeUndefined()
    expect(await reason({ unevaluatedProperties: false, allOf: [{ properties: { a: true } }] }, { b: 1 })).toBe(
      'arguments has no property "b"',
    )
    const beside = {
      definitions: { a: { type: 'string' } },
      properties: { x: { $ref: '#/definitions/a', maxLength: 1 } },
    }
    expect(await reason({ $schema: draft07, ...beside }, { x: 'abc' })).toBeUndefined()
    expect(await reason(beside, { x: 'abc' })).toBe('arguments.x must NOT have more than 1 characters')
  })

  test('MC-SCH-09: the schema of the official suite works keyword by keyword', async () => {
    const schema: JsonObject = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: {
          $anchor: 'addressDef',
          type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
      },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      ...(JSON.parse('{"then":{"required":["phone"]}}') as JsonObject),
      else: { required: ['email'] },
      additionalProperties: false,
    }
    expect(await reason(schema, { email: 'a' })).toBeUndefined()
    expect(await reason(schema, { contactMethod: 'phone', phone: '1' })).toBeUndefined()
    expect(await reason(schema, { contactMethod: 'phone', email: 'a' })).toContain("required property 'phone'")
    expect(await reason(schema, { email: 'a', address: { city: 1 } })).toBe('arguments.address.city must be string')
    expect(await reason(schema, { email: 'a', other: 1 })).toBe('arguments has no property "other"')
    expect(await reason(schema, { email: 'a', contactMethod: 'fax' })).toContain('["phone","email"]')
  })

  test('F10: recursion through $ref works', async () => {
    const list: JsonObject = {
      $defs: { n: { type: 'object', properties: { next: { $ref: '#/$defs/n' } } } },
      $ref: '#/$defs/n',
    }
    expect(await reason(list, { next: { next: {} } })).toBeUndefined()
    expect(await reason(list, { next: { next: 1 } })).toBe('arguments.next.next must be object')
  })

  test('E13: names that every object has count only when they are given', async () => {
    const schema = { properties: { constructor: { type: 'string' }, x: { $ref: '#/$defs/a' } }, $defs: { a: {} } }
    expect(await reason(schema as JsonObject, {})).toBeUndefined()
    expect(await reason(schema as JsonObject, JSON.parse('{"constructor":1}'))).toBe(
      'arguments.constructor must be string',
    )
    expect(await reason({ propertyNames: { minLength: 20 } }, JSON.parse('{"__proto__":1}'))).toContain('arguments')
  })

  test('two patterns of one schema are two patterns', async () => {
    const schema: JsonObject = { patternProperties: { '^a': { pattern: '^x$' }, '^b': { pattern: '^(y|z)+$' } } }
    expect(await reason(schema, { a: 'x', b: 'yz' })).toBeUndefined()
    expect(await reason(schema, { a: 'y' })).toBe('arguments.a must match pattern "^x$"')
    expect(await reason(schema, { b: 'x' })).toBe('arguments.b must match pattern "^(y|z)+$"')
  })

  test('schemas with the same names do not meet', async () => {
    const one = {
      $id: 'https://example.com/t',
      properties: { a: { $ref: '#/$defs/v' } },
      $defs: { v: { $id: 'v', type: 'string' } },
    }
    const two = { ...one, $defs: { v: { $id: 'v', type: 'number' } } }
    expect(await reason(one, { a: 'x' })).toBeUndefined()
    expect(await reason(two, { a: 'x' })).toBe('arguments.a must be number')
    expect(await reason(one, { a: 'x' })).toBeUndefined()
    const named = {
      $id: 'https://example.com/v',
      properties: { a: { $ref: '#/$defs/b' } },
      $defs: { b: { type: 'null' } },
    }
    expect(await reason(named, { a: 'x' })).toBe('arguments.a must be null')
    expect(await reason(named, { a: null })).toBeUndefined()
  })

  test('E13: a property named __proto__ is checked or refused, never passed over', async () => {
    const simple = JSON.parse('{"properties":{"__proto__":{"type":"string"}}}') as JsonObject
    expect(await reason(simple, JSON.parse('{"__proto__":1}'))).toBe(
      'arguments.__proto__ must be a string, but is an integer',
    )
    const other = JSON.parse('{"properties":{"__proto__":{"type":"string"},"a":{"multipleOf":2}}}') as JsonObject
    expect(() => createRawSchema(other, 'test')).toThrow('a property named "__proto__"')
  })

  test('odd names lead to the right place', async () => {
    expect(await reason({ properties: { 'a/b': { multipleOf: 2 } } }, { 'a/b': 3 })).toBe(
      'arguments["a/b"] must be multiple of 2',
    )
  })
})

describe('MC-SCH-08: work is bounded', () => {
  const twice = (ref: string): JsonObject => ({
    anyOf: [{ properties: { x: { $ref: ref } } }, { properties: { x: { $ref: ref } } }],
  })

  test('a schema that refers to itself twice', async () => {
    const schema: JsonObject = { $ref: '#/$defs/a', $defs: { a: { ...twice('#/$defs/a'), required: ['x'] } } }
    let value: unknown = 1
    for (let level = 0; level < 60; level++) value = { x: value }
    value = { x: { ...(value as object), x: {} } }
    let deep: unknown = {}
    for (let level = 0; level < 40; level++) deep = { x: deep }
    expect(await reason(schema, deep)).toBe('arguments is too complex to be checked')
  })

  test('a schema whose parts refer to each other twice', async () => {
    const $defs: Record<string, JsonObject> = { d40: { not: {} } }
    for (let n = 0; n < 40; n++)
      $defs[`d${n}`] = { anyOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] }
    expect(await reason({ $ref: '#/$defs/d0', $defs }, 1)).toBe('arguments is too complex to be checked')
  })

  test('a value that is nested too deeply', async () => {
    const schema: JsonObject = { $ref: '#/$defs/a', $defs: { a: { properties: { x: { $ref: '#/$defs/a' } } } } }
    const value: unknown = JSON.parse(`${'{"x":'.repeat(100_000)}1${'}'.repeat(100_000)}`)
    expect(await reason(schema, value)).toBe('arguments is too complex to be checked')
    expect(await reason(schema, { x: {} })).toBeUndefined()
  })

  test('equal items and slow patterns', async () => {
    const items = Array.from({ length: 200_000 }, (_, n) => ({ n }))
    const schema: JsonObject = { uniqueItems: true, contains: {}, items: { patternProperties: { '^(n+)+$': true } } }
    expect(await reason(schema, items)).toBeUndefined()
    expect(await reason(schema, [...items, { n: 7 }])).toBe('arguments must not hold equal items')
    const slow: JsonObject = { patternProperties: { a: { pattern: '^(a+)+$' } } }
    expect(await reason(slow, { a: `${'a'.repeat(10_000)}!` })).toBe('arguments.a must match pattern "^(a+)+$"')
  })

  test('much data is no reason to refuse it', async () => {
    const items = Array.from({ length: 1_000_000 }, (_, n) => n)
    expect(
      await reason({ contains: { const: 5 }, items: { $ref: '#/$defs/n' }, $defs: { n: { type: 'integer' } } }, items),
    ).toBeUndefined()
  })
})
