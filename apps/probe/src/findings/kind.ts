/** `error`: a rule of the protocol is broken. `warning`: a recommendation is, or clients will stumble. `note`: worth knowing. */
export type FindingLevel = 'error' | 'warning' | 'note'

/** What is the same for every finding of one id. */
export interface FindingKind {
  readonly level: FindingLevel
  /** Rows of the requirement catalogue, decisions, or field reports. */
  readonly requirements: readonly string[]
  readonly title: string
  readonly repair: string
}

/** The kinds of one area, by id. */
export type FindingKinds = Readonly<Record<string, FindingKind>>
