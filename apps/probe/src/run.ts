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
  /** Whether servers of a configuration were asked, so that the result is a list even of one. */
  readonly isList: boolean
}
