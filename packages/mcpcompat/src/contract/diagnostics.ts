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

/**
 * The same listener for whoever must not depend on it: what it throws is dropped, as nobody is left to be told. Everything that takes a
 * listener from outside wraps it in this.
 */
export function safeDiagnostics(listener: OnDiagnostic | undefined): OnDiagnostic | undefined {
  if (listener === undefined || safe.has(listener)) return listener
  const wrapped: OnDiagnostic = (diagnostic) => {
    try {
      listener(diagnostic)
    } catch {
      // See above.
    }
  }
  safe.add(wrapped)
  return wrapped
}

/** Listeners that are wrapped, so that parts which hand theirs on to each other do not wrap it again. */
const safe = new WeakSet<OnDiagnostic>()
