import { expect, test } from 'vitest'
import { toMarkdown } from '../src/markdown.ts'
import type { Measurement } from '../src/run.ts'
import { median, noise, percentile } from '../src/statistics.ts'
import { summarise } from '../src/summary.ts'
import type { Suite } from '../src/suites/suite.ts'

const suite: Suite = {
  name: 'made-up',
  title: 'Made up',
  metrics: [
    { key: 'rate', title: 'calls/s', ratio: 'rate', digits: 0, goals: { ours: 1.5 } },
    { key: 'cost', title: 'µs', ratio: 'cost', digits: 1, goals: { ours: 1.5 } },
    { key: 'plain', title: 'ms', ratio: undefined, digits: 0, goals: { ours: 3 } },
  ],
  measure: async () => ({}),
}

function measured(target: string, round: number, rate: number, cost: number, plain: number | undefined): Measurement {
  return {
    suite: 'made-up',
    target,
    era: 'modern',
    round,
    figures: { rate, cost, plain },
    otherWork: round === 3 ? 0.5 : 0,
  }
}

// The machine gets slower by the round, and the ratios do not.
const measurements = [
  measured('bare', 1, 1_000, 1, 1),
  measured('ours', 1, 800, 2, 2),
  measured('bare', 2, 500, 2, 1),
  measured('ours', 2, 400, 4, 2),
  measured('bare', 3, 100, 10, 1),
  measured('ours', 3, 50, 20, undefined),
]

test('ratios compare within a round and say how many times worse', () => {
  const [bare, ours] = summarise(suite, measurements)
  expect(bare?.figures.map(({ ratio, met }) => [ratio, met])).toEqual([
    [undefined, undefined],
    [undefined, undefined],
    [undefined, undefined],
  ])
  expect(ours?.figures).toEqual([
    { metric: 'rate', median: 400, noise: 750 / 400, ratio: 1.25, met: true },
    { metric: 'cost', median: 4, noise: 18 / 4, ratio: 2, met: false },
    // In the third round it never happened.
    { metric: 'plain', median: 2, noise: 0, ratio: undefined, met: false },
  ])
  expect(ours?.disturbedRounds).toBe(1)
})

test('the table shows medians, ratios, missed goals in bold and the noise', () => {
  expect(toMarkdown([suite], measurements)).toContain(
    '| ours, packages, modern | 400 (1.25×) | **4.0 (2.00×)** | **2** | 188 %, 1 disturbed |',
  )
})

test('what never happened meets no goal', () => {
  const never = [measured('bare', 1, 1, 1, 1), measured('ours', 1, 1, 1, undefined)]
  expect(summarise(suite, never)[1]?.figures[2]).toMatchObject({ median: undefined, met: false })
})

test('median, percentile and noise', () => {
  expect(median([5, 1, 3])).toBe(3)
  expect(median([4, 1, 3, 2])).toBe(2.5)
  expect(percentile([10, 20, 30, 40], 0.5)).toBe(20)
  expect(percentile([10, 20, 30, 40], 0.99)).toBe(40)
  expect(noise([8, 10, 12])).toBe(0.4)
})
