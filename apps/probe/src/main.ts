import { exitCode, runApp } from '@atenea/cli'
import { commandLineFlags, helpText } from './command-line.ts'
import { Program } from './program.ts'
import { readSettings } from './settings.ts'
import { version } from './version.ts'

const words = process.argv.slice(2)
// Words after it belong to the command that is probed, whatever they look like.
const cut = words.indexOf('--')
const command = cut < 0 ? undefined : words.slice(cut + 1)

void runApp({
  name: 'atenea-probe',
  version,
  flags: commandLineFlags,
  help: helpText,
  args: cut < 0 ? words : words.slice(0, cut),
  run: async (commandLine, context) => {
    const { positionals } = commandLine
    const program = new Program(readSettings(commandLine, context.redactor), context)
    try {
      return positionals[0] === 'diff'
        ? await program.diff(positionals.slice(1), command)
        : await program.probe(positionals, command)
    } catch (error) {
      // Asked to end: nothing is left running by now, and half a report would tell half of the truth.
      const { shutdown } = context
      if (shutdown.aborted && error === shutdown.reason) return exitCode.interrupted
      throw error
    }
  },
})
