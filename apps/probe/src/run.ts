import type { Report } from './report.ts'

/** A server of a configuration that was not asked. */
export interface NotProbed {
  readonly name: string
  readonly reason: 'disabled' | 'configuration'
  readonly detail: string
}

/** What one run of the program found. */
export interface Run {
  /** In the order in which the servers were named. */
  readonly reports: readonly Report[]
  readonly notProbed: readonly NotProbed[]
  /** The configuration that the servers were read from, as the user named it. The result is a list then, even of one. */
  readonly config: string | undefined
}
