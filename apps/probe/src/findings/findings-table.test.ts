import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { catalog } from './catalog.ts'
import { withFindingsTable } from './findings-table.ts'

const page = readFileSync(join(import.meta.dirname, '../../../../docs/probe.md'), 'utf8')

test('docs/probe.md has every finding as the catalogue has it: run pnpm --filter @atenea/probe findings-page', () => {
  expect(withFindingsTable(page)).toBe(page)
  const ids = [...page.matchAll(/^\| `([a-z0-9-]+)` \| (?:error|warning|note) \|/gm)].map(([, id]) => id)
  expect(ids).toHaveLength(Object.keys(catalog).length)
  expect(new Set(ids)).toEqual(new Set(Object.keys(catalog)))
})

test('a page without a place for them is refused', () => {
  expect(() => withFindingsTable('# A page')).toThrow('the page has no place for the findings')
})
