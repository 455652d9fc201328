import type { Outcome } from './call.ts'

/**
 * Whether an outcome is there already. An outcome has a kind; whatever has none is a promise of one, or nonsense, which is
 * waited for as well and found out then. Asking for `then` would look into the value of every outcome.
 */
export function isOutcome(outcome: Outcome | Promise<Outcome>): outcome is Outcome {
  return (outcome as Outcome | undefined)?.kind !== undefined
}
