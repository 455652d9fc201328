import { describe, type Logger } from '@atenea/cli'
import type { OnDiagnostic } from '@atenea/mcpcompat'

/** Writes what the libraries report to the log: the message with what it was caused by, and stacks where details are wanted. */
export function logDiagnostics(logger: Logger): OnDiagnostic {
  return ({ level, code, message, cause }) => {
    const reason = cause instanceof Error && !message.includes(cause.message) ? ` ${cause.message}` : ''
    logger.log(level, `${message}${reason}`, { code })
    if (cause !== undefined && logger.isOn('debug')) logger.debug(`${code}: ${describe(cause)}`)
  }
}
