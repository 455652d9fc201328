import { isObject, kindOf } from '../json.ts'
import { quote } from '../json-path.ts'
import { isNsid } from '../nsid.ts'
import { type Finding, finding } from './finding.ts'
import { grammarFindings } from './grammar.ts'
import { ruleFindings } from './rules.ts'

export interface LexiconReport {
  readonly valid: boolean
  readonly errors: readonly Finding[]
  /** What is allowed, but refused by a common implementation or probably not meant. */
  readonly warnings: readonly Finding[]
}

/** Most findings of each kind in one report: enough to work on, small enough for a model to read. */
export const maxFindings = 20

const maxDepth = 64
/** The largest lexicons in use have about 1,200 values. Far beyond that the work would be felt by other callers. */
const maxValues = 20_000

/** Checks a lexicon document against the specification (version 1). Never throws, whatever it is given. */
export function validateLexicon(document: unknown): LexiconReport {
  if (!isObject(document)) return report([finding([], `a lexicon is a JSON object, but this is ${kindOf(document)}`)])
  if (countValues(document, maxValues) > maxValues) {
    return report([finding([], `more than ${maxValues} values, which is no lexicon that anybody could read; split it`)])
  }
  if (isDeeperThan(maxDepth, document)) return report([finding([], `nested deeper than ${maxDepth} levels`)])
  const { id, defs } = document
  const errors = envelopeFindings(document)
  if (!isObject(defs)) return report(errors)
  const rules = ruleFindings(typeof id === 'string' ? id : '', defs)
  errors.push(...rules.errors)
  const said = new Set(errors.map(({ path }) => path))
  errors.push(...grammarFindings(defs, maxFindings).filter(({ path }) => !said.has(path)))
  return report(errors, rules.warnings)
}

function envelopeFindings(document: Readonly<Record<string, unknown>>): Finding[] {
  const { lexicon, id, revision, description, defs } = document
  const found: Finding[] = []
  if (lexicon !== 1) found.push(finding(['lexicon'], 'lexicon must be 1, the version of the language'))
  if (typeof id !== 'string')
    found.push(finding(['id'], `id must be the NSID of the lexicon, but this is ${kindOf(id)}`))
  else if (!isNsid(id)) found.push(finding(['id'], `${quote(id)} is no NSID, such as com.example.thing`))
  if (revision !== undefined && !Number.isSafeInteger(revision))
    found.push(finding(['revision'], 'revision must be an integer'))
  if (description !== undefined && typeof description !== 'string') {
    found.push(finding(['description'], 'description must be a string'))
  }
  if (!isObject(defs))
    found.push(finding(['defs'], `defs must be an object of definitions, but this is ${kindOf(defs)}`))
  else if (Object.keys(defs).length === 0) found.push(finding(['defs'], 'a lexicon needs at least one definition'))
  return found
}

function report(errors: readonly Finding[], warnings: readonly Finding[] = []): LexiconReport {
  return { valid: errors.length === 0, errors: errors.slice(0, maxFindings), warnings: warnings.slice(0, maxFindings) }
}

/** Values in a JSON document, counted until there are more than `limit`. */
function countValues(document: unknown, limit: number): number {
  const waiting: unknown[] = [document]
  let count = 0
  while (waiting.length > 0 && count <= limit) {
    const value = waiting.pop()
    count += 1
    if (typeof value === 'object' && value !== null)
      waiting.push(...Object.values(value as Readonly<Record<string, unknown>>).slice(0, limit + 1))
  }
  return count
}

function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((member) => isDeeperThan(levels - 1, member))
}
