import type { Outcome } from './call.ts'

/**
 * Whether an outcome is there already. An outcome has a kind; whatever has none is a promise of one. Asking for `then` would
 * look into the value of every outcome.
 */
export function isOutcome(outcome: Outcome | Promise<Outcome>): outcome is Outcome {
  return (outcome as Outcome).kind !== undefined
}
