import {
  type AppContext,
  type ExitCode,
  ExitError,
  exitCode,
  type Logger,
  printOut,
  runApp,
  UsageError,
} from '@atenea/cli'
import { connectToServer, isUrl, serveFronts, socketPath } from '@atenea/fronts'
import { TransportError } from '@atenea/mcpcompat'
import { resolve } from 'node:path'
import { type CommandLine, commandLineFlags, helpText, splitWords } from './command-line.ts'
import { readSettings } from './config/read-settings.ts'
import { type OpenProxy, openProxy } from './open-proxy.ts'
import { type Settings, socketFile } from './settings.ts'
import { withStatusLine } from './status/status-line.ts'
import { version } from './version.ts'

const name = 'atenea-proxy'

type Command = (commandLine: CommandLine, words: readonly string[], context: AppContext) => Promise<ExitCode>

/** The proxy that the command line and the configuration that it names describe. */
async function prepare(
  commandLine: CommandLine,
  context: AppContext,
): Promise<{ readonly settings: Settings; readonly logger: Logger; readonly open: (settings: Settings) => OpenProxy }> {
  const { settings, warnings } = await readSettings({ commandLine, command, environment: context.environment })
  const logger = context.log(settings.logLevel, settings.logFormat)
  for (const warning of warnings) logger.warning(warning)
  const configFile = commandLine.values.config
  return { settings, logger, open: (as) => openProxy({ settings: as, logger, context, configFile }) }
}

/**
 * Each session holds a connection of every legacy server, which are kept for 256 clients (`maxSessions` of passthrough). Clients that vanish without
 * a word would take all of those, so their sessions make room before that.
 */
const maxHttpSessions = 200

async function serve(commandLine: CommandLine, context: AppContext): Promise<ExitCode> {
  const { settings, logger, open } = await prepare(commandLine, context)
  await using proxy = open(settings)
  return await serveFronts(proxy.passthrough, {
    settings,
    program: name,
    context,
    logger,
    redactor: context.redactor,
    readiness: proxy.report,
    // what is passed on keeps its bytes
    payload: 'text',
    maxHttpSessions,
    onSocket: (connection) => withStatusLine(connection, proxy.report),
  })
}

/** Words that are no server. */
const commands: Readonly<Record<string, Command>> = {
  pin: async (commandLine, positionals, context) => {
    const { settings, open } = await prepare({ ...commandLine, positionals }, context)
    // what is held back could not be pinned anew
    await using proxy = open({ ...settings, lockFile: undefined })
    const { pinTools } = await import('./pin.ts')
    printOut(await pinTools(proxy.passthrough, settings.lockFile ?? resolve('mcp.lock'), context.shutdown))
    return exitCode.ok
  },
  status: async (commandLine, words, context) => {
    const path = onlySocket('status', commandLine, words, context)
    const { askStatus, statusText } = await import('./status/status.ts')
    try {
      const status = await askStatus(path, context.shutdown)
      const isJson = commandLine.values['log-format'] === 'json'
      printOut(isJson ? `${JSON.stringify(status.report)}\n` : statusText(path, status))
      return status.ready ? exitCode.ok : exitCode.failed
    } catch (error) {
      if (TransportError.is(error)) throw new ExitError(exitCode.unreachable, error.message, { cause: error })
      throw error
    }
  },
  login: async (...args) => await (await import('./auth/commands.ts')).login(...args),
  logout: async (...args) => await (await import('./auth/commands.ts')).logout(...args),
  accounts: async (...args) => await (await import('./auth/commands.ts')).accounts(...args),
  connect: async (commandLine, words, context) => {
    const path = onlySocket('connect', commandLine, words, context)
    if (isUrl(path)) throw new UsageError('connect takes the path of a socket; for a URL leave out the word connect')
    return await connectToServer(path, { program: name, shutdown: context.shutdown })
  },
}

const { own, command } = splitWords(process.argv.slice(2), Object.keys(commands))

/** The socket, or the URL, that a command is about, named by a word or by the flag. */
function onlySocket(
  word: string,
  { values }: CommandLine,
  words: readonly string[],
  { environment }: AppContext,
): string {
  const [path = 'default', ...more] = [...words, ...(values.socket ?? [])]
  if (more.length > 0 || command !== undefined) throw new UsageError(`${word} takes one socket path`)
  return isUrl(path) ? path : socketPath(path, environment, socketFile)
}

void runApp({
  name,
  version,
  flags: commandLineFlags,
  help: helpText,
  args: own,
  run: async (commandLine, context) => {
    const [first = '', ...words] = commandLine.positionals
    const action = Object.hasOwn(commands, first) ? commands[first] : undefined
    return action === undefined ? await serve(commandLine, context) : await action(commandLine, words, context)
  },
})
