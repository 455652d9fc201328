import type { Call } from './call.ts'
import type { CallContext } from './context.ts'
import type { OnDiagnostic } from './diagnostics.ts'
import type { Dispatcher } from './dispatcher.ts'
import { reportFailure } from './failure.ts'

/** Hands a notification to a dispatcher. Nobody is owed an answer, so a failure is only reported. */
export function notifyDispatcher(
  dispatcher: Dispatcher,
  notice: Call,
  context: CallContext,
  onDiagnostic: OnDiagnostic | undefined,
): void {
  try {
    const taken = dispatcher.notify(notice, context)
    if (taken !== undefined) taken.then(undefined, (error: unknown) => reportFailure(error, notice, onDiagnostic))
  } catch (error) {
    reportFailure(error, notice, onDiagnostic)
  }
}
