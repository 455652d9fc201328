import type { WireHints } from './contract/context.ts'
import type { HeaderDeclaration, HeaderPlan } from './contract/dispatcher.ts'
import { HeaderValueError, decodeHeaderValue, encodeHeaderValue, headerMismatch } from './headers.ts'
import { isJsonObject, type JsonObject, type JsonValue } from './jsonrpc/json.ts'
import type { RpcErrorObject } from './jsonrpc/message.ts'
import { forEachSubschema } from './schema-positions.ts'

/** The annotation of a parameter in a tool's `inputSchema` (MH-XMH-01). */
export const headerAnnotation = 'x-mcp-header'

const headerPrefix = 'Mcp-Param-'
const tokenPattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** A bound on the work for hostile schemas; far more headers than any HTTP stack takes. */
const maxDeclarations = 256

/** The plan of a tool, or why its annotations make the definition invalid. */
export type PlannedHeaders =
  | { readonly ok: true; readonly plan: HeaderPlan }
  | {
      readonly ok: false
      /** For people; an HTTP client drops the tool and warns with these (MH-XMH-11, -12). Never empty. */
      readonly faults: readonly string[]
      /** The schema objects whose annotation is wrong. */
      readonly faulty: ReadonlySet<JsonObject>
    }

/** One schema to look at. `key` and `parent` give the path of a property; anything that `properties` alone do not lead to is `unreachable`. */
interface Position {
  readonly schema: JsonObject
  readonly key: string | undefined
  readonly parent: Position | undefined
  readonly unreachable: boolean
}

/**
 * Reads the `x-mcp-header` annotations of a tool's `inputSchema` (MH-XMH-03 to -09, A-15, A-16). Never throws; takes time linear in
 * the size of the schema and no stack for its depth.
 */
export function planHeaders(inputSchema: JsonValue | undefined): PlannedHeaders {
  if (!isJsonObject(inputSchema)) return { ok: false, faults: ['inputSchema is not an object'], faulty: new Set() }
  const declarations: HeaderDeclaration[] = []
  const names = new Set<string>()
  const faults: string[] = []
  const faulty = new Set<JsonObject>()
  const queue: Position[] = [{ schema: inputSchema, key: undefined, parent: undefined, unreachable: false }]
  for (const position of queue) {
    const { schema, unreachable } = position
    if (Object.hasOwn(schema, headerAnnotation)) {
      const fault = annotationFault(position, names, declarations.length)
      if (fault === undefined) declarations.push(declarationAt(position))
      else {
        faulty.add(schema)
        faults.push(fault)
      }
    }
    forEachSubschema(schema, (child, property) => {
      queue.push({
        schema: child,
        key: property,
        parent: position,
        unreachable: unreachable || property === undefined,
      })
    })
  }
  return faults.length === 0 ? { ok: true, plan: { declarations } } : { ok: false, faults, faulty }
}

function annotationFault(position: Position, names: Set<string>, declared: number): string | undefined {
  const { schema, key, unreachable } = position
  const name = schema[headerAnnotation]
  if (unreachable || key === undefined) {
    return `${headerAnnotation} ${show(name)} does not stand on a property that "properties" keys alone lead to`
  }
  if (typeof name !== 'string' || !tokenPattern.test(name)) {
    return `${headerAnnotation} ${show(name)} of property ${show(key)} is not a header name token`
  }
  const type = schema['type']
  if (type !== 'string' && type !== 'integer' && type !== 'boolean') {
    return `${headerAnnotation} ${show(name)} of property ${show(key)} needs the type string, integer or boolean, not ${show(type)}`
  }
  if (names.has(name.toLowerCase())) return `${headerAnnotation} ${show(name)} is used more than once`
  names.add(name.toLowerCase())
  return declared < maxDeclarations ? undefined : `more than ${maxDeclarations} parameters are annotated`
}

function declarationAt(position: Position): HeaderDeclaration {
  const path: string[] = []
  for (let at: Position | undefined = position; at?.key !== undefined; at = at.parent) path.push(at.key)
  const { schema } = position
  return {
    path: path.reverse(),
    header: `${headerPrefix}${schema[headerAnnotation] as string}`,
    type: schema['type'] as HeaderDeclaration['type'],
  }
}

function show(value: JsonValue | undefined): string {
  if (typeof value !== 'string') return value === undefined ? 'none' : Array.isArray(value) ? 'an array' : typeof value
  return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value)
}

/** The argument at a path of own members; `undefined` where the path breaks off (MH-XMH-10). */
function argumentAt(args: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  let value = args
  for (const key of path) {
    if (!isJsonObject(value) || !Object.hasOwn(value, key)) return undefined
    value = value[key]
  }
  return value
}

/**
 * The `Mcp-Param-*` headers of a `tools/call` with these arguments (MH-VAL-06, -09, A-18). What is absent or null gives no header,
 * nor does a value of a kind that no header can hold. Throws a `HeaderValueError` for a value that must not be sent at all.
 */
export function paramHeaders(plan: HeaderPlan, args: JsonValue | undefined): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {}
  for (const { path, header, type } of plan.declarations) {
    const field = encodeHeaderArgument(argumentAt(args, path), type)
    if (field !== undefined) headers[header] = field
  }
  return headers
}

/** The field value for one argument of a parameter of that type; `undefined` when there is to be no header. Throws a `HeaderValueError`. */
export function encodeHeaderArgument(
  value: JsonValue | undefined,
  type: HeaderDeclaration['type'],
): string | undefined {
  if (typeof value === 'string') return encodeHeaderValue(value)
  if (typeof value === 'boolean') return String(value)
  if (typeof value !== 'number') return undefined
  if (Number.isSafeInteger(value)) return String(value) // -0 gives 0
  if (type !== 'integer') return undefined
  throw new HeaderValueError('unsafe-integer', `${value} is not an integer between -(2^53-1) and 2^53-1.`)
}

/**
 * Compares the `Mcp-Param-*` headers with the arguments of the call (MH-VAL-01, -03 to -05, -07, -08, A-18; ladder step 25). A header
 * without a value in the body contradicts it as well. `undefined` means that they agree.
 */
export function paramHeaderFault(
  plan: HeaderPlan,
  args: JsonValue | undefined,
  headers: WireHints,
): RpcErrorObject | undefined {
  for (const { path, header, type } of plan.declarations) {
    const value = argumentAt(args, path) ?? null
    const field = headers[header.toLowerCase()]
    if (field === undefined) {
      // no header can hold an object or an array; the check of the arguments answers those
      if (value !== null && typeof value !== 'object') return headerMismatch(`The ${header} header is missing.`)
      continue
    }
    const decoded = decodeHeaderValue(field)
    if (decoded === undefined) return headerMismatch(`The ${header} header is malformed.`)
    if (!agrees(decoded, value, type))
      return headerMismatch(`The ${header} header differs from the argument in the body.`)
  }
  return undefined
}

function agrees(text: string, value: JsonValue, type: HeaderDeclaration['type']): boolean {
  if (typeof value === 'string') return text === value
  if (typeof value === 'number' && type === 'integer' && Number.isSafeInteger(value)) return isSameInteger(text, value)
  return (typeof value === 'number' || typeof value === 'boolean') && text === String(value)
}

/** Whether decimal text such as `42` or `42.0` is exactly this integer. */
function isSameInteger(text: string, value: number): boolean {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text)
  if (match === null) return false
  const [, sign = '', whole = '', fraction = ''] = match
  const digits = whole.replace(/^0+(?=\d)/, '')
  // more digits than a safe integer has would be rounded
  return digits.length <= 16 && /^0*$/.test(fraction) && Number(sign + digits) === value
}
