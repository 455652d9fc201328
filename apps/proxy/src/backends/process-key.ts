import { delimiter, join } from 'node:path'
import type { ServerTarget } from '@atenea/cli/config'
import type { InheritEnv } from '../settings.ts'

type Command = ServerTarget & { readonly kind: 'command' }

/**
 * What names a server that is started as a command, for what is remembered about it: the file that would run, and when that was changed, so
 * that another version is another server; its arguments, folder and environment.
 */
export function processKey({ command, args, env, cwd }: Command, inheritEnv: InheritEnv): string {
  const sorted = Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1))
  return `process ${JSON.stringify([executable(command, env['PATH'] ?? process.env['PATH']), args, cwd ?? process.cwd(), sorted, inheritEnv])}`
}

/** The file that a command stands for, as far as it can be told. */
function executable(command: string, path = ''): readonly (string | number)[] {
  const { realpathSync, statSync } = process.getBuiltinModule('node:fs')
  const candidates = command.includes('/') ? [command] : path.split(delimiter).map((folder) => join(folder, command))
  for (const candidate of candidates) {
    const found = statSync(candidate, { throwIfNoEntry: false })
    if (found?.isFile() === true) return [realpathSync(candidate), found.mtimeMs]
  }
  return [command]
}
