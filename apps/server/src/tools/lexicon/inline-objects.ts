import { isObject, type UnknownObject } from '../json.ts'
import type { JsonPath } from '../json-path.ts'

/** A definition that was written inside another one. */
export interface Inlined {
  /** Name of the definition that it got in the rewritten document. */
  readonly name: string
  /** Where it stands in the document as it came. */
  readonly path: JsonPath
}

/**
 * Gives every object schema that stands inline, as a property or as the items of an array, a definition of its own and puts a
 * `ref` in its place. The specification and the protocol's test corpus allow such objects, while the reference grammar knows
 * objects by reference only. The document is not changed; names that are taken are not used.
 */
export function hoistInlineObjects(defs: UnknownObject): {
  readonly defs: UnknownObject
  readonly inlined: readonly Inlined[]
} {
  const inlined: Inlined[] = []
  const hoisted: [string, unknown][] = []

  const schema = (value: unknown, path: JsonPath, isInline: boolean): unknown => {
    if (!isObject(value)) return value
    const rewritten = Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, below(key, member, [...path, key], value['type'])]),
    )
    if (!isInline || value['type'] !== 'object') return rewritten
    const name = freeName(defs, inlined.length)
    inlined.push({ name, path })
    hoisted.push([name, rewritten])
    return { type: 'ref', ref: `#${name}` }
  }

  const below = (key: string, member: unknown, path: JsonPath, type: unknown): unknown => {
    if (key === 'properties' && type === 'object' && isObject(member)) {
      return Object.fromEntries(
        safeEntries(member).map(([name, property]) => [name, schema(property, [...path, name], true)]),
      )
    }
    if (key === 'items' && type === 'array') return schema(member, path, true)
    // Bodies, messages and records: an object here is where the grammar expects one.
    return bodies.has(key) ? schema(member, path, false) : member
  }

  const rewritten = safeEntries(defs).map(([name, def]) => [name, schema(def, ['defs', name], false)] as const)
  return { defs: Object.fromEntries([...rewritten, ...hoisted]), inlined }
}

const bodies = new Set(['record', 'input', 'output', 'message', 'schema'])

/** Entries without `__proto__`, with which libraries that copy member by member would change a prototype. */
function safeEntries(object: UnknownObject): [string, unknown][] {
  return Object.entries(object).filter(([key]) => key !== '__proto__')
}

function freeName(defs: UnknownObject, count: number): string {
  let name = `inline${count}`
  while (Object.hasOwn(defs, name)) name += 'x'
  return name
}
