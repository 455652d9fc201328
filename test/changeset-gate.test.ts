import { expect, test } from 'vitest'
import { untoldMembers } from '../scripts/untold-members.ts'
import { workspaceMembers } from './_util/workspace.ts'

const members = workspaceMembers()
const note = (...names: string[]): string => `---\n${names.map((name) => `"${name}": patch\n`).join('')}---\n\nWhy.\n`

test.each([
  [
    'a source of a package',
    ['packages/transport-stdio/src/spawn.ts'],
    [],
    ['@atenea/probe', '@atenea/proxy', 'atenea-server', '@atenea/transport-stdio'],
  ],
  [
    'a source that a changeset of another package leaves out',
    ['packages/core/src/core.ts'],
    [note('atenea-server')],
    ['@atenea/core'],
  ],
  [
    'a private package that an app bundles',
    ['packages/cli/src/flags.ts'],
    [],
    ['@atenea/probe', '@atenea/proxy', 'atenea-server'],
  ],
  ['an app', ['apps/server/bin/atenea-server.js'], [], ['atenea-server']],
  ['tests and the files of the repository', ['packages/core/src/core.test.ts', 'README.md', 'test/x.test.ts'], [], []],
  ['a release', ['packages/core/CHANGELOG.md'], [], []],
  ['a source with a changeset', ['packages/core/src/core.ts'], [note('@atenea/core', 'atenea-server')], []],
  ['a source with an empty changeset', ['packages/core/src/core.ts'], ['---\n---\n'], []],
])('the gate for %s', (_what, changed, changesets, untold) => {
  expect(untoldMembers(members, changed, changesets)).toEqual(untold)
})

test('a change of mcpcompat reaches what bundles it, and not what depends on it', () => {
  expect(untoldMembers(members, ['packages/mcpcompat/src/meta.ts'], [])).toEqual([
    '@atenea/probe',
    '@atenea/proxy',
    'atenea-server',
    '@atenea/mcpcompat',
  ])
})
