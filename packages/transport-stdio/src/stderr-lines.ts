export interface StderrLines {
  push(chunk: Buffer): void
  /** The unfinished last line counts too. */
  end(): void
  /** The last lines, oldest first. */
  readonly last: readonly string[]
}

const keptLines = 20
const keptCharacters = 500
/** A line that never ends is handed on in pieces of this many characters. */
const maxLineLength = 8 * 1024

/**
 * The log lines of a child. Unlike the protocol they are for people, so bytes that are not UTF-8 become U+FFFD instead of a fault, and
 * long lines are cut instead of refused.
 */
export function createStderrLines(onLine: (line: string) => void): StderrLines {
  const { StringDecoder } = process.getBuiltinModule('node:string_decoder')
  const decoder = new StringDecoder('utf8')
  const last: string[] = []
  let rest = ''

  function take(line: string): void {
    onLine(line)
    if (line.trim() === '') return
    last.push(line.length > keptCharacters ? `${line.slice(0, keptCharacters).toWellFormed()}…` : line)
    if (last.length > keptLines) last.shift()
  }

  function add(text: string): void {
    rest += text
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) take(line.endsWith('\r') ? line.slice(0, -1) : line)
    while (rest.length > maxLineLength) {
      take(rest.slice(0, maxLineLength).toWellFormed())
      rest = rest.slice(maxLineLength)
    }
  }

  return {
    push: (chunk) => add(decoder.write(chunk)),
    end() {
      add(decoder.end())
      if (rest !== '') take(rest)
      rest = ''
    },
    last,
  }
}
