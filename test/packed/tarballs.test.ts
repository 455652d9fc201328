import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { publint } from 'publint'
import { describe, expect, inject, test } from 'vitest'
import { runCommand } from '../../scripts/run-command.ts'
import { installConsumer } from '../_util/consumer.ts'
import { type Manifest, rootDir } from '../_util/workspace.ts'

const tarballs = inject('tarballs')
const libraries = tarballs.filter((tarball) => tarball.manifest.bin === undefined)

describe.each(tarballs.map((tarball) => [tarball.name, tarball] as const))('%s', (name, tarball) => {
  test('holds what was built, its manifest, README and licence, and nothing else', () => {
    const ofLibrary = /^(?:dist\/.*\.(?:js|d\.ts|js\.map)|package\.json|README\.md|LICENSE)$/
    const ofApp = /^(?:dist\/.*\.js|dist\/THIRD-PARTY-LICENSES\.txt|bin\/[\w-]+\.js|[\w.-]+\.json|README\.md|LICENSE)$/
    const allowed = libraries.includes(tarball) ? ofLibrary : ofApp
    expect(tarball.files.filter((file) => !allowed.test(file))).toEqual([])
    expect(tarball.files.filter((file) => /\.(?:test|bench)\.|tsbuildinfo|fixture/.test(file))).toEqual([])
    expect(tarball.files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'package.json']))
  })

  test('carries the licences of what it bundles, if it bundles anything', () => {
    const bundles = tarball.manifest.bin !== undefined
    expect(tarball.files.includes('dist/THIRD-PARTY-LICENSES.txt')).toBe(bundles)
    expect(bundles && Object.keys(tarball.manifest.dependencies ?? {}).length > 0).toBe(false)
  })

  test('publint finds nothing, not even a suggestion', async () => {
    const bytes = readFileSync(tarball.path)
    const { messages } = await publint({ pack: { tarball: new Uint8Array(bytes).buffer }, strict: true })
    expect(messages).toEqual([])
  })

  test('installs alone into an empty project, and what it names inside exists there', async () => {
    using consumer = await installConsumer(tarballs, [name])
    const folder = join(consumer.folder, 'node_modules', name)
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
    expect(JSON.stringify(manifest)).not.toMatch(/workspace:|catalog:/)
    const exact = Object.entries(manifest.dependencies ?? {}).filter(([, range]) => !range.startsWith('^'))
    expect(exact, 'users could not get a fix of a dependency').toEqual([])
    expect(readFileSync(join(folder, 'LICENSE'), 'utf8')).toBe(readFileSync(join(rootDir, 'LICENSE'), 'utf8'))
    for (const file of tarball.files.filter((path) => path.endsWith('.js.map'))) {
      const map = JSON.parse(readFileSync(join(folder, file), 'utf8')) as {
        sources: string[]
        sourcesContent?: string[]
      }
      expect(map.sourcesContent?.length, `${file} holds its sources`).toBe(map.sources.length)
    }
    for (const file of tarball.files.filter((path) => /\.(?:js|d\.ts)$/.test(path))) {
      const pointer = /\/\/# sourceMappingURL=(\S+)\s*$/.exec(readFileSync(join(folder, file), 'utf8'))?.[1]
      if (pointer !== undefined && !existsSync(join(folder, file, '..', pointer)))
        throw new Error(`${file}: no ${pointer}`)
    }
  })
})

describe.each(libraries.map((tarball) => [tarball.name, tarball] as const))('%s', (_name, tarball) => {
  test('every built file comes from a source that is still there', () => {
    const stale = tarball.files.filter((file) => {
      const source = /^dist\/(.*?)(?:\.d\.ts|\.js(?:\.map)?)$/.exec(file)?.[1]
      return source !== undefined && !existsSync(join(rootDir, tarball.folder, 'src', `${source}.ts`))
    })
    expect(stale, 'left by an older build: run `pnpm clean`, then build').toEqual([])
  })

  test('its types are right for every way of importing it', async () => {
    const args = [tarball.path, '--profile', 'esm-only', '--no-definitely-typed', '--no-color', '--no-emoji']
    const result = await runCommand('attw', args, { cwd: rootDir, timeoutMs: 120_000 })
    expect(result.ok ? '' : result.output).toBe('')
  })
})
