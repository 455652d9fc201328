import { type ExitCode, exitCode } from './exit-codes.ts'
import { ExitError } from './exit-error.ts'
import type { Logger } from './log.ts'

export interface ProgramContext {
  /** Aborts on the first SIGINT, SIGTERM or SIGHUP: stop taking work, finish what was accepted, and return. */
  readonly shutdown: AbortSignal
}

export interface RunProgramOptions {
  /** Does the work. Its exit code is used unless a signal ended it. */
  readonly main: (context: ProgramContext) => Promise<ExitCode>
  readonly logger: Pick<Logger, 'error' | 'info'>
  /** Tells the user what an `ExitError` says; the log as an error when absent. */
  readonly tell?: (error: ExitError) => void
  /** Ends the process; replaced in tests. */
  readonly exit?: (code: number) => void
  /** Where signals and crashes are heard; replaced in tests. */
  readonly process?: Pick<NodeJS.Process, 'on' | 'off'>
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Runs a program from its start to its exit. The first signal asks it to end in order (after SIGINT the exit code is 130, after
 * the others that of `main`), a second one ends it at once. An `ExitError` is told without a stack; whatever else escapes is a
 * crash with exit code 1.
 */
export async function runProgram(options: RunProgramOptions): Promise<void> {
  const {
    main,
    logger,
    tell = (error: ExitError) => logger.error(error.message),
    // oxlint-disable-next-line unicorn/no-process-exit -- this is the one place that ends a binary
    exit = (code: number) => process.exit(code),
    process: host = process,
  } = options
  const shutdown = new AbortController()
  let received: (typeof signals)[number] | undefined
  const onSignal = (signal: (typeof signals)[number]): void => {
    if (received !== undefined) {
      logger.info('ended at once by a second signal', { signal })
      // The end waits for threads, one of which may be stuck in a file of a dead disk: then the system's own way is left.
      for (const name of signals) host.off(name, onSignal)
      exit(exitCode.interrupted)
      return
    }
    received = signal
    logger.info('ending in order; a second signal ends at once', { signal })
    shutdown.abort(new Error(`received ${signal}`))
  }
  const onCrash = (error: unknown): void => {
    logger.error(`crashed: ${describe(error)}`)
    exit(exitCode.failed)
  }
  for (const signal of signals) host.on(signal, onSignal)
  host.on('uncaughtException', onCrash)
  host.on('unhandledRejection', onCrash)
  let code: ExitCode
  try {
    code = await main({ shutdown: shutdown.signal })
  } catch (error) {
    if (error instanceof ExitError) {
      tell(error)
      code = error.exitCode
    } else {
      logger.error(`failed: ${describe(error)}`)
      code = exitCode.failed
    }
  }
  exit(received === 'SIGINT' ? exitCode.interrupted : code)
}

/** An error with its stack and causes, for a log. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const text = error.stack ?? `${error.name}: ${error.message}`
  return error.cause === undefined ? text : `${text}; caused by ${describe(error.cause)}`
}
