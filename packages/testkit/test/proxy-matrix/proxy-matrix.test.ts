import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { mark } from '../_util/fixtures.ts'
import { processesWith, until } from '../_util/processes.ts'
import { allCells, type Cell, nameOf, sampledCells } from './cells.ts'
import { pageOf, rowOf } from './matrix-page.ts'
import { type Outcomes, runCell } from './run-cell.ts'

// Processes start slowly on a busy machine; this only catches a hang.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })

const page = join(import.meta.dirname, '../../../../docs/proxy-matrix.md')
const all = process.env['ATENEA_MATRIX'] === 'all'
const found: (readonly [Cell, Outcomes])[] = []

afterEach(async () => await until(() => processesWith(mark).length === 0))

describe('BR-101, BR-105, BR-107, BR-110, BR-112, BR-130, BR-206, BR-208, BR-210, BR-231, BR-301, BR-303, BR-307', () => {
  const cells = (all ? allCells : sampledCells).map((cell) => [nameOf(cell), cell] as const)
  test.each(cells)('%s', async (_name, cell) => {
    const outcomes = await runCell(cell)
    found.push([cell, outcomes])
    expect(outcomes.filter((outcome) => typeof outcome === 'object' && 'failed' in outcome)).toEqual([])
    // A run of all cells writes the page itself.
    const published = all ? rowOf(cell, outcomes) : readFileSync(page, 'utf8')
    expect(published.split('\n')).toContain(rowOf(cell, outcomes))
  })
})

afterAll(() => {
  if (all && found.length === allCells.length) writeFileSync(page, pageOf(found))
})
