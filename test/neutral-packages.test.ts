import { existsSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'
import { importsOf } from './_util/imports.ts'
import { type Manifest, readJson, rootDir } from './_util/workspace.ts'

/** Entries that run in any JavaScript engine, with the modules of others that loading them may load. */
const neutralEntries: readonly (readonly [entry: string, foreign: readonly string[]])[] = [
  ['packages/mcpcompat/src/index.ts', []],
  ['packages/mcpcompat/src/transport.ts', []],
  ['packages/mcpcompat/src/schemas.ts', ['zod']],
  ['packages/core/src/index.ts', ['@atenea/mcpcompat', '@atenea/mcpcompat/transport']],
  ['packages/passthrough/src/index.ts', ['@atenea/mcpcompat', '@atenea/mcpcompat/transport']],
  ['packages/transport-http/src/index.ts', ['@atenea/mcpcompat', '@atenea/mcpcompat/transport']],
]

/** Entries that are for Node but must start fast: nothing heavy is loaded before it is needed. */
const nodeEntries: readonly (readonly [entry: string, foreign: RegExp])[] = [
  [
    'packages/blobs/src/index.ts',
    /^(?:multiformats\/(?:cid|hashes\/digest)|node:(?!http|https|http2|net|tls|dns|test).*)$/,
  ],
  ['packages/core/src/sqlite.ts', /^(?:@atenea\/mcpcompat(?:\/transport)?|node:(?!http|https|http2|net|tls|test).*)$/],
  [
    'packages/transport-http/src/node.ts',
    /^(?:@atenea\/mcpcompat(?:\/transport)?|node:(?!http|https|http2|net|tls|test).*)$/,
  ],
  [
    'packages/transport-stdio/src/index.ts',
    /^(?:@atenea\/mcpcompat(?:\/transport)?|node:(?!http|https|http2|tls|test).*)$/,
  ],
]

/** The modules of other packages and of the runtime that are loaded with an entry, by following its static imports. */
function loadedWith(entry: string): Map<string, string> {
  const foreign = new Map<string, string>()
  const seen = new Set<string>()
  const visit = (file: string): void => {
    if (seen.has(file)) return
    seen.add(file)
    if (!existsSync(join(rootDir, file))) throw new Error(`${file} does not exist`)
    for (const { specifier, kind } of importsOf(file)) {
      if (kind !== 'static' || specifier === undefined) continue
      if (specifier.startsWith('.')) visit(normalize(join(dirname(file), specifier)))
      else foreign.set(specifier, file)
    }
  }
  visit(entry)
  return foreign
}

test.each(neutralEntries)('loading %s loads nothing of the runtime and no other package than %j', (entry, allowed) => {
  const others = [...loadedWith(entry)].filter(([specifier]) => !allowed.includes(specifier))
  expect(others).toEqual([])
})

test.each(nodeEntries)('loading %s loads nothing heavy', (entry, allowed) => {
  expect([...loadedWith(entry)].filter(([specifier]) => !allowed.test(specifier))).toEqual([])
})

test.each(['packages/mcpcompat', 'packages/core', 'packages/transport-http'])(
  '%s compiles its neutral sources without the types of Node',
  (folder) => {
    const { compilerOptions } = readJson(`${folder}/tsconfig.json`) as { compilerOptions: { types?: string[] } }
    expect(compilerOptions.types ?? []).toEqual([])
  },
)

test('mcpcompat depends on nothing but zod, which only its schemas load', () => {
  const manifest = readJson('packages/mcpcompat/package.json') as Manifest
  expect(Object.keys(manifest.dependencies ?? {})).toEqual(['zod'])
})
