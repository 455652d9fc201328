import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, type TestContext } from 'vitest'
import { rootDir } from './_util/workspace.ts'

/** Files of the specification, which are kept as they are; their examples show folders of users. */
const foreign = 'packages/testkit/fixtures/spec/'

/** Text files under version control, or a skip where there is no repository. */
function trackedTexts(context: TestContext): { path: string; text: string }[] {
  context.skip(!existsSync(join(rootDir, '.git')), 'needs git')
  return execFileSync('git', ['ls-files', '-z'], { cwd: rootDir, encoding: 'utf8' })
    .split('\0')
    .filter((path) => path !== '' && !path.startsWith(foreign) && existsSync(join(rootDir, path)))
    .map((path) => ({ path, text: readFileSync(join(rootDir, path), 'utf8') }))
    .filter(({ text }) => !text.includes('\0'))
}

function linesLike(files: readonly { path: string; text: string }[], pattern: RegExp): string[] {
  return files.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
  )
}

/**
 * A path that can only mean this folder. One as short as /tmp/x may stand in a test for any folder, so that a clone there would find fault with
 * what is right; the places where people keep theirs are looked for by themselves.
 */
function folderPattern(folder: string): RegExp | undefined {
  if (folder.split(/[\\/]/).length <= 3) return undefined
  return new RegExp(`(?<![\\w.-])${folder.replace(/[^\w/-]/g, String.raw`\$&`)}(?![\\w-])`)
}

test.each([
  ['/tmp/x', '/tmp/x/y', false],
  ['/tmp/a/b', 'cd /tmp/a/b/c', true],
  ['/tmp/a/b', '"/tmp/a/b"', true],
  ['/tmp/a/b', '/tmp/a/bc', false],
  ['/tmp/a.b/c', '/tmp/a-b/c', false],
  ['C:\\a\\b\\c', 'C:\\a\\b\\c\\d', true],
])('whether a clone at %s is named by %j', (folder, text, isNamed) => {
  expect(folderPattern(folder)?.test(text) ?? false).toBe(isNamed)
})

test('no tracked file names a folder of the machine that it was written on', (context) => {
  const files = trackedTexts(context)
  const homes = /(?<![\w.$}-])\/(?:home|Users|root|work)\/[\w.-]+\//
  const own = folderPattern(rootDir.slice(0, -1))
  expect([...linesLike(files, homes), ...(own === undefined ? [] : linesLike(files, own))]).toEqual([])
})

test('no tracked file names the host of a package registry', (context) => {
  expect(
    linesLike(
      trackedTexts(context),
      /registry(?:\.[a-z0-9-]+)*\.(?:com|dev|io|net|org)\b|npmjs\.[a-z]+|deb\.debian\.[a-z]+/i,
    ),
  ).toEqual([])
})

test('no tracked file is a leftover of a merge', (context) => {
  expect(linesLike(trackedTexts(context), /^(?:<{7}|>{7}) /)).toEqual([])
})
