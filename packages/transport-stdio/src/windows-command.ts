import type { Environment } from './child-env.ts'

/** What to hand to `child_process.spawn`. */
export interface SpawnTarget {
  readonly file: string
  readonly args: readonly string[]
  /** `args` are one command line that must not be quoted again. Windows only. */
  readonly verbatim: boolean
}

export interface WindowsCommandOptions {
  readonly command: string
  readonly args: readonly string[]
  /** The environment of the child: its `PATH` and `PATHEXT` count. */
  readonly env: Environment
  /** Where a command with a relative path starts from. */
  readonly cwd: string
  readonly isFile: (path: string) => boolean
}

/**
 * Finds what Windows would run for a command, and how to pass arguments to it without giving a shell a say in them.
 *
 * `CreateProcess` knows no `PATHEXT`, so `npx` has to be looked up as `npx.cmd`. Batch files can only be run by `cmd.exe`, which reads
 * the command line as a program: for them, and only for them, the arguments are quoted so that it takes all of it as text. The current
 * directory is not searched. A command that is not found is returned as it is, so that the failure names it.
 */
export function resolveWindowsCommand(options: WindowsCommandOptions): SpawnTarget {
  const file = findFile(options)
  if (file === undefined || !/\.(?:cmd|bat)$/i.test(file)) {
    return { file: file ?? options.command, args: options.args, verbatim: false }
  }
  const line = [file, ...options.args].map(quoteForBatch).join(' ')
  // /d: no AutoRun commands. /e:on: the percent escape needs extensions. /v:off: `!` is text. /s: only the outer quotes are taken off.
  return {
    file: variable(options.env, 'COMSPEC') ?? 'cmd.exe',
    args: ['/d', '/e:on', '/v:off', '/s', '/c', `"${line}"`],
    verbatim: true,
  }
}

function findFile({ command, env, cwd, isFile }: WindowsCommandOptions): string | undefined {
  const { win32 } = process.getBuiltinModule('node:path')
  const extensions = (variable(env, 'PATHEXT') ?? '.COM;.EXE;.BAT;.CMD')
    .split(';')
    .filter((extension) => extension !== '')
  const hasExtension = extensions.some((extension) => command.toLowerCase().endsWith(extension.toLowerCase()))
  const names = [
    ...(hasExtension ? [command] : []),
    ...extensions.map((extension) => command + extension.toLowerCase()),
  ]
  const folders = /[\\/:]/.test(command)
    ? [cwd]
    : (variable(env, 'PATH') ?? '')
        .split(';')
        .filter((folder) => folder !== '')
        .map((folder) => folder.replaceAll('"', ''))
  for (const folder of folders) {
    for (const name of names) {
      const path = win32.resolve(folder, name)
      if (isFile(path)) return path
    }
  }
  return undefined
}

function variable(env: Environment, name: string): string | undefined {
  return Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1]
}

/**
 * One argument of a batch file. Everything stands in double quotes, where `&|<>^()` are text, and stays there when the batch file
 * passes `%*` on to a second parse. Quotes are doubled, which keeps their number even. `%` is followed by an expansion that is
 * empty, so that no variable name can come together. Backslashes before a quote are doubled for the program that the batch file starts.
 */
function quoteForBatch(argument: string): string {
  if (/[\0\r\n]/.test(argument)) {
    throw new TypeError('an argument of a .cmd or .bat file cannot hold a line break; start its program directly')
  }
  return `"${argument.replaceAll(/(\\*)("|$)/g, '$1$1$2$2').replaceAll('%', '%%cd:~,%')}"`
}
