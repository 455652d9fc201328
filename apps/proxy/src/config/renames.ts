import { UsageError } from '@atenea/cli'
import type { BackendSetting } from '../settings.ts'

/**
 * Adds the names that flags give to tools: `OLD=NEW`, where OLD is the name of a tool, with the server before it where there are several.
 * Throws a `UsageError` for what is no such pair.
 */
export function withRenames(
  backends: readonly BackendSetting[],
  renames: readonly string[],
): readonly BackendSetting[] {
  const [only] = backends
  const added = new Map<string, Record<string, string>>()
  for (const rename of renames) {
    const match = /^(?:([^=:]+):)?([^=]+)=(.+)$/.exec(rename)
    const server = match?.[1] ?? (backends.length === 1 ? only?.name : undefined)
    if (match === null || server === undefined) {
      throw new UsageError(
        `--rename must be OLD=NEW, with the server before it where there are several (server:OLD=NEW), not ${JSON.stringify(rename)}`,
      )
    }
    if (!backends.some(({ name }) => name === server))
      throw new UsageError(`--rename names no server ${JSON.stringify(server)}`)
    added.set(server, { ...added.get(server), [match[2] ?? '']: match[3] ?? '' })
  }
  return backends.map((backend) => ({ ...backend, renames: { ...backend.renames, ...added.get(backend.name) } }))
}
