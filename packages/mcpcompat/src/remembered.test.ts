import { expect, test } from 'vitest'
import { remembered } from './remembered.ts'

test('each distinct text is worked out once, also when nothing comes of it', () => {
  const asked: string[] = []
  const find = remembered((text) => {
    asked.push(text)
    return text === 'none' ? undefined : text.length
  })
  expect([find('a'), find('none'), find('a'), find('none'), find('__proto__')]).toEqual([1, undefined, 1, undefined, 9])
  expect(asked).toEqual(['a', 'none', '__proto__'])
})

test('what is kept is bounded, and the outcome stays right', () => {
  let count = 0
  const find = remembered((text) => {
    count++
    return text
  })
  for (let round = 0; round < 2; round++) {
    for (let index = 0; index < 256; index++) expect(find(`k${index}`)).toBe(`k${index}`)
  }
  expect(count).toBe(256)
  find('one more')
  expect(find('k0')).toBe('k0')
  expect(count).toBe(258)
})
