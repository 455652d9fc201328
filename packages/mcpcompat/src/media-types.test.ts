import { expect, test } from 'vitest'
import { acceptedForms, isJsonType, isSseType } from './media-types.ts'

test.each([
  ['application/json', true],
  ['application/json; charset=utf-8', true],
  ['Application/JSON', true],
  ['application/json;charset="UTF-8"', true],
  [' application/json ;', true],
  ['text/plain', false],
  ['application/jsonx', false],
  ['application/json-rpc', false],
  ['text/plain; x=application/json', false],
  ['application/json, text/plain', false],
  ['', false],
  [undefined, false],
])('A-20: the content type %j is JSON: %s', (field, expected) => {
  expect(isJsonType(field)).toBe(expected)
})

test.each([
  ['text/event-stream;charset=utf-8', true],
  ['TEXT/EVENT-STREAM', true],
  ['application/json', false],
])('A-20: the content type %j is SSE: %s', (field, expected) => {
  expect(isSseType(field)).toBe(expected)
})

test.each<[string | undefined, boolean, boolean, string]>([
  [undefined, true, true, 'absent'],
  ['*/*', true, true, 'anything'],
  ['application/json, text/event-stream', true, true, 'both'],
  ['TEXT/EVENT-STREAM,application/JSON', true, true, 'case'],
  ['application/*, text/*;q=0.5', true, true, 'families'],
  ['application/json', true, false, 'JSON alone'],
  ['text/event-stream', false, true, 'SSE alone'],
  ['application/json;q=0, text/event-stream', false, true, 'refused by weight'],
  ['application/json;q=0, */*', false, true, 'the more specific range decides'],
  ['text/*;q=0, */*', true, false, 'the more specific range decides'],
  ['*/*;q=0', false, false, 'nothing'],
  ['*/*;q=0.001', true, true, 'a small weight'],
  ['application/json; charset=utf-8 ; q=1.000', true, false, 'other parameters'],
  ['application/json;q=high', false, false, 'a broken weight'],
  ['application/json;q=2', false, false, 'a weight out of range'],
  ['text/html, image/*', false, false, 'other types'],
  ['', false, false, 'empty'],
  [',, application/json ,', true, false, 'empty elements'],
  ['__proto__, constructor', false, false, 'names that every object has'],
])('A-20: Accept %j admits JSON %s, SSE %s (%s)', (field, json, sse) => {
  expect(acceptedForms(field)).toEqual({ json, sse })
})
