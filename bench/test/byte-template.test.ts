import { expect, test } from 'vitest'
import { createByteTemplate, firstId, matchTemplate, patchId } from '../src/byte-template.ts'

test('a template matches lines that differ in the id only, the same in all places', () => {
  const template = createByteTemplate('{"id":10000042,"text":"10000042 é"}\n', 10_000_042)
  const line = Buffer.from('..{"id":98765432,"text":"98765432 é"}\n')
  expect(matchTemplate(template, line, 2)).toBe(98_765_432)
  expect(matchTemplate(template, Buffer.from('{"id":98765432,"text":"98765433 é"}\n'), 0)).toBe(-1)
  expect(matchTemplate(template, Buffer.from('{"id":98765432,"text":"98765432 e!}\n'), 0)).toBe(-1)
  expect(matchTemplate(template, Buffer.from('{"id":9876543x,"text":"9876543x é"}\n'), 0)).toBe(-1)
})

test('an id is written into all holes and nowhere else', () => {
  const template = createByteTemplate(`{"id":${firstId},"text":"${firstId}"}`, firstId)
  const target = Buffer.from(`..${template.bytes.toString()}..`)
  patchId(target, 2, template.holes, 12_345_678)
  expect(target.toString()).toBe('..{"id":12345678,"text":"12345678"}..')
})

test('a line without the id makes no template', () => {
  expect(() => createByteTemplate('{"id":1}', firstId)).toThrow(`no ${firstId}`)
})
