import { canonicalize, type JsonText } from '@atenea/mcpcompat'

/** How what a backend offers differs from what it offered before, each by the backend's own names. */
export interface Drift {
  readonly appeared: readonly string[]
  readonly vanished: readonly string[]
  /** Whose definition says something else now. */
  readonly changed: readonly string[]
}

/** Definitions by the backend's own names. */
export type Definitions = ReadonlyMap<string, JsonText>

/** Compares two states of one list. Where members stand, and white space between them, makes no difference. */
export function driftOf(before: Definitions, after: Definitions): Drift {
  const known = [...after].filter(([own]) => before.has(own))
  return {
    appeared: [...after.keys()].filter((own) => !before.has(own)),
    vanished: [...before.keys()].filter((own) => !after.has(own)),
    changed: known.filter(([own, now]) => differs(before.get(own) as JsonText, now)).map(([own]) => own),
  }
}

export function isDrift({ appeared, vanished, changed }: Drift): boolean {
  return appeared.length + vanished.length + changed.length > 0
}

function differs(before: JsonText, after: JsonText): boolean {
  return before.text !== after.text && canonicalize(before.value) !== canonicalize(after.value)
}
