import {
  type CallContext,
  type LogLevel,
  type OnDiagnostic,
  type JsonValue,
  levelAdmits,
  notice,
} from '@atenea/mcpcompat'
import { RateLimit } from './rate-limit.ts'

/** How many progress notifications one call may send: some at once, then one each 50 ms (MC-PROG-07). The last is never dropped. */
export const progressRate = { burst: 20, perSecond: 20 } as const

/** How many log messages one call may send (MC-LOG-07). */
export const logRate = { burst: 100, perSecond: 50 } as const

/** Sends the progress of one call. */
export class ProgressReporter {
  readonly #context: CallContext
  readonly #report: OnDiagnostic
  readonly #limit = new RateLimit(progressRate)
  #last = -Infinity

  constructor(context: CallContext, report: OnDiagnostic) {
    this.#context = context
    this.#report = report
  }

  /**
   * Sends one step, when the caller asked for progress. Values must grow (MC-PROG-04): one that does not is left out and
   * reported. One that comes too fast is left out as well, unless it is the end (`progress` has reached `total`).
   */
  send(progress: number, total?: number, message?: string): void | Promise<void> {
    if (this.#context.progressToken === undefined) return
    if (!Number.isFinite(progress) || progress <= this.#last) {
      this.#report({
        level: 'warning',
        code: 'progress-not-growing',
        message: `Progress ${progress} was not sent, since it does not come after ${this.#last}.`,
      })
      return
    }
    const hasTotal = total !== undefined && Number.isFinite(total)
    if (!this.#limit.take() && !(hasTotal && progress >= total)) return
    this.#last = progress
    return this.#context.emit({
      method: notice.progress,
      params: { progress, ...(hasTotal && { total }), ...(typeof message === 'string' && { message }) },
    })
  }
}

/** Sends the log messages of one call. */
export class LogSender {
  readonly #context: CallContext
  readonly #limit = new RateLimit(logRate)

  constructor(context: CallContext) {
    this.#context = context
  }

  /** Sends a message, when the caller asked for its level (MC-LOG-02). One that comes too fast is left out. */
  send(level: LogLevel, data: JsonValue, logger?: string): void | Promise<void> {
    if (!levelAdmits(this.#context.logLevel, level) || !this.#limit.take()) return
    return this.#context.emit({
      method: notice.message,
      // `data` is required, and what has no JSON text of its own would be left out.
      params: { level, data: isWritable(data) ? data : null, ...(typeof logger === 'string' && { logger }) },
    })
  }
}

function isWritable(data: unknown): boolean {
  return data !== undefined && typeof data !== 'function' && typeof data !== 'symbol'
}
