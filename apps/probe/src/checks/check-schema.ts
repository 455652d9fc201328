import { isJsonObject, type JsonObject, type JsonValue } from '@atenea/mcpcompat'
import { forEachSubschema } from '@atenea/mcpcompat/transport'
import type { FindingId } from '../findings/catalog.ts'
import { show } from '../show.ts'

/** One thing that is wrong with a schema. */
export interface SchemaFault {
  readonly id: Extract<FindingId, `schema-${string}`>
  readonly evidence: string
}

/** Schemas in one schema; what lies beyond is not looked at. */
const maxSubschemas = 5_000
/** Faults of one schema that are told. */
const maxFaults = 5

/** Dialects that clients read. Fragments and the scheme make no difference. */
const knownDialects = [
  /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/,
  /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/,
]

/** What is wrong with a schema as such: its dialect, its references and the form of its keywords. Uses no stack for its depth. */
export function schemaFaults(root: JsonObject): readonly SchemaFault[] {
  const faults: SchemaFault[] = []
  const { $schema } = root
  if (typeof $schema === 'string' && !knownDialects.some((known) => known.test($schema))) {
    faults.push({ id: 'schema-dialect', evidence: `$schema: ${show($schema)}` })
  }
  const queue: JsonObject[] = [root]
  const known: Known = { anchors: new Set(), ids: new Set(), resources: [root] }
  const references: string[] = []
  for (const schema of queue) {
    if (queue.length > maxSubschemas) break
    const { $ref, $anchor, $dynamicAnchor, $id } = schema
    for (const anchor of [$anchor, $dynamicAnchor]) if (typeof anchor === 'string') known.anchors.add(anchor)
    if (typeof $id === 'string') {
      known.ids.add($id).add(resolved($id, root))
      known.resources.push(schema)
    }
    if (typeof $ref === 'string') references.push($ref)
    const fault = keywordFault(schema)
    if (fault !== undefined) faults.push({ id: 'schema-invalid', evidence: fault })
    forEachSubschema(schema, (child) => void queue.push(child))
  }
  for (const reference of references) {
    const fault = referenceFault(root, reference, known)
    if (fault !== undefined) faults.push(fault)
  }
  return faults.slice(0, maxFaults)
}

/** What references in a schema can lead to. */
interface Known {
  readonly anchors: Set<string>
  /** As they are written, and in full. */
  readonly ids: Set<string>
  /** Schemas at which pointers may begin: the root, and those with an id of their own. */
  readonly resources: JsonObject[]
}

function referenceFault(root: JsonObject, reference: string, known: Known): SchemaFault | undefined {
  const evidence = `$ref: ${show(reference)}`
  const [base = '', fragment = ''] = reference.split('#', 2)
  if ([base, reference, resolved(base, root)].some((id) => id !== '' && known.ids.has(id))) return undefined
  if (base !== '') {
    return /^[a-z][a-z0-9+.-]*:/i.test(base)
      ? { id: 'schema-ref-network', evidence }
      : { id: 'schema-ref-dangling', evidence }
  }
  if (fragment === '') return undefined
  const isThere = fragment.startsWith('/')
    ? known.resources.some((resource) => leadsSomewhere(resource, fragment))
    : known.anchors.has(fragment)
  return isThere ? undefined : { id: 'schema-ref-dangling', evidence }
}

/** A reference in full, by the id of the schema in which it stands. */
function resolved(reference: string, { $id }: JsonObject): string {
  return typeof $id === 'string' && reference !== '' && URL.canParse(reference, $id)
    ? new URL(reference, $id).href
    : reference
}

/** Whether a JSON pointer finds something. */
function leadsSomewhere(root: JsonObject, pointer: string): boolean {
  let value: JsonValue | undefined = root
  for (const part of decoded(pointer).split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return false
    value = (value as JsonObject)[key]
  }
  return true
}

function decoded(pointer: string): string {
  try {
    return decodeURIComponent(pointer)
  } catch {
    return pointer
  }
}

const types: readonly JsonValue[] = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']

type KeywordCheck = (value: JsonValue) => boolean

const isSchema: KeywordCheck = (value) => typeof value === 'boolean' || isJsonObject(value)
const isSchemaMap: KeywordCheck = (value) =>
  isJsonObject(value) && Object.values(value).every((entry) => entry !== undefined && isSchema(entry))
const isSchemaArray: KeywordCheck = (value) =>
  Array.isArray(value) && value.length > 0 && value.every((entry: JsonValue) => isSchema(entry))
const isStringArray: KeywordCheck = (value) => Array.isArray(value) && value.every((entry) => typeof entry === 'string')
const isNumber: KeywordCheck = (value) => typeof value === 'number'
const isCount: KeywordCheck = (value) => typeof value === 'number' && Number.isInteger(value) && value >= 0

/** Keywords whose form is fixed. Others are not judged: unknown keywords are allowed. */
const keywords: ReadonlyMap<string, KeywordCheck> = new Map<string, KeywordCheck>([
  [
    'type',
    (value) =>
      Array.isArray(value)
        ? value.length > 0 && value.every((entry: JsonValue) => types.includes(entry))
        : types.includes(value),
  ],
  ['properties', isSchemaMap],
  ['patternProperties', isSchemaMap],
  ['$defs', isSchemaMap],
  ['definitions', isSchemaMap],
  ['required', isStringArray],
  ['enum', (value) => Array.isArray(value)],
  ['items', (value) => isSchema(value) || isSchemaArray(value)],
  ['prefixItems', isSchemaArray],
  ['additionalProperties', isSchema],
  ['allOf', isSchemaArray],
  ['anyOf', isSchemaArray],
  ['oneOf', isSchemaArray],
  ['not', isSchema],
  ['minimum', isNumber],
  ['maximum', isNumber],
  ['exclusiveMinimum', isNumber],
  ['exclusiveMaximum', isNumber],
  ['multipleOf', (value) => typeof value === 'number' && value > 0],
  ['minLength', isCount],
  ['maxLength', isCount],
  ['minItems', isCount],
  ['maxItems', isCount],
  ['pattern', isPattern],
  ['description', (value) => typeof value === 'string'],
  ['title', (value) => typeof value === 'string'],
])

function isPattern(value: JsonValue): boolean {
  if (typeof value !== 'string') return false
  try {
    return new RegExp(value, 'u') instanceof RegExp
  } catch {
    // what escapes more than Unicode patterns may is still read by most validators
    try {
      return new RegExp(value) instanceof RegExp
    } catch {
      return false
    }
  }
}

function keywordFault(schema: JsonObject): string | undefined {
  for (const [keyword, isRight] of keywords) {
    const value = Object.hasOwn(schema, keyword) ? schema[keyword] : undefined
    if (value !== undefined && !isRight(value)) return `${keyword}: ${show(value)}`
  }
  return undefined
}
