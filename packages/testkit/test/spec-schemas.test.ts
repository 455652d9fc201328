import { legacyRevision, modernRevision } from '@atenea/mcpcompat'
import { legacy, modern } from '@atenea/mcpcompat/schemas'
import fc from 'fast-check'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { specDefinitions, specExamples, specFaults } from '../src/spec-schemas.ts'
import { changedArbitrary, schemaArbitrary } from './_util/schema-arbitrary.ts'

interface Schema {
  safeParse(value: unknown): { readonly success: boolean; readonly data?: unknown; readonly error?: Error | undefined }
}

const sets: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  [legacyRevision]: legacy,
  [modernRevision]: modern,
}

/** The zod schema that we have for a type of the specification. */
function schemaOf(revision: string, type: string): Schema {
  const name = `${type.replace(/^(?:JSONRPC|JSON|[A-Z])/, (start) => start.toLowerCase())}Schema`
  const schema = sets[revision]?.[name]
  if (schema === undefined) throw new Error(`there is no ${name} for revision ${revision}`)
  return schema as Schema
}

describe.each([legacyRevision, modernRevision])('the schemas of %s', (revision) => {
  const definitions = specDefinitions(revision)
  const types = Object.keys(definitions)

  test('there is one for each type of the specification, and for nothing else', () => {
    const known = new Set(types.map((type) => schemaOf(revision, type)))
    const ours = Object.entries(sets[revision] ?? {}).filter(([name]) => name.endsWith('Schema'))
    expect(ours.filter(([, schema]) => !known.has(schema as Schema)).map(([name]) => name)).toEqual([])
  })

  test.each(types)('%s: accepts what the specification accepts and keeps it as it is', (type) => {
    const schema = schemaOf(revision, type)
    fc.assert(
      fc.property(schemaArbitrary(definitions[type] ?? {}, definitions), (value) => {
        expect(specFaults(revision, type, value)).toEqual([])
        expect(schema.safeParse(value)).toEqual({ success: true, data: value })
      }),
      { numRuns: 40 },
    )
  })

  test.each(types)('%s: judges what is almost right as the specification does', (type) => {
    const schema = schemaOf(revision, type)
    const almost = schemaArbitrary(definitions[type] ?? {}, definitions).chain(changedArbitrary)
    fc.assert(
      fc.property(almost, (value) => {
        expect(schema.safeParse(value).success).toBe(specFaults(revision, type, value).length === 0)
      }),
      { numRuns: 150 },
    )
  })

  test('E13: prototype names in a message pollute nothing', () => {
    const value: unknown = JSON.parse(
      '{"jsonrpc":"2.0","method":"x","__proto__":{"admin":true},"params":{"__proto__":{"admin":true}}}',
    )
    const result = schemaOf(revision, 'JSONRPCNotification').safeParse(value)
    expect(result.success).toBe(true)
    expect((result.data as { admin?: unknown }).admin).toBeUndefined()
    expect({}).not.toHaveProperty('admin')
  })
})

describe('the examples of the specification', () => {
  const examples = specExamples()

  test('there are examples', () => {
    expect(examples.length).toBeGreaterThan(100)
  })

  test.each(examples)('$type: $name', ({ type, value }) => {
    expect(specFaults(modernRevision, type, value)).toEqual([])
    expect(schemaOf(modernRevision, type).safeParse(value)).toEqual({ success: true, data: value })
  })
})

describe('where the schemas say more than those of the specification', () => {
  test('ids and tokens must be such as JavaScript holds exactly (A-22)', () => {
    for (const set of [legacy, modern]) {
      expect(set.requestIdSchema.safeParse(9007199254740991).success).toBe(true)
      expect(set.requestIdSchema.safeParse(2 ** 53).success).toBe(false)
      expect(set.progressTokenSchema.safeParse(2 ** 60).success).toBe(false)
    }
  })

  test('the progress token of a legacy request is judged', () => {
    const call = (progressToken: unknown): unknown => ({
      method: 'tools/call',
      params: { name: 'x', _meta: { progressToken } },
    })
    expect(legacy.callToolRequestSchema.safeParse(call('t')).success).toBe(true)
    expect(legacy.callToolRequestSchema.safeParse(call({})).success).toBe(false)
  })

  test('the result that answers a method is found by its name', () => {
    expect(Object.keys(modern.resultSchemas)).toContain('server/discover')
    expect(Object.keys(legacy.resultSchemas)).toContain('initialize')
    expect(modern.resultSchemas['tools/call']).toBe(modern.callToolResultSchema)
  })
})

test('types follow the schemas', () => {
  expectTypeOf<modern.Tool['inputSchema']['type']>().toEqualTypeOf<'object'>()
  expectTypeOf<legacy.CallToolRequest['method']>().toEqualTypeOf<'tools/call'>()
  expectTypeOf<Extract<modern.ContentBlock, { type: 'text' }>['text']>().toEqualTypeOf<string>()
  expectTypeOf(
    modern.callToolResultSchema.parse({ content: [], resultType: 'complete' }),
  ).toExtend<modern.CallToolResult>()
})
