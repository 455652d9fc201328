import {
  type AppContext,
  commandNamed,
  type ExitCode,
  ExitError,
  exitCode,
  printOut,
  readHeaders,
  runApp,
  UsageError,
} from '@atenea/cli'
import { connectToServer, isUrl, serveFronts, socketPath } from '@atenea/fronts'
import { TransportError } from '@atenea/mcpcompat'
import { assemble } from './assemble.ts'
import { type CommandLine, commandLineFlags, helpText } from './command-line.ts'
import { readSettings } from './config/read-settings.ts'
import { socketFile } from './settings.ts'
import { version } from './version.ts'

const name = 'atenea-server'

type Command = (commandLine: CommandLine, words: readonly string[], context: AppContext) => Promise<ExitCode>

const commands: Readonly<Record<string, Command>> = {
  serve: async (commandLine, words, context) => {
    if (commandLine.values['header-file'] !== undefined) throw forStatusOnly()
    if (words.length > 0) throw new UsageError(`${JSON.stringify(words[0])} is no option; flags begin with --`)
    const settings = await readSettings(commandLine, context.environment)
    const logger = context.log(settings.logLevel, settings.logFormat)
    const { redactor } = context
    return await serveFronts(assemble(settings, logger), { settings, program: name, context, logger, redactor })
  },
  status: async (commandLine, words, context) => {
    const path = onlySocket('status', commandLine, words, context)
    const file = commandLine.values['header-file']
    if (file !== undefined && !isUrl(path)) throw forStatusOnly()
    const headers = readHeaders([], file, context.redactor)
    const { serverStatus } = await import('./status.ts')
    try {
      printOut(await serverStatus(path, headers, context.shutdown))
      return exitCode.ok
    } catch (error) {
      if (TransportError.is(error)) throw new ExitError(exitCode.unreachable, error.message, { cause: error })
      throw error
    }
  },
  connect: async (commandLine, words, context) => {
    const path = onlySocket('connect', commandLine, words, context)
    if (commandLine.values['header-file'] !== undefined) throw forStatusOnly()
    if (isUrl(path)) throw new UsageError('connect takes the path of a socket; a client that speaks HTTP needs no help')
    return await connectToServer(path, { program: name, shutdown: context.shutdown })
  },
}

function forStatusOnly(): UsageError {
  return new UsageError('--header-file is for status URL')
}

/** The socket, or the URL, that a command is about, named by a word or by the flag. */
function onlySocket(
  command: string,
  { values }: CommandLine,
  words: readonly string[],
  { environment }: AppContext,
): string {
  const [path = 'default', ...more] = [...words, ...(values.socket ?? [])]
  if (more.length > 0) throw new UsageError(`${command} takes one socket path`)
  return isUrl(path) ? path : socketPath(path, environment, socketFile)
}

void runApp({
  name,
  version,
  flags: commandLineFlags,
  help: helpText,
  args: process.argv.slice(2),
  run: async (commandLine, context) => {
    const [command = 'serve', ...words] = commandLine.positionals
    return await commandNamed(commands, command)(commandLine, words, context)
  },
})
