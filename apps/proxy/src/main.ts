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
import { connectToServer, isUrl, logDiagnostics, serveFronts, socketPath } from '@atenea/fronts'
import { TransportError } from '@atenea/mcpcompat'
import { systemClock, within } from '@atenea/mcpcompat/transport'
import type { Readiness } from '@atenea/transport-http'
import { resolve } from 'node:path'
import { assemble } from './assemble.ts'
import { Children } from './backends/children.ts'
import { LazySignIns } from './auth/lazy-sign-ins.ts'
import { type CommandLine, commandLineFlags, helpText, splitWords } from './command-line.ts'
import { readSettings } from './config/read-settings.ts'
import { type Settings, socketFile } from './settings.ts'
import { reportStatus } from './status/report.ts'
import { withStatusLine } from './status/status-line.ts'
import { version } from './version.ts'

const name = 'atenea-proxy'

type Command = (commandLine: CommandLine, words: readonly string[], context: AppContext) => Promise<ExitCode>

/** What the command line and the configuration that it names say, with their logger. */
async function prepare(
  commandLine: CommandLine,
  context: AppContext,
): Promise<{ readonly settings: Settings; readonly logger: Logger }> {
  const { environment } = context
  const { settings, warnings } = await readSettings({ commandLine, command, environment })
  const logger = context.log(settings.logLevel, settings.logFormat)
  for (const warning of warnings) logger.warning(warning)
  return { settings, logger }
}

function signInsFor({ values }: CommandLine, { environment, redactor }: AppContext, logger: Logger): LazySignIns {
  return new LazySignIns({ environment, redactor, onDiagnostic: logDiagnostics(logger), config: values.config })
}

/** How long a look at servers that were out of reach may hold up a report, in milliseconds. */
const lookMs = 1_000

async function serve(commandLine: CommandLine, context: AppContext): Promise<ExitCode> {
  const { redactor } = context
  const { settings, logger } = await prepare(commandLine, context)
  using signIns = signInsFor(commandLine, context, logger)
  await using children = new Children()
  await using passthrough = assemble(settings, { logger, redactor, signIns, children })
  const report: Readiness = async () => {
    // Whoever keeps clients away while a server is out of reach would otherwise never hear that it is back.
    await within(passthrough.lookAgain({ signal: context.shutdown }), lookMs, systemClock)
    return reportStatus(
      passthrough.status(),
      (text) => redactor.redact(text),
      (server) => signIns.needed(server),
    )
  }
  return await serveFronts(passthrough, {
    settings,
    program: name,
    context,
    logger,
    redactor,
    readiness: report,
    // what is passed on keeps its bytes
    payload: 'text',
    onSocket: (connection) => withStatusLine(connection, report),
  })
}

/** Words that are no server. */
const commands: Readonly<Record<string, Command>> = {
  pin: async (commandLine, positionals, context) => {
    const { settings, logger } = await prepare({ ...commandLine, positionals }, context)
    const { lockFile = resolve('mcp.lock') } = settings
    using signIns = signInsFor(commandLine, context, logger)
    await using children = new Children()
    const { redactor } = context
    await using passthrough = assemble({ ...settings, lockFile: undefined }, { logger, redactor, signIns, children })
    const { pinTools } = await import('./pin.ts')
    printOut(await pinTools(passthrough, lockFile, context.shutdown))
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
