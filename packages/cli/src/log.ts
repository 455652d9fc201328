import { printErr } from './print-err.ts'
import { escaped, printable } from './printable.ts'
import type { Redactor } from './redact.ts'

export const logLevels = ['silent', 'error', 'warning', 'info', 'debug'] as const
/** How much is logged: what the level names and everything more severe. */
export type LogThreshold = (typeof logLevels)[number]
export type LogSeverity = Exclude<LogThreshold, 'silent'>

export const logFormats = ['text', 'json'] as const
export type LogFormat = (typeof logFormats)[number]

/** Details of a log line. Values are redacted like the message; those under a secret name are not shown at all. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>

/** Writes to stderr, one line a record. It never throws: a full disk or a closed pipe must not end the program. */
export interface Logger {
  log(severity: LogSeverity, message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  warning(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  debug(message: string, fields?: LogFields): void
  /** Whether a record of this severity would be written: ask before making one is costly. */
  isOn(severity: LogSeverity): boolean
}

export interface CreateLoggerOptions {
  readonly name: string
  readonly threshold: LogThreshold
  readonly format: LogFormat
  readonly redactor: Redactor
  /** Whether the text format may use colours; asked once, at the first line. See `mayUseColour`. */
  readonly colour?: () => boolean
  /** Takes one line with its line feed. stderr when absent. */
  readonly write?: (line: string) => void
  readonly now?: () => Date
}

const severities: readonly LogThreshold[] = logLevels
const colours: Readonly<Record<LogSeverity, number>> = { error: 31, warning: 33, info: 36, debug: 90 }

export function createLogger(options: CreateLoggerOptions): Logger {
  const { name, threshold, format, redactor, colour = () => false, write = printErr, now = () => new Date() } = options
  const limit = severities.indexOf(threshold)
  let coloured: boolean | undefined
  const clean = (fields: LogFields): [string, string | number | boolean][] =>
    Object.entries(fields).flatMap(([key, value]) => {
      if (value === undefined) return []
      if (redactor.isSecretName(key)) return [[key, '[redacted]']]
      return [[key, typeof value === 'string' ? redactor.redact(value) : value]]
    })
  const isOn = (severity: LogSeverity): boolean => severities.indexOf(severity) <= limit
  const log = (severity: LogSeverity, text: string, fields: LogFields = {}): void => {
    if (!isOn(severity)) return
    const message = redactor.redact(text)
    const time = now().toISOString()
    if (format === 'json') {
      write(`${JSON.stringify({ time, level: severity, name, message, ...Object.fromEntries(clean(fields)) })}\n`)
      return
    }
    coloured ??= colour()
    const label = coloured ? `\u001b[${colours[severity]}m${severity}\u001b[0m` : severity
    const details = clean(fields).map(
      ([key, value]) => ` ${key}=${typeof value === 'string' ? quoteIfNeeded(value) : value}`,
    )
    write(`${time} ${name} ${label}: ${printable(message)}${details.join('')}\n`)
  }
  return {
    log,
    isOn,
    error: (message, fields) => log('error', message, fields),
    warning: (message, fields) => log('warning', message, fields),
    info: (message, fields) => log('info', message, fields),
    debug: (message, fields) => log('debug', message, fields),
  }
}

/** Whether colours are welcome on stderr, or on another descriptor: it is a terminal, and `NO_COLOR` is not set (https://no-color.org). */
export function mayUseColour(environment: Readonly<Record<string, string | undefined>>, descriptor = 2): boolean {
  if ((environment['NO_COLOR'] ?? '') !== '' || environment['TERM'] === 'dumb') return false
  return isTerminal(descriptor)
}

/** Whether a file descriptor is a terminal. What cannot be one is told without loading the module for terminals, which is slow. */
export function isTerminal(descriptor: number): boolean {
  try {
    if (!process.getBuiltinModule('node:fs').fstatSync(descriptor).isCharacterDevice()) return false
  } catch {
    return false // it is closed
  }
  return process.getBuiltinModule('node:tty').isatty(descriptor)
}

function quoteIfNeeded(text: string): string {
  return /^[\w./:@%+,-]+$/.test(text)
    ? text
    : JSON.stringify(text).replace(/[\p{Zl}\p{Zp}\u007f-\u009f\u202a-\u202e\u2066-\u2069]/gu, escaped)
}
