import { type ExitCode, exitCode } from './exit-codes.ts'

/** Ends the program with a message for the person who started it, and no stack. The message says what to do next. */
export class ExitError extends Error {
  override readonly name: string = 'ExitError'
  readonly exitCode: ExitCode

  constructor(code: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.exitCode = code
  }
}

/** A command line or a configuration that cannot be understood. */
export class UsageError extends ExitError {
  override readonly name = 'UsageError'

  constructor(message: string, options?: ErrorOptions) {
    super(exitCode.usage, message, options)
  }
}
