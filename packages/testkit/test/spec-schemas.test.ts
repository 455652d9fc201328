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

describe('what the schemas demand', () => {
  const icon = { src: 'https://example.org/i.png', mimeType: 'image/png', sizes: ['48x48', 'any'], theme: 'dark' }
  const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled' }

  test.each<[requirement: string, schema: Schema, value: unknown, accepted: boolean]>([
    [
      'MC-RES-13: annotations',
      modern.annotationsSchema,
      { audience: ['user', 'assistant'], priority: 1, lastModified: '2026-11-30T00:00:00Z' },
      true,
    ],
    ['MC-RES-13: annotations, none of them', modern.annotationsSchema, {}, true],
    ['MC-RES-13: an unknown audience', modern.annotationsSchema, { audience: ['admin'] }, false],
    ['MC-RES-13: a priority above 1', modern.annotationsSchema, { priority: 1.1 }, false],
    ['MC-RES-13: a priority below 0', modern.annotationsSchema, { priority: -0.1 }, false],
    ['MC-RES-13: a time as a number', modern.annotationsSchema, { lastModified: 0 }, false],
    ['MC-ICON-04: an icon', modern.iconSchema, icon, true],
    ['MC-ICON-04: an icon with only src', modern.iconSchema, { src: icon.src }, true],
    ['MC-ICON-04: an icon without src', modern.iconSchema, { ...icon, src: undefined }, false],
    ['MC-ICON-04: sizes as one string', modern.iconSchema, { ...icon, sizes: '48x48' }, false],
    ['MC-ICON-04: an unknown theme', modern.iconSchema, { ...icon, theme: 'sepia' }, false],
    [
      'MC-CANC-04: a cancel by number',
      modern.cancelledNotificationSchema,
      { ...cancelled, params: { requestId: 1 } },
      true,
    ],
    [
      'MC-CANC-04: a cancel by string with a reason',
      modern.cancelledNotificationSchema,
      { ...cancelled, params: { requestId: '', reason: 'r' } },
      true,
    ],
    [
      'MC-CANC-04: a cancel of nothing',
      modern.cancelledNotificationSchema,
      { ...cancelled, params: { reason: 'r' } },
      false,
    ],
    [
      'MC-CANC-04: a cancel by null',
      modern.cancelledNotificationSchema,
      { ...cancelled, params: { requestId: null } },
      false,
    ],
    [
      'MC-CANC-04: a reason that is no string',
      modern.cancelledNotificationSchema,
      { ...cancelled, params: { requestId: 1, reason: {} } },
      false,
    ],
  ])('%s', (_, schema, value, accepted) => {
    expect(schema.safeParse(value).success).toBe(accepted)
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
