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

test('no tracked file names a folder of the machine that it was written on', (context) => {
  const files = trackedTexts(context)
  const folder = rootDir.slice(0, -1)
  const homes = /(?<![\w.$}-])\/(?:home|Users|root|work)\/[\w.-]+\//
  expect([
    ...linesLike(files, homes),
    ...files.filter(({ text }) => text.includes(folder)).map(({ path }) => path),
  ]).toEqual([])
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
