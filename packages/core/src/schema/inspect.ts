import { type JsonObject, type JsonValue, isJsonObject } from '@atenea/mcpcompat'
import { DefinitionError } from '../definition-error.ts'
import { type Dialect, dialectOf, isMetaSchema } from './dialect.ts'
import { type Schema, eachSubschema, keywordShapes } from './keywords.ts'
import { checkPattern } from './pattern.ts'

/** Levels of schemas inside of schemas that one may have (MC-SCH-08). */
export const maxSchemaDepth = 64
/** Schemas that one may consist of (MC-SCH-08). */
export const maxSubschemas = 10_000

/** What a look at a whole schema finds. */
export interface SchemaFacts {
  readonly dialect: Dialect
  /** Whether some part has an `$id`, so that validators may remember it under that name. */
  readonly hasIds: boolean
  /** Whether `properties` somewhere names `__proto__`, which the full validator passes over. */
  readonly namesProto: boolean
}

interface Reference {
  readonly ref: string
  readonly base: string
  readonly path: string
}

/** Base of a schema without `$id`. Nothing is ever fetched from it. */
const ownBase = 'schema://self/'

/**
 * Looks at a raw schema once, before it is served: its dialect, the shape of its keywords, its size, and that each `$ref`
 * leads to a part of itself, since nothing is ever fetched (MC-SCH-02, MC-SCH-04 to MC-SCH-08). Throws a `DefinitionError`.
 */
export function inspectSchema(schema: JsonObject, where: string): SchemaFacts {
  const dialect = dialectOf(schema.$schema)
  if (dialect === undefined) {
    throw new DefinitionError(
      `${where}: the dialect ${JSON.stringify(schema.$schema)} is not supported; write it in JSON Schema 2020-12 or draft-07`,
    )
  }
  const references: Reference[] = []
  const resources = new Map<string, JsonObject>([[ownBase, schema]])
  const anchors = new Set<string>()
  let subschemas = 0
  let hasIds = false
  let namesProto = false

  const fail = (path: string, problem: string): never => {
    throw new DefinitionError(`${where}: ${path === '' ? '' : `${path}: `}${problem}`)
  }

  const visit = (part: Schema, path: string, base: string, depth: number): void => {
    if (++subschemas > maxSubschemas) fail('', `has more than ${maxSubschemas} subschemas`)
    if (depth > maxSchemaDepth) fail(path, `is nested deeper than ${maxSchemaDepth} levels`)
    if (typeof part === 'boolean') return
    checkKeywords(part, path, fail)
    if (isJsonObject(part.properties) && Object.hasOwn(part.properties, '__proto__')) namesProto = true
    const id = part.$id
    if (typeof id === 'string') {
      hasIds = true
      if (id.startsWith('#')) anchors.add(base + id)
      else {
        base = resolve(id, base) ?? fail(path, `$id ${JSON.stringify(id)} is no URI`)
        resources.set(base, part)
      }
    }
    for (const anchor of [part.$anchor, part.$dynamicAnchor]) {
      if (typeof anchor === 'string') anchors.add(`${base}#${anchor}`)
    }
    for (const ref of [part.$ref, part.$dynamicRef]) {
      if (typeof ref === 'string') references.push({ ref, base, path })
    }
    eachSubschema(part, (child, key) => visit(child, path === '' ? key : `${path}/${key}`, base, depth + 1))
  }
  visit(schema, '', ownBase, 1)

  for (const { ref, base, path } of references) {
    const target = resolve(ref, base) ?? fail(path, `$ref ${JSON.stringify(ref)} is no URI`)
    const [uri = '', fragment = ''] = target.split('#')
    const resource = resources.get(uri)
    if (resource === undefined) {
      if (isMetaSchema(uri)) continue
      fail(
        path,
        `$ref ${JSON.stringify(ref)} leads out of the schema and is never fetched; put what it names under $defs`,
      )
    } else if (fragment !== '' && !anchors.has(target) && !isSchemaAt(resource, fragment)) {
      fail(path, `$ref ${JSON.stringify(ref)} leads nowhere`)
    }
  }
  return { dialect, hasIds, namesProto }
}

function checkKeywords(schema: JsonObject, path: string, fail: (path: string, problem: string) => never): void {
  for (const key of Object.keys(schema)) {
    const shape = keywordShapes.get(key)
    const value = schema[key]
    if (shape !== undefined && value !== undefined && !shape[1](value)) fail(path, `${key} must be ${shape[0]}`)
  }
  if (typeof schema.pattern === 'string') inspectPattern(schema.pattern, path, fail)
  if (isJsonObject(schema.patternProperties)) {
    for (const pattern of Object.keys(schema.patternProperties)) inspectPattern(pattern, path, fail)
  }
}

function inspectPattern(pattern: string, path: string, fail: (path: string, problem: string) => never): void {
  try {
    checkPattern(pattern)
  } catch (error) {
    fail(path, (error as Error).message)
  }
}

function resolve(reference: string, base: string): string | undefined {
  return URL.canParse(reference, base) ? new URL(reference, base).href.replace(/#$/, '') : undefined
}

/** Whether a JSON pointer, percent-encoded as in a fragment, leads to a schema. */
function isSchemaAt(root: JsonObject, fragment: string): boolean {
  let pointer: string
  try {
    pointer = decodeURIComponent(fragment)
  } catch {
    return false
  }
  if (!pointer.startsWith('/')) return false
  let value: JsonValue | undefined = root
  for (const step of pointer.slice(1).split('/')) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return false
    value = (value as JsonObject)[key]
  }
  return typeof value === 'boolean' || isJsonObject(value)
}
