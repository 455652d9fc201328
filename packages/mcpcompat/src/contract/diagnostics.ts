/** Something an operator may want to know: a noisy line, a dropped message, a defect of a peer. Libraries report, they never log. */
export interface Diagnostic {
  readonly level: 'debug' | 'info' | 'warning' | 'error'
  /** Stable kebab-case name, such as `not-json` or `duplicate-id`. Branch on this. */
  readonly code: string
  /** For people: what happened, where, and what to do. Bounded in length; holds no secret and no payload. */
  readonly message: string
  readonly cause?: unknown
}

export type OnDiagnostic = (diagnostic: Diagnostic) => void
