import { lexiconDocumentSchema } from '@atproto/lex-document'
import { isObject, type UnknownObject } from '../json.ts'
import type { JsonPath } from '../json-path.ts'
import { type Finding, finding } from './finding.ts'
import { hoistInlineObjects, type Inlined } from './inline-objects.ts'

/**
 * What the reference grammar says against the definitions of a lexicon. It stops at its first fault, so each fault is cut out
 * and the rest is read again, up to `limit` times.
 */
export function grammarFindings(defs: UnknownObject, limit: number): Finding[] {
  const found: Finding[] = []
  const hoisted = hoistInlineObjects(defs)
  let rest = hoisted.defs
  while (found.length < limit) {
    const issue = firstIssue(rest)
    if (issue === undefined) break
    found.push(finding(originOf(issue.path, hoisted.inlined), issue.message))
    rest = without(rest, issue.path)
  }
  return found
}

function firstIssue(defs: UnknownObject): { readonly path: JsonPath; readonly message: string } | undefined {
  const result = lexiconDocumentSchema.safeParse({ lexicon: 1, id: 'com.example.lexicon', defs })
  if (result.success) return undefined
  const [issue] = result.reason.issues
  if (issue === undefined) throw new Error('the grammar refused a lexicon without saying why')
  return { path: issue.path.map((step) => (typeof step === 'number' ? step : String(step))), message: issue.message }
}

/** Members that a definition can do without, so that the others are still read after one of them was at fault. */
const optional = new Set(['description', 'parameters', 'input', 'output', 'errors', 'required', 'nullable'])

/** The definitions without what stands at this path: the property, else the optional member, else the whole definition. */
function without(defs: UnknownObject, path: JsonPath): UnknownObject {
  const [, name] = path
  if (typeof name !== 'string') throw new Error('the grammar refused what is no definition')
  const copy = structuredClone(defs) as Record<string, unknown>
  const at = path.indexOf('properties', 2)
  if (at > 0 && path.length > at + 1) {
    const properties = path
      .slice(1, at + 1)
      .reduce<unknown>((value, step) => (isObject(value) ? value[step] : value), copy)
    Object.assign(properties as object, { [String(path[at + 1])]: { type: 'boolean' } })
    return copy
  }
  const [, , member] = path
  const def = copy[name]
  if (typeof member === 'string' && optional.has(member) && isObject(def)) {
    copy[name] = Object.fromEntries(Object.entries(def).filter(([key]) => key !== member))
  } else {
    copy[name] = { type: 'token' }
  }
  return copy
}

/** A path in the rewritten document as a path in the document that came. */
function originOf(path: JsonPath, inlined: readonly Inlined[]): JsonPath {
  const origin = inlined.find(({ name }) => path[0] === 'defs' && path[1] === name)
  return origin === undefined ? path : [...origin.path, ...path.slice(2)]
}
