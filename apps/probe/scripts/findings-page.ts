/** Writes the table of `docs/probe.md` from the catalogue. A test fails when it is not current. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withFindingsTable } from '../src/findings/findings-table.ts'

const page = join(import.meta.dirname, '../../../docs/probe.md')
writeFileSync(page, withFindingsTable(readFileSync(page, 'utf8')))
