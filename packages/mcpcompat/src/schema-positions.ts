import { isJsonObject, type JsonObject, type JsonValue } from './jsonrpc/json.ts'

/** Keywords whose value is a schema or an array of schemas. */
const direct: ReadonlySet<string> = new Set([
  'items',
  'prefixItems',
  'additionalItems',
  'unevaluatedItems',
  'contains',
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
  'contentSchema',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
])

/** Keywords whose value is a map of schemas by name. `dependencies` may also hold arrays of names, which are no schemas. */
const named: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
])

/**
 * Calls `visit` for every schema that stands directly below `schema`. `property` is its name when it stands under `properties`. Data
 * under `const`, `enum`, `default` and `examples`, and the values of unknown keywords, are no schemas.
 */
export function forEachSubschema(
  schema: JsonObject,
  visit: (child: JsonObject, property: string | undefined) => void,
): void {
  for (const keyword of Object.keys(schema)) {
    const value = schema[keyword]
    if (direct.has(keyword)) {
      for (const child of Array.isArray(value) ? (value as readonly JsonValue[]) : [value]) {
        if (isJsonObject(child)) visit(child, undefined)
      }
    } else if (named.has(keyword) && isJsonObject(value)) {
      for (const name of Object.keys(value)) {
        const child = value[name]
        if (isJsonObject(child)) visit(child, keyword === 'properties' ? name : undefined)
      }
    }
  }
}

/** A schema that is being copied: its members may be set and deleted. */
export type SchemaDraft = Record<string, JsonValue | undefined>

/**
 * A copy of a schema in which `edit` may change each schema object, outer ones first. It gets the draft and the original, and answers
 * whether the schemas below are to be copied as well. What is no schema is shared with the original. Uses no stack for depth.
 */
export function copySchema(
  schema: JsonObject,
  edit: (draft: SchemaDraft, original: JsonObject) => boolean,
): JsonObject {
  const root = draftOf(schema)
  const queue: (readonly [SchemaDraft, JsonObject])[] = [[root, schema]]
  const copy = (value: JsonValue | undefined): JsonValue | undefined => {
    if (!isJsonObject(value)) return value
    const draft = draftOf(value)
    queue.push([draft, value])
    return draft
  }
  for (const [draft, original] of queue) {
    if (!edit(draft, original)) continue
    for (const keyword of Object.keys(draft)) {
      const value = draft[keyword]
      if (direct.has(keyword)) {
        draft[keyword] = Array.isArray(value) ? value.map((child: JsonValue) => copy(child) ?? null) : copy(value)
      } else if (named.has(keyword) && isJsonObject(value)) {
        draft[keyword] = Object.fromEntries(Object.entries(value).map(([name, child]) => [name, copy(child)]))
      }
    }
  }
  return root
}

// fromEntries defines members, so a key named __proto__ stays data
function draftOf(schema: JsonObject): SchemaDraft {
  return Object.fromEntries(Object.entries(schema))
}
