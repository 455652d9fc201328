import { readTextFile, UsageError } from '@atenea/cli'
import type { SealKey } from '@atenea/mcpcompat'

/**
 * Reads keys of a seal: one a line, a name and 32 bytes in base64 (as `openssl rand -base64 32` writes them). Empty lines and those that begin with
 * `#` say nothing. Throws a `UsageError` that tells the place and never the key.
 */
export function readSealKeys(file: string): readonly SealKey[] {
  const keys = readTextFile(file, 'seal keys')
    .split('\n')
    .flatMap((line, index) => {
      const words = line.trim()
      return words === '' || words.startsWith('#') ? [] : [readKey(words, `line ${index + 1} of ${file}`)]
    })
  if (keys.length === 0) throw new UsageError(`${file} holds no key`)
  if (new Set(keys.map(({ id }) => id)).size < keys.length) throw new UsageError(`${file} holds two keys of one name`)
  return keys
}

function readKey(words: string, place: string): SealKey {
  const [, id, encoded] = /^([\w-]{1,32})\s+([\w+/-]+=*)$/.exec(words) ?? []
  const bytes = encoded === undefined ? undefined : new Uint8Array(Buffer.from(encoded, 'base64'))
  if (id !== undefined && bytes?.length === 32) return { id, bytes }
  throw new UsageError(`${place} must be a name and 32 bytes in base64, as openssl rand -base64 32 writes them`)
}
