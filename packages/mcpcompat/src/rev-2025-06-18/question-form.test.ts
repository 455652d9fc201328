import { expect, test } from 'vitest'
import type { Call } from '../contract/call.ts'
import { type JsonObject, toObject } from '../jsonrpc/json.ts'
import { legacyRevision } from '../revisions.ts'
import { featuresOf } from './features.ts'
import { questionForLegacy } from './question-form.ts'

const form = (properties: JsonObject): Call => ({
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message: 'm',
    requestedSchema: { $schema: 'x', type: 'object', properties, required: ['a'] },
  },
})
const titled = { type: 'string', title: 'T', oneOf: [{ const: 'r', title: 'Red' }, { const: 'b' }] }
const several = { type: 'array', items: { type: 'string', enum: ['a'] } }
const sampling = (content: unknown): Call => ({
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: content as JsonObject }], maxTokens: 1 },
})
const block = { type: 'text', text: 't' }

test('LG-ELIC-01: a form has no mode, and choices with titles become an enum with names', () => {
  expect(questionForLegacy(form({ a: titled, b: { type: 'boolean' } }), featuresOf(legacyRevision), 1)).toEqual({
    message: 'm',
    requestedSchema: {
      type: 'object',
      properties: {
        a: { type: 'string', title: 'T', enum: ['r', 'b'], enumNames: ['Red', 'b'] },
        b: { type: 'boolean' },
      },
      required: ['a'],
    },
  })
})

test('a revision that knows all of it gets all of it', () => {
  const question = form({ a: titled, b: several })
  expect(questionForLegacy(question, featuresOf('2025-11-25'), 1)).toEqual(question.params)
})

test('a field that cannot be shown is not asked for', () => {
  expect(() => questionForLegacy(form({ a: several }), featuresOf(legacyRevision), 1)).toThrow('several choices')
})

test('LG-SAMP-01: messages hold one block each', () => {
  const { messages } = toObject(questionForLegacy(sampling([block]), featuresOf(legacyRevision), 1))
  expect(messages).toEqual([{ role: 'user', content: block }])
  expect(() => questionForLegacy(sampling([block, block]), featuresOf(legacyRevision), 1)).toThrow(
    'several content blocks',
  )
  expect(questionForLegacy(sampling([block, block]), featuresOf('2025-11-25'), 1)).toEqual(
    sampling([block, block]).params,
  )
})

test('an id of a url question that is there stays', () => {
  const url: Call = {
    method: 'elicitation/create',
    params: { mode: 'url', message: 'm', url: 'https://a.example/', elicitationId: 'e' },
  }
  expect(questionForLegacy(url, featuresOf('2025-11-25'), 7)).toMatchObject({ elicitationId: 'e' })
  expect(() => questionForLegacy(url, featuresOf(legacyRevision), 7)).toThrow('url')
})
