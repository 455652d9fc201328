import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const root = fileURLToPath(new URL('.', import.meta.url))

/** Every export of a workspace package resolves to its source, so that tests need no build of it. */
function sourceAliases(): { find: RegExp; replacement: string }[] {
  return readdirSync(`${root}packages`).flatMap((folder) => {
    const manifest = JSON.parse(readFileSync(`${root}packages/${folder}/package.json`, 'utf8')) as {
      name: string
      exports: Record<string, string | { default: string }>
    }
    return Object.entries(manifest.exports).flatMap(([key, target]) => {
      if (typeof target === 'string') return []
      const source = target.default.replace('./dist/', 'src/').replace(/\.js$/, '.ts')
      return [
        { find: new RegExp(`^${manifest.name}${key.slice(1)}$`), replacement: `${root}packages/${folder}/${source}` },
      ]
    })
  })
}

export default defineConfig({
  test: {
    testTimeout: 60_000,
    // Two also where there are two cores: the long files wait for processes most of their time.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      {
        extends: true,
        resolve: { alias: sourceAliases() },
        test: {
          name: 'sources',
          include: [
            'packages/**/*.test.ts',
            'apps/**/*.test.ts',
            'bench/**/*.test.ts',
            'examples/**/*.test.ts',
            'test/*.test.ts',
          ],
          exclude: ['**/node_modules/**', '**/*.pds.test.ts'],
        },
      },
      {
        // Against a real PDS and PLC directory. Needs the npm registry on first use.
        extends: true,
        resolve: { alias: sourceAliases() },
        test: {
          name: 'pds',
          include: ['packages/**/*.pds.test.ts', 'apps/**/*.pds.test.ts'],
          globalSetup: 'test/pds/setup.ts',
          testTimeout: 60_000,
        },
      },
      {
        // What a user gets: packed tarballs of the built packages. Needs a build and the npm registry.
        extends: true,
        test: {
          name: 'packed',
          include: ['test/packed/*.test.ts'],
          globalSetup: 'test/packed/_setup.ts',
          testTimeout: 180_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
})
