import { canonicalize, type JsonObject } from '@atenea/mcpcompat'
import { clientKinds } from './client-kinds.ts'
import { headerKinds } from './header-kinds.ts'
import type { Kind } from './kind.ts'
import { messageKinds } from './message-kinds.ts'
import { serverKinds } from './server-kinds.ts'
import { type Vector, type VectorFile, VectorFileError } from './vector-file.ts'

const kinds: ReadonlyMap<string, Kind> = new Map(
  Object.entries({ ...headerKinds, ...messageKinds, ...clientKinds, ...serverKinds }),
)

/** How one case went. `expected` is absent when it could not be run at all. */
export type VectorOutcome =
  | { readonly passed: true }
  | { readonly passed: false; readonly expected?: JsonObject; readonly actual: JsonObject | string }

/** Runs one case through the shipped code. A kind that is not known, and an input that does not fit its kind, is a failure. */
export function runVector(vector: Vector, file: VectorFile): VectorOutcome {
  const kind = kinds.get(vector.kind)
  if (kind === undefined) return { passed: false, actual: `unknown kind ${JSON.stringify(vector.kind)}` }
  let actual: JsonObject
  try {
    actual = kind.run(vector.input, file, vector.source)
  } catch (error) {
    const reason = error instanceof VectorFileError ? error.message : String(error)
    return { passed: false, expected: vector.expect, actual: `threw: ${reason}` }
  }
  const expected = kind.accept?.(vector.expect, actual) ?? vector.expect
  const compared = comparedMembers(actual, expected, kind.optional ?? [])
  return canonicalize(compared) === canonicalize(expected)
    ? { passed: true }
    : { passed: false, expected: vector.expect, actual: compared }
}

function comparedMembers(actual: JsonObject, expected: JsonObject, optional: readonly string[]): JsonObject {
  return Object.fromEntries(
    Object.entries(actual).filter(([key]) => !optional.includes(key) || Object.hasOwn(expected, key)),
  )
}

/** One line about a case that failed. */
export function describeFailure(vector: Vector, outcome: VectorOutcome & { readonly passed: false }): string {
  const expected = outcome.expected === undefined ? '' : ` expected ${JSON.stringify(outcome.expected)}`
  const actual = typeof outcome.actual === 'string' ? outcome.actual : JSON.stringify(outcome.actual)
  return `${vector.id} ${vector.kind}:${expected} actual ${actual}`
}
