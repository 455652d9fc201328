import type { JsonObject } from '@atenea/mcpcompat'
import { describe, expect, test } from 'vitest'
import { schemaFaults } from './check-schema.ts'

const number = { type: 'number' }

describe('MC-SCH-04, MC-SCH-07: schemas that are right have no faults', () => {
  test.each<[string, JsonObject]>([
    ['a pointer', { properties: { a: { $ref: '#/$defs/n' } }, $defs: { n: number } }],
    ['a pointer with escapes', { $defs: { 'a/b~c d': number }, $ref: '#/$defs/a~1b~0c%20d' }],
    ['a schema within itself', { properties: { a: { $ref: '#' } } }],
    ['an anchor', { $ref: '#n', $defs: { n: { ...number, $anchor: 'n' } } }],
    ['a dynamic anchor', { $ref: '#n', $defs: { n: { ...number, $dynamicAnchor: 'n' } } }],
    ['an anchor of draft-07', { $ref: '#n', definitions: { n: { ...number, $id: '#n' } } }],
    ['an id', { $ref: 'https://x.example/n', $defs: { n: { ...number, $id: 'https://x.example/n' } } }],
    ['a relative id', { $id: 'https://x.example/root', $ref: 'n', $defs: { n: { $id: 'n' } } }],
    [
      'a relative id in full',
      { $id: 'https://x.example/root', $ref: 'https://x.example/n', $defs: { n: { $id: 'n' } } },
    ],
    [
      'the id of the root',
      { $id: 'https://x.example/root', $ref: 'https://x.example/root#/$defs/n', $defs: { n: number } },
    ],
    [
      'a pointer within a schema that has an id',
      { $defs: { list: { $id: 'https://x.example/list', items: { $ref: '#/$defs/n' }, $defs: { n: number } } } },
    ],
    [
      'several types, a tuple of draft-07, a schema that is a boolean',
      { type: ['string', 'null'], items: [number, true] },
    ],
    ['keywords that nobody knows', { nullable: true, example: 1, 'x-order': [], dependencies: { a: ['b'] } }],
    ['a pattern that only some read with Unicode', { pattern: '^[\\w\\-]+$' }],
  ])('%s', (_, schema) => {
    expect(schemaFaults(schema)).toEqual([])
  })
})

describe('MC-SCH-04, MC-SCH-05, MC-SCH-07: schemas that are wrong have the fault that they have', () => {
  test.each<[string, JsonObject]>([
    ['schema-ref-dangling', { $ref: '#/$defs/none' }],
    ['schema-ref-dangling', { $ref: '#none' }],
    ['schema-ref-dangling', { $ref: 'none.json' }],
    ['schema-ref-network', { $ref: 'https://x.example/none' }],
    ['schema-ref-network', { $id: 'https://x.example/root', $ref: 'https://x.example/none#/a' }],
    ['schema-invalid', { type: 'int' }],
    ['schema-invalid', { exclusiveMinimum: true }],
    ['schema-invalid', { properties: { a: { required: true } } }],
    ['schema-dialect', { $schema: 'http://json-schema.org/draft-04/schema#' }],
  ])('%s: %j', (id, schema) => {
    expect(schemaFaults(schema)).toMatchObject([{ id }])
  })
})
