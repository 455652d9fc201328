import { isTestFile, type Member } from '../test/_util/workspace.ts'

/**
 * The published members that a change reaches and that no changeset names. A change of a package reaches those that
 * bundle it too. An empty changeset says on purpose that no user can notice.
 */
export function untoldMembers(
  members: readonly Member[],
  changed: readonly string[],
  changesets: readonly string[],
): string[] {
  const told = changesets.map(namesOf)
  if (told.some((names) => names.length === 0)) return []
  const named = new Set(told.flat())
  const touched = new Set(
    members
      .filter(({ folder }) => changed.some((path) => reachesUsers(path, folder)))
      .map(({ manifest }) => manifest.name),
  )
  return members
    .filter(({ manifest }) => manifest.private !== true && !named.has(manifest.name))
    .filter(
      (member) => touched.has(member.manifest.name) || bundledInto(member, members).some((name) => touched.has(name)),
    )
    .map(({ manifest }) => manifest.name)
}

function reachesUsers(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`) && !isTestFile(path) && !path.endsWith('CHANGELOG.md')
}

/** What a member builds into its own files: the siblings among its devDependencies, and theirs. */
function bundledInto({ manifest }: Member, members: readonly Member[]): string[] {
  const names = new Set(members.map((member) => member.manifest.name))
  const direct = Object.keys(manifest.devDependencies ?? {}).filter((name) => names.has(name))
  return direct.flatMap((name) => [
    name,
    ...Object.keys(members.find((member) => member.manifest.name === name)?.manifest.dependencies ?? {}),
  ])
}

/** The packages in the front matter of a changeset. */
function namesOf(changeset: string): string[] {
  const header = /^---\n([\s\S]*?)\n?---(?:\n|$)/.exec(changeset)?.[1] ?? ''
  return [...header.matchAll(/^\s*["']?([^"':\s]+)["']?\s*:/gm)].map((match) => match[1] ?? '')
}
