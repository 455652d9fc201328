import {
  addEnvironmentSecrets,
  createLogger,
  createRedactor,
  type ExitCode,
  ExitError,
  exitCode,
  type LogFormat,
  type Logger,
  type LogThreshold,
  mayUseColour,
  parseFlags,
  printErr,
  printOut,
  type ProgramContext,
  renderHelp,
  runProgram,
  suggest,
  UsageError,
} from '@atenea/cli'
import { frontDefaults, isUrl, connectToServer, serveFronts, socketPath } from '@atenea/fronts'
import { TransportError } from '@atenea/mcpcompat'
import { assemble } from './assemble.ts'
import { type CommandLine, commandLineFlags, helpText } from './command-line.ts'
import { readSettings } from './config/read-settings.ts'
import { socketFile } from './settings.ts'
import { version } from './version.ts'

const name = 'atenea-server'
const environment = process.env
const redactor = createRedactor()
addEnvironmentSecrets(redactor, environment)

/** That of the settings, once they are known. */
let logger = loggerOf()

function loggerOf(
  threshold: LogThreshold = frontDefaults.logLevel,
  format: LogFormat = frontDefaults.logFormat,
): Logger {
  return createLogger({ name, threshold, format, redactor, colour: () => mayUseColour(environment) })
}

async function main(context: ProgramContext): Promise<ExitCode> {
  const commandLine = parseFlags(commandLineFlags, process.argv.slice(2))
  const { values, positionals } = commandLine
  if (values.help === true) {
    printOut(renderHelp(helpText))
    return exitCode.ok
  }
  if (values.version === true) {
    printOut(`${version}\n`)
    return exitCode.ok
  }
  const [command = 'serve', ...words] = positionals
  const action = Object.hasOwn(actions, command) ? actions[command] : undefined
  if (action === undefined) {
    const meant = suggest(command, Object.keys(actions))
    throw new UsageError(
      `unknown command ${JSON.stringify(command)}${meant === undefined ? '' : `; did you mean ${meant}?`}`,
    )
  }
  return await action(commandLine, words, context)
}

type Action = (commandLine: CommandLine, words: readonly string[], context: ProgramContext) => Promise<ExitCode>

const actions: Readonly<Record<string, Action>> = {
  serve: async (commandLine, words, context) => {
    if (words.length > 0) throw new UsageError(`${JSON.stringify(words[0])} is no option; flags begin with --`)
    const settings = await readSettings(commandLine, environment)
    logger = loggerOf(settings.logLevel, settings.logFormat)
    return await serveFronts(assemble(settings, logger), { settings, program: name, context, logger, redactor })
  },
  status: async (commandLine, words, { shutdown }) => {
    const path = onlySocket('status', commandLine, words)
    const { serverStatus } = await import('./status.ts')
    try {
      printOut(await serverStatus(path, shutdown))
      return exitCode.ok
    } catch (error) {
      if (TransportError.is(error)) throw new ExitError(exitCode.unreachable, error.message, { cause: error })
      throw error
    }
  },
  connect: async (commandLine, words, { shutdown }) => {
    const path = onlySocket('connect', commandLine, words)
    if (isUrl(path)) throw new UsageError('connect takes the path of a socket; a client that speaks HTTP needs no help')
    return await connectToServer(path, { program: name, shutdown })
  },
}

/** The socket, or the URL, that a command is about, named by a word or by the flag. */
function onlySocket(command: string, { values }: CommandLine, words: readonly string[]): string {
  const [path = 'default', ...more] = [...words, ...(values.socket ?? [])]
  if (more.length > 0) throw new UsageError(`${command} takes one socket path`)
  return isUrl(path) ? path : socketPath(path, environment, socketFile)
}

void runProgram({
  main,
  logger: { error: (message) => logger.error(message), info: (message, fields) => logger.info(message, fields) },
  tell: ({ message, exitCode: code }) => {
    const hint = code === exitCode.usage ? `\nSee ${name} --help.` : ''
    if (wantsJson(process.argv)) loggerOf('error', 'json').error(message)
    else printErr(redactor.redact(`${name}: ${message}${hint}\n`))
  },
})

/** Asked before the command line could be understood. */
function wantsJson(words: readonly string[]): boolean {
  return words.some(
    (word, index) => word === '--log-format=json' || (word === 'json' && words[index - 1] === '--log-format'),
  )
}
