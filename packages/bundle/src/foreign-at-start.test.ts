import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, expect, test } from 'vitest'
import { foreignAtStart } from './foreign-at-start.ts'

const folder = mkdtempSync(join(tmpdir(), 'atenea-bundle-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What is foreign in the start of a program whose main file and another one have these texts. */
async function found(main: string, other = ''): Promise<readonly string[]> {
  mkdirSync(join(folder, 'node_modules/foreign'), { recursive: true })
  writeFileSync(join(folder, 'node_modules/foreign/index.js'), 'export const foreign = () => console.log(1)')
  writeFileSync(join(folder, 'main.js'), main)
  writeFileSync(join(folder, 'other.js'), other)
  const { metafile } = await build({
    absWorkingDir: folder,
    entryPoints: ['main.js'],
    outdir: 'dist',
    bundle: true,
    splitting: true,
    format: 'esm',
    metafile: true,
    write: false,
  })
  return foreignAtStart(metafile, 'dist/main.js')
}

const foreign = ['node_modules/foreign/index.js']

test('what starts holds foreign code when it imports some, itself or by the way', async () => {
  expect(await found('import { foreign } from "foreign"; foreign()')).toEqual(foreign)
  expect(await found('import "./other.js"', 'import { foreign } from "foreign"; foreign()')).toEqual(foreign)
  // shared with what is loaded later, and so in a file of its own
  const shared = 'import { foreign } from "foreign"; foreign(); void import("./other.js")'
  expect(await found(shared, 'import { foreign } from "foreign"; foreign()')).toEqual(foreign)
})

test('what is loaded later may hold any, and what is left out of the bundle counts for nothing', async () => {
  expect(await found('void import("./other.js")', 'import { foreign } from "foreign"; foreign()')).toEqual([])
  expect(await found('import { foreign } from "foreign"')).toEqual([])
  expect(await found('console.log(1)')).toEqual([])
})

test('a bundle without the file is a mistake', () => {
  expect(() => foreignAtStart({ outputs: {} }, 'dist/main.js')).toThrow('no dist/main.js')
})
