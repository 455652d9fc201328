import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { resolveWindowsCommand } from './windows-command.ts'

const env = {
  Path: 'C:\\Windows;"C:\\Program Files\\nodejs"',
  PATHEXT: '.COM;.EXE;.BAT;.CMD',
  ComSpec: 'C:\\Windows\\cmd.exe',
}
const files = new Set([
  'C:\\Program Files\\nodejs\\node.exe',
  'C:\\Program Files\\nodejs\\npx',
  'C:\\Program Files\\nodejs\\npx.cmd',
  'C:\\work\\tool.bat',
])

function resolve(command: string, args: readonly string[] = []): ReturnType<typeof resolveWindowsCommand> {
  return resolveWindowsCommand({ command, args, env, cwd: 'C:\\work', isFile: (path) => files.has(path) })
}

describe('D17: finding what Windows would run', () => {
  test.each([
    ['by PATH and PATHEXT', 'node', 'C:\\Program Files\\nodejs\\node.exe'],
    ['with its extension in any case', 'NODE.exe', undefined],
    ['not in the current directory', 'tool', undefined],
    ['by a path', 'C:\\Program Files\\nodejs\\node', 'C:\\Program Files\\nodejs\\node.exe'],
    ['not at all', 'none', undefined],
  ])('%s', (_, command, found) => {
    expect(resolve(command, ['a b'])).toEqual({ file: found ?? command, args: ['a b'], verbatim: false })
  })

  test.each([
    ['npx', 'C:\\Program Files\\nodejs\\npx.cmd'],
    ['npx.cmd', 'C:\\Program Files\\nodejs\\npx.cmd'],
    ['.\\tool', 'C:\\work\\tool.bat'],
  ])('%s is a batch file, which cmd.exe runs', (command, found) => {
    expect(resolve(command)).toEqual({
      file: 'C:\\Windows\\cmd.exe',
      args: ['/d', '/e:on', '/v:off', '/s', '/c', `""${found}""`],
      verbatim: true,
    })
  })
})

describe('D17: arguments of a batch file are text', () => {
  function lineOf(argument: string): string {
    const line = resolve('.\\tool', [argument]).args.at(-1) ?? ''
    return line.slice('""C:\\work\\tool.bat" '.length, -1)
  }

  test.each([
    ['a b & calc', '"a b & calc"'],
    ['', '""'],
    ['say "hi" | more', '"say ""hi"" | more"'],
    ['C:\\folder\\', '"C:\\folder\\\\"'],
    ['a\\"b', '"a\\\\""b"'],
    ['%PATH%', '"%%cd:~,%PATH%%cd:~,%"'],
    ['^!', '"^!"'],
  ])('%s', (argument, quoted) => {
    expect(lineOf(argument)).toBe(quoted)
  })

  test.each(['a\nb', 'a\rb', 'a\0b'])('%j is refused', (argument) => {
    expect(() => resolve('npx', [argument])).toThrow(TypeError)
  })

  test('whatever the argument, no character of it stands outside quotes, and the program reads it back', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('"', '\\', '%', '&', '|', '^', ' ', 'a', '>') }), (argument) => {
        const line = lineOf(argument)
        expect(outsideQuotes(line)).toBe('')
        expect(readByProgram(expandPercent(line))).toBe(argument)
      }),
    )
  })
})

/** What cmd.exe sees as code: it toggles at every quote and knows no backslash. */
function outsideQuotes(line: string): string {
  return line
    .split('"')
    .filter((_, index) => index % 2 === 0)
    .join('')
}

/** `%cd:~,%` is the empty substring of a variable that always exists. */
function expandPercent(line: string): string {
  return line.replaceAll('%cd:~,%', '')
}

/** One quoted argument as the C runtime reads it: 2n backslashes before a quote are n, a doubled quote inside quotes is one. */
function readByProgram(line: string): string {
  let text = ''
  for (let at = 1; at < line.length; ) {
    const slashes = /^\\*/.exec(line.slice(at))?.[0].length ?? 0
    at += slashes
    if (line[at] !== '"') {
      text += '\\'.repeat(slashes) + (line[at] ?? '')
      at += 1
      continue
    }
    text += '\\'.repeat(slashes / 2)
    if (line[at + 1] !== '"') break
    text += '"'
    at += 2
  }
  return text
}
