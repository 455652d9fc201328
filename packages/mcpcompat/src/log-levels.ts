import type { LogLevel } from './contract/context.ts'

/** The eight log levels, lowest first (MC-LOG-03). */
export const logLevels: readonly LogLevel[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
]

/** Whether a value of the wire is one of the eight levels. Case counts. */
export function isLogLevel(value: unknown): value is LogLevel {
  return (logLevels as readonly unknown[]).includes(value)
}

/**
 * Whether a log message may be sent for a request that asked for `wanted` and above. Without a wanted level nothing may be
 * (MC-LOG-02).
 */
export function levelAdmits(wanted: LogLevel | undefined, level: LogLevel): boolean {
  return wanted !== undefined && logLevels.indexOf(level) >= logLevels.indexOf(wanted)
}
