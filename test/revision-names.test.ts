import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isTestFile, rootDir, sourceFiles, workspaceMembers } from './_util/workspace.ts'

/** The published revisions, joined from parts so that this file names none. */
const revisions = [
  ['2024', '11', '05'],
  ['2025', '03', '26'],
  ['2025', '06', '18'],
  ['2025', '11', '25'],
  ['2026', '07', '28'],
].map((parts) => parts.join('-'))

/** What may name a revision: mcpcompat, tests, and the requirement catalogue, which quotes the specification. */
function mayName(path: string): boolean {
  return path.startsWith('packages/mcpcompat/') || isTestFile(path) || path === 'packages/testkit/src/requirements.ts'
}

const sources = workspaceMembers().flatMap((member) => sourceFiles(member.folder))

test('revisions are named in mcpcompat only, in code and in comments', () => {
  const named = sources
    .filter((path) => !mayName(path))
    .flatMap((path) => {
      const lines = readFileSync(join(rootDir, path), 'utf8').split('\n')
      return lines.flatMap((line, index) =>
        revisions.some((revision) => line.includes(revision)) ? [`${path}:${index + 1}: ${line.trim()}`] : [],
      )
    })
  expect(named).toEqual([])
})

test('mcpcompat names all of them, so the search finds what it looks for', () => {
  const text = sources
    .filter((path) => path.startsWith('packages/mcpcompat/src/') && !isTestFile(path))
    .map((path) => readFileSync(join(rootDir, path), 'utf8'))
    .join('\n')
  expect(revisions.filter((revision) => !text.includes(revision))).toEqual([])
})
