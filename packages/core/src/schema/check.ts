/** Collects what is wrong with a value, in words for a model. */
export interface Trace {
  /** Names and indexes from the root of the value to the part that is looked at. */
  readonly path: (string | number)[]
  readonly problems: string[]
}

/**
 * Whether a value fits a schema. Without a trace it says just that, as fast as it can; with one it also writes down the
 * problems.
 */
export type Check = (value: unknown, trace: Trace | undefined) => boolean

/** Problems that are told at once. Enough to correct a call, little enough to read. */
const maxProblems = 8

/** What is wrong with a value that failed a check, as one sentence. `root` names the value, such as `arguments`. */
export function explain(check: Check, value: unknown, root: string): string {
  const trace: Trace = { path: [root], problems: [] }
  check(value, trace)
  const more = trace.problems.length - maxProblems
  const told = trace.problems.slice(0, maxProblems)
  if (more > 0) told.push(`and ${more} more`)
  return told.join('; ')
}

/** Writes a problem down and gives `false`. */
export function fails(trace: Trace | undefined, problem: string): false {
  trace?.problems.push(`${pathText(trace.path)} ${problem}`)
  return false
}

/** Checks a part of a value under its own name. */
export function checkAt(check: Check, value: unknown, key: string | number, trace: Trace | undefined): boolean {
  if (trace === undefined) return check(value, undefined)
  trace.path.push(key)
  const fits = check(value, trace)
  trace.path.pop()
  return fits
}

/** `arguments.where.cities[2]`; names that would be read wrongly are quoted. */
export function pathText(path: readonly (string | number)[]): string {
  return path
    .map((key, index) => {
      if (typeof key === 'number') return `[${key}]`
      if (index === 0) return key
      return /^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(key) ? `.${key}` : `[${quote(key)}]`
    })
    .join('')
}

/** A short name for what a value is. */
export function typeText(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object') return 'an object'
  if (typeof value === 'number') return Number.isInteger(value) ? 'an integer' : 'a number'
  return typeof value === 'undefined' ? 'missing' : `a ${typeof value}`
}

/** A value as JSON, cut short. */
export function quote(value: unknown, maxLength = 60): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length <= maxLength ? text : `${text.slice(0, maxLength).toWellFormed()}…`
}
