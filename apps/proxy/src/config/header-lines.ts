import { readTextFile, UsageError } from '@atenea/cli'

type Headers = Readonly<Record<string, string>>

/** Reads `K: V` lines of a command line or a file. Throws a `UsageError` that tells the place and never the value. */
export function readHeaders(lines: readonly string[], place: (index: number) => string): Headers {
  const headers = lines.map((line, index): readonly [string, string] => {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(colon, 0)).trim()
    const value = line.slice(colon + 1).trim()
    if (/^[!#$%&'*+.^_`|~\w-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]+$/.test(value)) return [name, value]
    throw new UsageError(`${place(index)} must be the name of a header, a colon and its value`)
  })
  return Object.fromEntries(headers)
}

/** Reads a file of headers: one a line; empty lines and those that begin with `#` say nothing. */
export function readHeaderFile(file: string): Headers {
  const lines = readTextFile(file, 'headers')
    .split('\n')
    .flatMap((raw, index) => {
      const line = raw.trim()
      return line === '' || line.startsWith('#') ? [] : [{ line, number: index + 1 }]
    })
  if (lines.length === 0) throw new UsageError(`${file} holds no header`)
  return readHeaders(
    lines.map(({ line }) => line),
    (index) => `line ${lines[index]?.number} of ${file}`,
  )
}
