import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type Consumer, installConsumer } from '../_util/consumer.ts'
import type { Tarball } from './_setup.ts'
import { rootDir } from '../_util/workspace.ts'

const tarballs = inject('tarballs')
const libraries = tarballs.filter((tarball) => tarball.manifest.bin === undefined)
const tsc = join(rootDir, 'node_modules/.bin/tsc')

/** How users compile: both ways of resolving modules, the strictest checks, and the types of packages checked too. */
const compilers: Readonly<Record<string, object>> = {
  nodenext: { module: 'nodenext', types: ['node'], lib: ['es2023'] },
  bundler: { module: 'esnext', moduleResolution: 'bundler', types: ['node'], lib: ['es2023'] },
  'bundler for browsers': {
    module: 'esnext',
    moduleResolution: 'bundler',
    types: [],
    lib: ['es2023', 'esnext.disposable', 'dom', 'dom.iterable'],
  },
}

/** Packages whose use needs the types of Node are not for browsers. */
const forNode = ['@atenea/blobs', '@atenea/transport-stdio']

function compilersOf(name: string): string[] {
  return Object.keys(compilers).filter((key) => key !== 'bundler for browsers' || !forNode.includes(name))
}

/** Entries that load another package when they are imported, since all that they do needs it. */
const loadedWith: Readonly<Record<string, RegExp>> = {
  '@atenea/blobs': /^(?:@atenea\/blobs|multiformats|node:.*)$/,
  '@atenea/mcpcompat/schemas': /^(?:@atenea\/|zod$)/,
}

/** What can be imported: `@atenea/core/sqlite` for the key `./sqlite`. */
function entriesOf({ name, manifest }: Tarball): string[] {
  return Object.keys(manifest.exports ?? {})
    .filter((key) => key !== './package.json')
    .map((key) => name + key.slice(1))
}

test('every library has a consumer, and every consumer a library', () => {
  const folders = readdirSync(join(rootDir, 'test/consumers')).sort()
  expect(folders).toEqual(libraries.map((tarball) => tarball.folder.replace('packages/', '')).sort())
})

describe.each(libraries.map((tarball) => [tarball.name, tarball] as const))('%s', (name, tarball) => {
  const snippets = `test/consumers/${tarball.folder.replace('packages/', '')}`
  let consumer: Consumer

  beforeAll(async () => {
    consumer = await installConsumer(tarballs, [name], ['@types/node@20', 'zod@4'])
    consumer.copy(snippets, '.')
  })
  afterAll(() => consumer[Symbol.dispose]())

  test.each(compilersOf(name))(
    'its types hold under %s, strict and with the types of packages checked',
    async (key) => {
      const compilerOptions = {
        target: 'es2022',
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        skipLibCheck: false,
        outDir: `out-${key.replaceAll(' ', '-')}`,
        ...compilers[key],
      }
      consumer.write(`tsconfig.json`, JSON.stringify({ compilerOptions, files: ['usage.ts'] }))
      await consumer.run(tsc, ['-p', 'tsconfig.json'])
      expect(await consumer.run(process.execPath, [`${compilerOptions.outDir}/usage.js`])).toBe('ok\n')
    },
  )

  test.each(['usage.mjs', 'usage.cjs'])(
    '%s runs on this Node and on the oldest that the package states',
    async (file) => {
      expect(existsSync(join(consumer.folder, file))).toBe(true)
      expect(await consumer.run(process.execPath, [file])).toBe('ok\n')
      expect(await consumer.run(tarball.oldestNode, [file])).toBe('ok\n')
    },
  )

  test.each(entriesOf(tarball))('importing %s loads nothing that is not needed to start', async (entry) => {
    consumer.copy('test/_util/loaded.mjs', 'loaded.mjs')
    const printed = await consumer.run(process.execPath, ['loaded.mjs', entry])
    const { urls, runtime } = JSON.parse(printed) as { urls: string[]; runtime: string[] }
    const packages = urls.map((url) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ?? url)
    const expected = loadedWith[entry] ?? /^(?:@atenea\/|node:)/
    expect(packages.filter((one) => !expected.test(one))).toEqual([])
    const heavy = /undici|webcrypto|NativeModule (?:http|https|http2|tls|net|child_process|worker_threads|inspector)$/
    expect(runtime.filter((one) => heavy.test(one))).toEqual([])
    const ownModules = runtime.filter((one) => /^NativeModule (?!internal\/)/.test(one))
    expect(forNode.includes(name) || /\/(?:sqlite|node)$/.test(entry) ? [] : ownModules).toEqual([])
  })

  test('what TypeScript compiled runs on the oldest Node too', async () => {
    expect(await consumer.run(tarball.oldestNode, ['out-nodenext/usage.js'])).toBe('ok\n')
  })
})
