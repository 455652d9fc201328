import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'
import { type Manifest, readJson, rootDir, workspaceMembers } from './_util/workspace.ts'

const read = (path: string): string => readFileSync(join(rootDir, path), 'utf8')

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  '.changeset/README.md',
  ...readdirSync(join(rootDir, 'docs')).map((name) => `docs/${name}`),
  ...workspaceMembers().map(({ folder }) => `${folder}/README.md`),
].filter((path) => path.endsWith('.md') && existsSync(join(rootDir, path)))

/** The anchor that a heading gets on the repository's pages. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

test.each(pages)('every link of %s to another page leads somewhere', (page) => {
  const dead = [...read(page).matchAll(/\]\((?!https?:)([^)\s#]*)(?:#([^)\s]+))?\)/g)].filter(([, path, anchor]) => {
    const target = path === '' || path === undefined ? page : normalize(join(dirname(page), path))
    if (!existsSync(join(rootDir, target))) return true
    if (anchor === undefined) return false
    const anchors = [...read(target).matchAll(/^#+ (.+)$/gm)].map((match) => anchorOf(match[1] ?? ''))
    return !anchors.includes(anchor)
  })
  expect(dead.map(([link]) => link)).toEqual([])
})

test('every file that the architecture page sends its reader to is there', () => {
  const named = [...read('docs/architecture.md').matchAll(/`([\w./*-]+\/[\w./*-]*)`/g)].map((match) => match[1] ?? '')
  const files = named.filter((path) =>
    /^(?:packages|apps|test|mcpcompat|core|blobs|bundle|cli|fronts|passthrough|transport-stdio|transport-http)\//.test(
      path,
    ),
  )
  const missing = files.filter((path) => {
    const below = /^(?:packages|apps|test)\//.test(path) ? path : `packages/${path}`
    const folders = below.includes('rev-*')
      ? ['rev-2025-06-18', 'rev-2026-07-28'].map((rev) => below.replace('rev-*', rev))
      : below.startsWith('apps/*')
        ? ['server', 'proxy'].map((app) => below.replace('*', app))
        : [below]
    return folders.some((one) => !existsSync(join(rootDir, one)))
  })
  expect(files.length).toBeGreaterThan(10)
  expect(missing).toEqual([])
})

test('every command that the pages name is a script of the repository or one of pnpm', () => {
  const { scripts } = readJson('package.json') as Manifest & { scripts: Record<string, string> }
  const known = new Set([...Object.keys(scripts), 'exec', 'install'])
  const named = ['README.md', 'CONTRIBUTING.md', '.changeset/README.md', 'docs/architecture.md'].flatMap((page) =>
    [...read(page).matchAll(/(?:npx -y pnpm@12|`pnpm) ([a-z:-]+)/g)].map((match) => match[1] ?? ''),
  )
  expect(named.filter((name) => !known.has(name))).toEqual([])
})

test('the README names two commands of set-up, to start and to test', () => {
  expect([...read('README.md').matchAll(/^npx .*?(?= {2,}#|$)/gm)].map(([line]) => line)).toEqual([
    'npx -y pnpm@12 start',
    'npx -y pnpm@12 test',
  ])
})
