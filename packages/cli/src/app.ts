import { UsageError, type ExitError } from './exit-error.ts'
import { exitCode, type ExitCode } from './exit-codes.ts'
import { type Flag, type Flags, type ParsedFlags, parseFlags } from './flags.ts'
import { type HelpText, renderHelp } from './help.ts'
import { createLogger, type LogFormat, type Logger, type LogThreshold, mayUseColour } from './log.ts'
import { printErr } from './print-err.ts'
import { printOut } from './print.ts'
import { type ProgramContext, runProgram } from './program.ts'
import { addEnvironmentSecrets, createRedactor, type Redactor } from './redact.ts'
import { suggest } from './suggest.ts'

/** What a binary works with. */
export interface AppContext extends ProgramContext {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Knows the secrets of the environment; whatever else is read has to be added. */
  readonly redactor: Redactor
  /** Sets how it is logged from now on, and gives the logger. */
  log(threshold: LogThreshold, format: LogFormat): Logger
}

/** Flags that every binary has. */
type AppFlags = Flags & { readonly help: Flag<true>; readonly version: Flag<true> }

export interface RunAppOptions<F extends AppFlags> {
  /** Name of the binary. */
  readonly name: string
  readonly version: string
  readonly flags: F
  readonly help: HelpText
  /** Words of the command line that are for `parseFlags`. */
  readonly args: readonly string[]
  /** Does the work. Not called for `--help` and `--version`. */
  readonly run: (commandLine: ParsedFlags<F>, context: AppContext) => Promise<ExitCode>
}

/**
 * Runs a binary from its command line to its exit: help, version, logs with secrets taken out, signals, and errors that are told on
 * stderr, as JSON where `--log-format json` stands.
 */
export async function runApp<const F extends AppFlags>(options: RunAppOptions<F>): Promise<void> {
  const { name, args, flags } = options
  const environment = process.env
  const redactor = createRedactor()
  addEnvironmentSecrets(redactor, environment)
  const loggerOf = (threshold: LogThreshold, format: LogFormat): Logger =>
    createLogger({ name, threshold, format, redactor, colour: () => mayUseColour(environment) })
  let logger = loggerOf('info', 'text')

  await runProgram({
    main: async (context) => {
      const commandLine = parseFlags(flags, args)
      const { help, version } = commandLine.values as { readonly help?: true; readonly version?: true }
      if (help === true) printOut(renderHelp(options.help))
      else if (version === true) printOut(`${options.version}\n`)
      else {
        return await options.run(commandLine, {
          ...context,
          environment,
          redactor,
          log: (threshold, format) => (logger = loggerOf(threshold, format)),
        })
      }
      return exitCode.ok
    },
    logger: {
      error: (message) => logger.error(message),
      info: (message, fields) => logger.info(message, fields),
    },
    tell: ({ message, exitCode: code }: ExitError) => {
      const hint = code === exitCode.usage ? `\nSee ${name} --help.` : ''
      if (wantsJson(args)) loggerOf('error', 'json').error(message)
      else printErr(redactor.redact(`${name}: ${message}${hint}\n`))
    },
  })
}

/** The entry of a table that a word of the command line names. Throws a `UsageError` with what was probably meant. */
export function commandNamed<T>(commands: Readonly<Record<string, T>>, word: string): T {
  const command = Object.hasOwn(commands, word) ? commands[word] : undefined
  if (command !== undefined) return command
  const meant = suggest(word, Object.keys(commands))
  throw new UsageError(
    `unknown command ${JSON.stringify(word)}${meant === undefined ? '' : `; did you mean ${meant}?`}`,
  )
}

/** Asked before the command line could be understood. */
function wantsJson(words: readonly string[]): boolean {
  return words.some(
    (word, index) => word === '--log-format=json' || (word === 'json' && words[index - 1] === '--log-format'),
  )
}
