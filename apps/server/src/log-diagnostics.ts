import { describe, type Logger } from '@atenea/cli'
import type { OnDiagnostic } from '@atenea/mcpcompat'

/** Writes what the libraries report to the log, with causes where details are wanted. */
export function logDiagnostics(logger: Logger): OnDiagnostic {
  return ({ level, code, message, cause }) => {
    logger.log(level, message, { code })
    if (cause !== undefined && logger.isOn('debug')) logger.debug(`${code}: ${describe(cause)}`)
  }
}
