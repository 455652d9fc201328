/** `pnpm changeset:gate BASE`: fails when a change since BASE reaches users and no changeset tells them. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { rootDir, workspaceMembers } from '../test/_util/workspace.ts'
import { untoldMembers } from './untold-members.ts'

const base = process.argv[2]
if (base === undefined) throw new Error('usage: pnpm changeset:gate BASE')
const diff = execFileSync('git', ['diff', '--name-only', `${base}...HEAD`], { cwd: rootDir, encoding: 'utf8' })
const changed = diff.split('\n').filter((path) => path !== '')
const changesets = changed
  .filter((path) => /^\.changeset\/(?!README)[^/]+\.md$/.test(path) && existsSync(join(rootDir, path)))
  .map((path) => readFileSync(join(rootDir, path), 'utf8'))
const untold = untoldMembers(workspaceMembers(), changed, changesets)
for (const name of untold) console.log(`${name} changes, and no changeset of this branch names it`)
if (untold.length > 0) {
  console.log('Run `npx -y pnpm@12 changeset`, or `npx -y pnpm@12 changeset --empty` when no user can notice.')
  process.exitCode = 1
}
