import { isJsonObject, type JsonObject, type JsonValue } from '@atenea/mcpcompat'

/** One place in which two values differ. A side that has nothing there is left out. */
export interface Change {
  /** JSON pointer of the place. */
  readonly pointer: string
  readonly a?: JsonValue | undefined
  readonly b?: JsonValue | undefined
}

/** Deeper values are compared as a whole, since they come from servers. */
const maxDepth = 64

/** Where two objects differ, each at the deepest place that both have. The order of members says nothing, that of items does. */
export function changesOf(a: JsonObject, b: JsonObject): readonly Change[] {
  const changes: Change[] = []
  compare(a, b, '', 0, changes)
  return changes
}

/** Whether two values are the same, whatever the order of members. */
export function isSame(a: JsonValue, b: JsonValue): boolean {
  const changes: Change[] = []
  compare(a, b, '', 0, changes)
  return changes.length === 0
}

function compare(a: JsonValue, b: JsonValue, pointer: string, depth: number, changes: Change[]): void {
  if (a === b) return
  if (depth < maxDepth && isJsonObject(a) && isJsonObject(b)) {
    for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
      const below = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
      compareMembers(memberOf(a, name), memberOf(b, name), below, depth, changes)
    }
    return
  }
  if (depth < maxDepth && Array.isArray(a) && Array.isArray(b)) {
    const [before, after] = [a as readonly JsonValue[], b as readonly JsonValue[]]
    for (let index = 0; index < Math.max(before.length, after.length); index += 1) {
      compareMembers(before[index], after[index], `${pointer}/${index}`, depth, changes)
    }
    return
  }
  if (depth >= maxDepth && JSON.stringify(a) === JSON.stringify(b)) return
  changes.push({ pointer, a, b })
}

function compareMembers(
  a: JsonValue | undefined,
  b: JsonValue | undefined,
  pointer: string,
  depth: number,
  changes: Change[],
): void {
  if (a !== undefined && b !== undefined) compare(a, b, pointer, depth + 1, changes)
  else if (a !== undefined || b !== undefined) changes.push({ pointer, a, b })
}

function memberOf(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined
}
