import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addMembers, omitMembers, replaceMember } from './edit.ts'
import type { JsonObject } from './json.ts'
import { JsonText } from './json-text.ts'

const objects = fc
  .dictionary(fc.string(), fc.jsonValue())
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonObject)

/** The same value written with white space, as other programs do. */
const spaced = (value: JsonObject): JsonText => new JsonText(` ${JSON.stringify(value, undefined, 1)}\n`)

test('members are added in front, to parsed values and to text', () => {
  fc.assert(
    fc.property(objects, (value) => {
      fc.pre(!Object.hasOwn(value, 'added') && !/\\ud[89a-f]/i.test(JSON.stringify(value)))
      const expected = new Map([['added', [1]], ...Object.entries(value)] as const)
      for (const given of [value, new JsonText(JSON.stringify(value)), spaced(value)]) {
        const added = JSON.parse(addMembers(given, '"added":[1]').text) as JsonObject
        expect(new Map(Object.entries(added))).toEqual(expected)
      }
    }),
  )
})

test('members are left out by their decoded key, the others stay as they were written', () => {
  const json = new JsonText('{"a":1.0,"\\u0062":2,"c":{"b":1e2},"b":3,"d":"x"}')
  const kept = omitMembers(json, (key) => key === 'b')
  expect(kept.text).toBe('{"a":1.0,"c":{"b":1e2},"d":"x"}')
  expect([kept.has('a'), kept.has('b')]).toEqual([true, false])
  expect(omitMembers(new JsonText('{"a":1}'), () => true).text).toBe('{}')
})

test('of a member that was given twice the one that counts stays', () => {
  expect(omitMembers(new JsonText('{"a":1,"b":2,"a":3}'), () => false).value).toEqual({ a: 3, b: 2 })
})

test('one member is replaced, or added when it is not there', () => {
  const json = new JsonText('{ "a" : 1 , "b" : [2] }')
  expect(replaceMember(json, 'b', '{"x":1.0}').text).toBe('{ "a" : 1 , "b" : {"x":1.0} }')
  expect(replaceMember(json, 'c', '3').value).toEqual({ a: 1, b: [2], c: 3 })
  expect(replaceMember(new JsonText('{}'), 'c', '3').value).toEqual({ c: 3 })
})

test('replacing leaves every other member as it was', () => {
  fc.assert(
    fc.property(objects, fc.string(), (value, key) => {
      const replaced = replaceMember(spaced(value), key, '"new"').value as JsonObject
      expect(new Map(Object.entries(replaced))).toEqual(new Map([...Object.entries(value), [key, 'new']]))
    }),
  )
})

test('what is left is a view of what it was cut out of: cut in one piece where it can be, found without another search', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 24 }),
      fc.func(fc.boolean()),
      (given, isOmitted) => {
        const text = JSON.stringify(given)
        const json = new JsonText(text)
        const omitted = (key: string): boolean => isOmitted(key)
        const kept = omitMembers(json, omitted)
        const value = JSON.parse(text) as JsonObject
        const expected = Object.fromEntries(Object.entries(value).filter(([key]) => !omitted(key)))
        expect(kept.value).toEqual(expected)
        expect(JSON.parse(`{${kept.members}}`)).toEqual(expected)
        for (const key of Object.keys(value)) {
          expect(kept.has(key)).toBe(!omitted(key))
          expect(kept.member(key)?.value).toEqual(omitted(key) ? undefined : value[key])
        }
        expect(new JsonText(kept.text).member('a')?.text).toBe(kept.member('a')?.text)
      },
    ),
  )
})
