import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, test } from 'vitest'
import { installConsumer } from '../_util/consumer.ts'
import { rootDir } from '../_util/workspace.ts'

const tarballs = inject('tarballs')
const libraries = tarballs.filter((tarball) => tarball.manifest.bin === undefined)

/** The first block of TypeScript of a README, and the first block of text after it: what it prints. */
function exampleOf(folder: string): { code: string; prints: string } {
  const readme = readFileSync(join(rootDir, folder, 'README.md'), 'utf8')
  const match = /```ts\n([\s\S]*?)```[\s\S]*?```text\n([\s\S]*?)```/.exec(readme)
  if (match === null) throw new Error(`${folder}/README.md has no example with its output`)
  return { code: match[1] ?? '', prints: match[2] ?? '' }
}

describe.each(libraries.map((tarball) => [tarball.name, tarball] as const))('%s', (name, tarball) => {
  test('the example of its README compiles, runs on the oldest Node and prints what the README says', async () => {
    const { code, prints } = exampleOf(tarball.folder)
    const used = tarballs.filter((one) => code.includes(`'${one.name}`)).map((one) => one.name)
    expect(used).toContain(name)
    using consumer = await installConsumer(tarballs, used, ['@types/node@20', ...othersIn(code)])
    consumer.write('example.ts', code)
    const compilerOptions = { module: 'nodenext', target: 'es2023', strict: true, skipLibCheck: false, types: ['node'] }
    consumer.write('tsconfig.json', JSON.stringify({ compilerOptions, files: ['example.ts'] }))
    await consumer.run(join(rootDir, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.json'])
    expect(await consumer.run(tarball.oldestNode, ['example.js'])).toBe(prints)
  })
})

/** Packages of npm that an example imports. */
function othersIn(code: string): string[] {
  const imported = [...code.matchAll(/from '([^'.][^']*)'/g)].map((match) => match[1] ?? '')
  return imported.filter((specifier) => !specifier.startsWith('@atenea/') && !specifier.startsWith('node:'))
}
