/** What an answer may be written in. */
export interface AnswerForms {
  readonly json: boolean
  readonly sse: boolean
}

const jsonType = 'application/json'
const sseType = 'text/event-stream'
const bothForms: AnswerForms = Object.freeze({ json: true, sse: true })

/** Whether a `Content-Type` field names a media type, parameters and case aside. Nearly all fields are the bare name. */
function isOfType(field: string | undefined, type: string): boolean {
  if (field === undefined) return false
  if (field === type) return true
  const end = field.indexOf(';')
  const named = end === -1 ? field : field.slice(0, end)
  return named.trim().toLowerCase() === type
}

/** Whether a body is said to be JSON; parameters such as a charset do not matter. */
export function isJsonType(field: string | undefined): boolean {
  return isOfType(field, jsonType)
}

/** Whether a body is said to be an SSE stream. */
export function isSseType(field: string | undefined): boolean {
  return isOfType(field, sseType)
}

/**
 * The forms that an `Accept` field admits: wildcards, weights and case understood, the most specific range of a type decides, `q=0`
 * refuses. A missing field admits both.
 */
export function acceptedForms(field: string | undefined): AnswerForms {
  if (field === undefined) return bothForms
  const weights = new Map<string, number>()
  for (const range of field.split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const weight = weightOf(parameters)
    if (type !== '' && weight !== undefined) weights.set(type, Math.max(weight, weights.get(type) ?? 0))
  }
  return { json: admits(weights, jsonType), sse: admits(weights, sseType) }
}

/** The weight among the parameters of a range; `undefined` when it is malformed, and the range then counts for nothing. */
function weightOf(parameters: readonly string[]): number | undefined {
  const weight = parameters.find((parameter) => /^q\s*=/.test(parameter))
  if (weight === undefined) return 1
  const match = /^q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.exec(weight)
  return match === null ? undefined : Number(match[1])
}

function admits(weights: ReadonlyMap<string, number>, type: string): boolean {
  const family = `${type.slice(0, type.indexOf('/'))}/*`
  return (weights.get(type) ?? weights.get(family) ?? weights.get('*/*') ?? 0) > 0
}
