import { cacheDir, UsageError } from '@atenea/cli'
import { readFrontSettings, revisionPolicy } from '@atenea/fronts'
import { join, resolve } from 'node:path'
import { type BackendSetting, type Settings, socketFile } from '../settings.ts'
import { readFileBackends } from './file-backends.ts'
import { readLineBackend, type ReadLineOptions } from './line-backend.ts'
import { chainWith } from './own-chain.ts'
import { refuseOwnFronts } from './own-fronts.ts'
import { withRenames } from './renames.ts'

export interface ReadSettings {
  readonly settings: Settings
  /** What was not understood in the configuration and changes nothing. */
  readonly warnings: readonly string[]
}

/** Settings from the command line and the configuration that it names. Throws a `UsageError` that says what is wrong where. */
export async function readSettings(options: ReadLineOptions): Promise<ReadSettings> {
  const { commandLine, environment } = options
  const { values } = commandLine
  const file = fileOf(options)
  const { top, folder, warnings, backends } =
    file === undefined
      ? { top: {}, folder: '.', warnings: [], backends: [readLineBackend(options)] }
      : await readFileBackends(file, values, environment)
  const fronts = readFrontSettings(values, top, { folder, environment, socketFile })
  const lock = values.lock ?? top.lockFile
  const sealKeys = values['seal-key-file'] ?? top.sealKeyFile
  const settings: Settings = {
    ...fronts,
    policy: top.policy,
    backends: withRenames(backends, values.rename ?? []),
    separator: values.separator ?? top.separator,
    passExtensions: values['pass-extensions'] ?? top.passExtensions ?? false,
    bridgeInput: values['bridge-input'] ?? top.bridgeInput ?? false,
    answerMs: values['answer-ms'] ?? top.limits?.answerMs,
    maxAskingCalls: values['max-asking-calls'] ?? top.limits?.maxAskingCalls,
    unheardSessionMs: values['unheard-session-ms'] ?? top.limits?.unheardSessionMs,
    sealKeyFile:
      sealKeys === undefined ? undefined : resolve(values['seal-key-file'] === undefined ? folder : '.', sealKeys),
    lockFile: lock === undefined ? undefined : resolve(values.lock === undefined ? folder : '.', lock),
    verdictFile: verdictFile(values['verdict-file'], environment),
    configChain: file === undefined ? undefined : chainWith(file, environment),
  }
  for (const backend of settings.backends) refuseUnknownRevisions(backend)
  refuseOwnFronts(settings.backends, settings)
  return { settings, warnings }
}

function fileOf({ commandLine, command }: ReadLineOptions): string | undefined {
  const { values, positionals } = commandLine
  if (values.config === undefined) {
    if (values.server !== undefined)
      throw new UsageError('--server takes servers of a configuration: name it with --config')
    return undefined
  }
  if (command !== undefined || positionals.length > 0 || values['http-sse'] !== undefined) {
    throw new UsageError('--config names the servers; leave out the command or the URL, or the configuration')
  }
  return values.config
}

function verdictFile(given: string | undefined, environment: ReadLineOptions['environment']): string | undefined {
  if (given === 'none') return undefined
  if (given !== undefined) return resolve(given)
  try {
    return join(cacheDir(environment), 'verdicts.json')
  } catch {
    // A user without a home directory, as in a container: nothing depends on what could be remembered.
    return undefined
  }
}

function refuseUnknownRevisions({ name, legacyRevisions }: BackendSetting): void {
  if (legacyRevisions === undefined) return
  try {
    revisionPolicy({ protocol: 'both', legacyRevisions })
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`${name}: ${error.message}`, { cause: error })
    throw error
  }
}
