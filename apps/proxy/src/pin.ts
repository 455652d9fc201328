import { ExitError, exitCode, printable } from '@atenea/cli'
import { createCallerContext } from '@atenea/mcpcompat/transport'
import type { McpLock, Passthrough } from '@atenea/passthrough'
import { readLockFile, writeLockFile } from './lock-file.ts'

/**
 * Pins the definitions of all tools as they are now, and gives what changed as text for people. Throws an `ExitError` when a server could
 * not be asked; the pins of the others are written all the same.
 */
export async function pinTools(passthrough: Passthrough, file: string, shutdown: AbortSignal): Promise<string> {
  const before = readLockFile(file)
  const { lock, missing } = await passthrough.pin(before, createCallerContext({ signal: shutdown }))
  writeLockFile(file, lock)
  if (missing.length === 0) {
    const lines = [...lock.backends].flatMap(([name, { tools }]) => differences(name, before, tools))
    return [...lines, `pinned in ${file}`].map((line) => `${printable(line)}\n`).join('')
  }
  const { lastError } = passthrough.status().backends.find(({ name }) => missing.includes(name)) ?? {}
  const reason = lastError === undefined ? '' : `: ${lastError.message}`
  throw new ExitError(exitCode.unreachable, `not pinned, since it could not be asked: ${missing.join(', ')}${reason}`)
}

function differences(name: string, before: McpLock | undefined, now: ReadonlyMap<string, string>): readonly string[] {
  const old = before?.backends.get(name)?.tools ?? new Map<string, string>()
  const lines = [
    ...[...now].filter(([tool]) => !old.has(tool)).map(([tool]) => `+ ${name}: ${tool}`),
    ...[...now].filter(([tool, pin]) => old.has(tool) && old.get(tool) !== pin).map(([tool]) => `~ ${name}: ${tool}`),
    ...[...old.keys()].filter((tool) => !now.has(tool)).map((tool) => `- ${name}: ${tool}`),
  ]
  return lines.length === 0 ? [`= ${name}: ${now.size} tools as before`] : lines
}
