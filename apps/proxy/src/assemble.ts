import { type Logger, type Redactor, UsageError } from '@atenea/cli'
import { createSeal, type Seal } from '@atenea/mcpcompat'
import { createPrincipalPolicy, logDiagnostics, revisionPolicy } from '@atenea/fronts'
import { type CreatePassthroughOptions, createPassthrough, type Passthrough } from '@atenea/passthrough'
import type { LazySignIns } from './auth/lazy-sign-ins.ts'
import type { Children } from './backends/children.ts'
import { createConnect, startTimeoutOf } from './backends/connect.ts'
import { createVerdictFile } from './backends/verdict-file.ts'
import { chainVariable } from './config/own-chain.ts'
import { readLockFile } from './lock-file.ts'
import { logEvents } from './log-events.ts'
import { readSealKeys } from './seal-keys.ts'
import { addBackendSecrets } from './secrets.ts'
import type { NameFilter, Settings } from './settings.ts'
import { version } from './version.ts'

export interface AssembleOptions {
  readonly logger: Logger
  readonly redactor: Redactor
  readonly signIns: LazySignIns
  /** Gets every process that is started. */
  readonly children: Children
  /** Whether commands are started at once, each for whoever needs it first. */
  readonly startsAtOnce: boolean
}

/** The proxy as a dispatcher: nothing is connected before somebody needs it, and nothing started but for `startsAtOnce`. */
export function assemble(
  settings: Settings,
  { logger, redactor, signIns, children, startsAtOnce }: AssembleOptions,
): Passthrough {
  const onDiagnostic = logDiagnostics(logger)
  const { backends, verdictFile, legacyRevisions, maxBodyBytes, shutdownTimeoutMs, logFormat, configChain } = settings
  for (const backend of backends) addBackendSecrets(backend, redactor)
  const around = {
    logger,
    logFormat,
    redactor,
    verdicts: verdictFile === undefined ? undefined : createVerdictFile({ file: verdictFile, onDiagnostic }),
    maxMessageBytes: maxBodyBytes,
    closeTimeoutMs: shutdownTimeoutMs,
    childEnv: configChain === undefined ? {} : { [chainVariable]: configChain },
    signIns,
    children,
    startsAtOnce,
    onDiagnostic,
  }
  return create({
    info: { name: 'atenea-proxy', title: 'Atenea: proxy', version },
    // Whatever clients may speak, a server is spoken to in its own era.
    policy: revisionPolicy({ protocol: 'both', legacyRevisions }),
    bridgeInput: settings.bridgeInput,
    parkedMs: settings.answerMs,
    seal: sealOf(settings),
    passExtensions: settings.passExtensions,
    names: { separator: settings.separator },
    lock: settings.lockFile === undefined ? undefined : existingLock(settings.lockFile),
    backends: backends.map((backend) => ({
      name: backend.name,
      mode: backend.mode,
      connect: createConnect(backend, around),
      allow: { tools: allowed(backend.tools) },
      roots: backend.roots,
      rename: { tools: new Map(Object.entries(backend.renames)) },
      connectTimeoutMs: startTimeoutOf(backend),
      callTimeoutMs: backend.callTimeoutMs,
      maxCallMs: backend.maxCallMs,
      maxAskingCalls: settings.maxAskingCalls,
      unheardSessionMs: settings.unheardSessionMs,
    })),
    // what a server offers at all is decided for each of them, so rules begin with everything
    grantsOf: settings.policy && createPrincipalPolicy({ tools: {}, prompts: {}, resources: {} }, settings.policy),
    onEvent: logEvents(logger),
    onDiagnostic,
  })
}

/** Names that cannot be told apart are a fault of the configuration. */
function create(options: CreatePassthroughOptions): Passthrough {
  try {
    return createPassthrough(options)
  } catch (cause) {
    if (cause instanceof TypeError) throw new UsageError(cause.message, { cause })
    throw cause
  }
}

/** State of a server may be long; a client that cannot carry it could not have carried the server's own either. */
function sealOf({ sealKeyFile }: Settings): Seal | undefined {
  if (sealKeyFile === undefined) return undefined
  return createSeal({ keys: readSealKeys(sealKeyFile), maxLength: 8 * 1_048_576 })
}

function existingLock(file: string): ReturnType<typeof readLockFile> {
  const lock = readLockFile(file)
  if (lock !== undefined) return lock
  throw new UsageError(
    `the lock ${file} is not there; make it with: atenea-proxy pin --lock ${file} and what names the servers`,
  )
}

function allowed({ enabled, disabled }: NameFilter): {
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
} {
  return { ...(enabled !== undefined && { allow: enabled }), ...(disabled !== undefined && { deny: disabled }) }
}
