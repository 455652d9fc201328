import { expect, test } from 'vitest'
import { allCells, carriers, type Cell, clients, sampledCells, servers } from './cells.ts'

const sides: readonly (readonly [keyof Cell, readonly string[]])[] = [
  ['client', clients],
  ['front', carriers],
  ['back', carriers],
  ['server', servers],
]

test('the matrix is every combination once', () => {
  expect(allCells).toHaveLength(36)
  expect(new Set(allCells.map((cell) => JSON.stringify(cell))).size).toBe(36)
})

test('in the sample each value of a side meets each value of every other side', () => {
  expect(sampledCells).toHaveLength(9)
  for (const [side, values] of sides) {
    for (const [other, others] of sides.filter(([name]) => name !== side)) {
      const met = new Set(sampledCells.map((cell) => `${cell[side]}, ${cell[other]}`))
      expect(met.size, `${side} and ${other}`).toBe(values.length * others.length)
    }
  }
})
