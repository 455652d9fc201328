import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'
import { importsOf } from './_util/imports.ts'
import { isTestFile, type Manifest, readJson, rootDir, sourceFiles, workspaceMembers } from './_util/workspace.ts'

/** Who may import whom. A new arrow is a decision: what looks like a need for one is a port missing in mcpcompat. */
const graph: Readonly<Record<string, readonly string[]>> = {
  '@atenea/bench': [
    '@atenea/blobs',
    '@atenea/core',
    '@atenea/mcpcompat',
    '@atenea/transport-http',
    '@atenea/transport-stdio',
  ],
  '@atenea/blobs': [],
  // How the apps are made into one file.
  '@atenea/bundle': [],
  '@atenea/cli': [],
  '@atenea/core': ['@atenea/mcpcompat'],
  '@atenea/example-hello-tool': ['@atenea/core', '@atenea/mcpcompat', '@atenea/transport-stdio'],
  '@atenea/example-tea': ['@atenea/core', '@atenea/mcpcompat', '@atenea/transport-stdio'],
  // What the apps have in common to serve: private and bundled into them, so that it is no arrow between published packages.
  '@atenea/fronts': ['@atenea/cli', '@atenea/mcpcompat', '@atenea/transport-http', '@atenea/transport-stdio'],
  '@atenea/mcpcompat': [],
  '@atenea/passthrough': ['@atenea/mcpcompat'],
  '@atenea/probe': [
    '@atenea/bundle',
    '@atenea/cli',
    '@atenea/mcpcompat',
    '@atenea/transport-http',
    '@atenea/transport-stdio',
  ],
  '@atenea/proxy': [
    '@atenea/bundle',
    '@atenea/cli',
    '@atenea/fronts',
    '@atenea/mcpcompat',
    '@atenea/passthrough',
    '@atenea/transport-http',
    '@atenea/transport-stdio',
  ],
  '@atenea/testkit': [
    '@atenea/core',
    '@atenea/mcpcompat',
    '@atenea/passthrough',
    '@atenea/transport-http',
    '@atenea/transport-stdio',
  ],
  '@atenea/transport-http': ['@atenea/mcpcompat'],
  '@atenea/transport-stdio': ['@atenea/mcpcompat'],
  'atenea-server': [
    '@atenea/blobs',
    '@atenea/bundle',
    '@atenea/cli',
    '@atenea/core',
    '@atenea/fronts',
    '@atenea/mcpcompat',
    '@atenea/transport-http',
    '@atenea/transport-stdio',
  ],
}

const members = workspaceMembers()
const names = new Set(members.map((member) => member.manifest.name))
const folderOf = (name: string): string => members.find((member) => member.manifest.name === name)?.folder ?? ''

/** `@atenea/core/sqlite` is a module of `@atenea/core`. */
const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')

/** Imports of siblings by name, and relative imports that leave the package. */
function siblingsOf(folder: string): string[] {
  const found = sourceFiles(folder)
    .flatMap(importsOf)
    .flatMap(({ file, specifier }) => {
      if (specifier === undefined) return []
      if (!specifier.startsWith('.')) return names.has(packageOf(specifier)) ? [packageOf(specifier)] : []
      const target = normalize(join(dirname(file), specifier))
      return target.startsWith(`${folder}/`) ? [] : [`${file} reaches ${target}`]
    })
  return [...new Set(found)].sort()
}

function manifestSiblings(manifest: Manifest): string[] {
  const all = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies }
  return Object.keys(all)
    .filter((name) => names.has(name))
    .sort()
}

test('the workspace has exactly the packages and apps of the graph', () => {
  expect([...names].sort()).toEqual(Object.keys(graph))
})

describe.each(Object.entries(graph))('%s', (name, allowed) => {
  const folder = folderOf(name)
  const manifest = readJson(`${folder}/package.json`) as Manifest

  test('its manifest depends on exactly the siblings of the graph', () => {
    expect(manifestSiblings(manifest)).toEqual(allowed)
    const ranges = { ...manifest.dependencies, ...manifest.devDependencies }
    expect(allowed.filter((sibling) => ranges[sibling] !== 'workspace:^')).toEqual([])
  })

  test('no sibling is a peer, since two copies of a class would not know each other', () => {
    expect(Object.keys(manifest.peerDependencies ?? {}).filter((peer) => names.has(peer))).toEqual([])
  })

  test('its tsconfig references exactly the siblings of the graph', () => {
    const { references = [] } = readJson(`${folder}/tsconfig.json`) as { references?: { path: string }[] }
    // A package may have a second project for what needs Node.
    const targets = references.map(({ path }) => normalize(join(folder, path)).replace(/\/tsconfig[.\w]*\.json$/, ''))
    const inPackage = targets.filter((target) => target === folder || target.startsWith(`${folder}/`))
    const outside = new Set(targets.filter((target) => !inPackage.includes(target)))
    expect([...outside].sort()).toEqual(allowed.map(folderOf).sort())
  })

  test('its sources and tests import no other sibling, and nothing of one but its exports', () => {
    expect(siblingsOf(folder).filter((sibling) => !allowed.includes(sibling))).toEqual([])
  })

  test('it imports all that its manifest names', () => {
    expect(allowed.filter((sibling) => !siblingsOf(folder).includes(sibling))).toEqual([])
  })

  test('every module that it names is written out, so that this test can read it', () => {
    const computed = sourceFiles(folder)
      .filter((file) => !isTestFile(file))
      .flatMap(importsOf)
      .filter((entry) => entry.specifier === undefined)
    expect(computed).toEqual([])
  })
})

test('no comment switches off a rule of lint about imports', () => {
  const hidden = ['apps', 'packages', 'bench', 'scripts', 'test', 'examples'].flatMap(sourceFiles).filter((file) => {
    const comments = readFileSync(join(rootDir, file), 'utf8').match(/(?:oxlint|eslint)-disable[^\n]*/g) ?? []
    return comments.some((comment) => /import|no-restricted|disable\s*(?:\*\/|$)/.test(comment))
  })
  expect(hidden).toEqual([])
})

test('the root checks the types of every member', () => {
  const { references } = readJson('tsconfig.json') as { references: { path: string }[] }
  const paths = references.map(({ path }) => path)
  expect(members.map((member) => member.folder).filter((folder) => !paths.includes(folder))).toEqual([])
})
