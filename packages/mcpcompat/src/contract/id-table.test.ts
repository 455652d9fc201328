import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RpcId } from '../jsonrpc/message.ts'
import { IdTable } from './id-table.ts'

const id = fc.oneof(fc.integer(), fc.maxSafeInteger(), fc.string(), fc.constantFrom('', '1', 1, -1, 0, 'a', 'aa'))

test('does what a Map does, in the order of a Map', () => {
  const step = fc.tuple(fc.constantFrom('set', 'set', 'delete', 'clear'), id, fc.integer())
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const table = new IdTable<number>()
      const map = new Map<RpcId, number>()
      for (const [what, key, value] of steps) {
        for (const each of [table, map]) {
          if (what === 'set') each.set(key, value)
          else if (what === 'clear' && value % 20 === 0) each.clear()
        }
        const deleted = [table, map].map((each) => what === 'delete' && each.delete(key))
        expect(deleted[0]).toBe(deleted[1])
        expect(table.get(key)).toBe(map.get(key))
        expect(table.has(key)).toBe(map.has(key))
      }
      expect(table.size).toBe(map.size)
      expect([...table.keys()]).toEqual([...map.keys()])
      expect([...table.values()]).toEqual([...map.values()])
    }),
  )
})

test('a number and its text are two ids, however many there are', () => {
  const table = new IdTable<string>()
  for (let n = 0; n < 5_000; n++) {
    table.set(n, `number ${n}`)
    table.set(String(n), `text ${n}`)
  }
  expect(table.size).toBe(10_000)
  for (let n = 0; n < 5_000; n++) {
    expect(table.get(n)).toBe(`number ${n}`)
    expect(table.get(String(n))).toBe(`text ${n}`)
  }
})

test('several values under one id: the first is found first, and each goes by itself', () => {
  const table = new IdTable<string>()
  for (const value of ['a', 'b', 'c']) table.add(1, value)
  for (let n = 2; n < 100; n++) table.add(n, `other ${n}`)
  expect(table.get(1)).toBe('a')
  expect(table.has(1, 'b')).toBe(true)
  expect(table.delete(1, 'b')).toBe(true)
  expect(table.delete(1, 'b')).toBe(false)
  expect(table.has(1, 'b')).toBe(false)
  expect(table.delete(1, 'a')).toBe(true)
  expect(table.get(1)).toBe('c')
  expect(table.size).toBe(99)
})
