import type { Diagnostic, OnDiagnostic } from '@atenea/mcpcompat'

/** Reports to whoever listens. A listener that fails changes nothing for the call that is being answered. */
export function createReport(listener: OnDiagnostic | undefined): OnDiagnostic {
  if (listener === undefined) return () => undefined
  return (diagnostic: Diagnostic) => {
    try {
      listener(diagnostic)
    } catch {
      // There is nobody left to tell.
    }
  }
}
