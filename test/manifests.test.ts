import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Manifest, publishedMembers, readJson, rootDir, workspaceMembers } from './_util/workspace.ts'

/** What a user can import. A key that goes away breaks users; a new one is a promise. */
const exportMaps: Readonly<Record<string, readonly string[]>> = {
  '@atenea/blobs': ['.', './package.json'],
  '@atenea/core': ['.', './sqlite', './package.json'],
  '@atenea/mcpcompat': ['.', './transport', './schemas', './package.json'],
  '@atenea/passthrough': ['.', './package.json'],
  '@atenea/transport-http': ['.', './node', './oauth', './oauth/node', './resource-server', './package.json'],
  '@atenea/transport-stdio': ['.', './package.json'],
}

/** The oldest Node on which each is run by the checks. */
const oldestNode: Readonly<Record<string, string>> = {
  '@atenea/blobs': '>=20.19',
  '@atenea/core': '>=20.19',
  '@atenea/mcpcompat': '>=20.19',
  '@atenea/probe': '>=20.19',
  '@atenea/proxy': '>=20.19',
  '@atenea/passthrough': '>=20.19',
  '@atenea/transport-http': '>=20.19',
  '@atenea/transport-stdio': '>=20.19',
  'atenea-server': '>=22.13',
}

test('exactly these packages and apps are published', () => {
  expect(publishedMembers().map((member) => member.manifest.name)).toEqual([
    '@atenea/probe',
    '@atenea/proxy',
    'atenea-server',
    '@atenea/blobs',
    '@atenea/core',
    '@atenea/mcpcompat',
    '@atenea/passthrough',
    '@atenea/transport-http',
    '@atenea/transport-stdio',
  ])
})

describe.each(publishedMembers().map(({ manifest }) => [manifest.name, manifest] as const))(
  '%s',
  (name, manifest: Manifest) => {
    test('states licence, format, oldest Node and how it is published', () => {
      expect(manifest).toMatchObject({
        license: 'Apache-2.0',
        type: 'module',
        engines: { node: oldestNode[name] },
        publishConfig: { access: 'public', provenance: true },
      })
      expect(manifest.description).toMatch(/\w/)
    })
  },
)

describe.each(Object.entries(exportMaps))('%s', (name, keys) => {
  const manifest = publishedMembers().find((member) => member.manifest.name === name)?.manifest
  const folder = publishedMembers().find((member) => member.manifest.name === name)?.folder ?? ''

  test('its export map has exactly these keys', () => {
    expect(Object.keys(manifest?.exports ?? {})).toEqual(keys)
  })

  test('each entry has types and one form, and a source', () => {
    for (const [key, target] of Object.entries(manifest?.exports ?? {})) {
      if (key === './package.json') continue
      const entry = key === '.' ? 'index' : key.slice(2)
      expect(target).toEqual({ types: `./dist/${entry}.d.ts`, default: `./dist/${entry}.js` })
      expect(Object.keys(target)).toEqual(['types', 'default'])
      expect(existsSync(join(rootDir, folder, `src/${entry}.ts`))).toBe(true)
    }
  })

  test('each entry names what it exports, one by one, and has no default', () => {
    const entries = keys.filter((key) => key !== './package.json').map((key) => (key === '.' ? 'index' : key.slice(2)))
    for (const entry of entries) {
      const text = readFileSync(join(rootDir, folder, `src/${entry}.ts`), 'utf8')
      expect(text).not.toMatch(/export \*|export default/)
    }
  })

  test('ships dist and has no side effects when loaded', () => {
    expect(manifest).toMatchObject({ files: ['dist'], sideEffects: false })
  })
})

test('versions of what npm provides stand in the catalog alone', () => {
  const manifests = [...workspaceMembers().map((member) => member.manifest), readJson('package.json') as Manifest]
  const strays = manifests.flatMap((manifest) =>
    Object.entries({ ...manifest.dependencies, ...manifest.devDependencies, ...manifest.peerDependencies })
      .filter(([, range]) => range !== 'catalog:' && !range.startsWith('workspace:'))
      .map(([dependency, range]) => `${manifest.name}: ${dependency} ${range}`),
  )
  expect(strays).toEqual([])
})
