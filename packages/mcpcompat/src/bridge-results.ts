import { method } from './contract/methods.ts'
import { omitMembers, replaceMember } from './jsonrpc/edit.ts'
import { isJsonObject, type JsonObject, type JsonRecord, type JsonValue, toObject, toText } from './jsonrpc/json.ts'
import { JsonText } from './jsonrpc/json-text.ts'
import { headerAnnotation, planHeaders } from './param-headers.ts'
import { copySchema } from './schema-positions.ts'

const modernMembers: ReadonlySet<string> = new Set(['resultType', 'ttlMs', 'cacheScope'])

/**
 * A result of the neutral model as a legacy client may see it (BR-104 to -106, LG-TOOL-02): without the members of the modern
 * revision, and with structured content and output schemas in the object form that legacy asks for. What needs no change is not touched.
 */
export function resultForLegacy(methodName: string, result: JsonRecord): JsonRecord {
  const bare = stripModernMembers(result)
  if (methodName === method.callTool) return withObjectContent(bare)
  if (methodName === method.listTools && mentions(bare, 'outputSchema')) return withTools(bare, toolForLegacy)
  return bare
}

/**
 * A result of a legacy peer in the neutral model (BR-202 to -204, BR-237). Members that only the modern revision gives a meaning to are
 * gone, since an older program meant something else by them. `onFault` hears of annotations that had to go.
 */
export function resultForModern(
  methodName: string,
  result: JsonRecord,
  onFault?: (tool: string, faults: readonly string[]) => void,
): JsonRecord {
  const bare = stripModernMembers(result)
  if (methodName !== method.listTools || !mentions(bare, headerAnnotation)) return bare
  return withTools(bare, (tool) => {
    const { tool: clean, faults } = toolForModern(tool)
    if (faults.length > 0) onFault?.(typeof tool['name'] === 'string' ? tool['name'] : '', faults)
    return clean
  })
}

/** Whether a key can occur anywhere in a value. Lets most source text pass without being parsed; an escape may hide any key. */
function mentions(record: JsonRecord, key: string): boolean {
  return !JsonText.is(record) || record.text.includes(key) || record.text.includes('\\u')
}

/** The same result without `resultType`, `ttlMs` and `cacheScope` (LG-MSG-06). */
function stripModernMembers(result: JsonRecord): JsonRecord {
  if (JsonText.is(result)) {
    return result.hasAny(modernMembers) ? omitMembers(result, (member) => modernMembers.has(member)) : result
  }
  for (const key of modernMembers) {
    if (result[key] !== undefined) {
      return Object.fromEntries(Object.entries(result).filter(([member]) => !modernMembers.has(member)))
    }
  }
  return result
}

/** A tool whose output schema says `type: "object"` at its root, by wrapping it where it does not (BR-104). */
export function toolForLegacy(tool: JsonObject): JsonObject {
  const schema = tool['outputSchema']
  if (schema === undefined || (isJsonObject(schema) && schema['type'] === 'object')) return tool
  return Object.fromEntries([...Object.entries(tool), ['outputSchema', wrapSchema(schema)]])
}

const wrapped = '/properties/result'

function wrapSchema(schema: JsonValue): JsonObject {
  if (!isJsonObject(schema)) return objectAround(schema, undefined)
  const { $schema, ...rest } = schema
  // a schema with an id of its own keeps the references that it holds
  const inner = typeof rest['$id'] === 'string' ? rest : copySchema(rest, moveReferences)
  return objectAround(inner, $schema)
}

function objectAround(result: JsonValue, dialect: JsonValue | undefined): JsonObject {
  return {
    ...(dialect !== undefined && { $schema: dialect }),
    type: 'object',
    properties: { result },
    required: ['result'],
  }
}

/** References that start at the root of the document now start at the place to which that root has moved. */
function moveReferences(draft: Record<string, JsonValue | undefined>, original: JsonObject): boolean {
  if (typeof original['$id'] === 'string') return false
  for (const keyword of ['$ref', '$dynamicRef']) {
    const target = original[keyword]
    if (typeof target === 'string' && (target === '#' || target.startsWith('#/'))) {
      draft[keyword] = `#${wrapped}${target.slice(1)}`
    }
  }
  return true
}

/** Structured content as an object, with a text block for readers that know no other (BR-105). */
function withObjectContent(result: JsonRecord): JsonRecord {
  if (JsonText.is(result)) {
    if (!result.has('structuredContent')) return result
    const content = result.member('structuredContent')
    if (content === undefined || content.isObject) return result
    const kept = replaceMember(result, 'structuredContent', `{"result":${content.text}}`)
    const blocks = withTextBlock(result.member('content')?.value, content.text)
    return blocks === undefined ? kept : replaceMember(kept, 'content', toText(blocks))
  }
  const content = result['structuredContent']
  if (content === undefined || isJsonObject(content)) return result
  const blocks = withTextBlock(result['content'], toText(content))
  return Object.fromEntries([
    ...Object.entries(result),
    ['structuredContent', { result: content }],
    ...(blocks === undefined ? [] : [['content', blocks] as const]),
  ])
}

/** The content with a text block added, or `undefined` when there is one already. */
function withTextBlock(content: JsonValue | undefined, text: string): readonly JsonValue[] | undefined {
  const blocks = Array.isArray(content) ? (content as readonly JsonValue[]) : []
  const hasText = blocks.some((block) => isJsonObject(block) && block['type'] === 'text')
  return hasText ? undefined : [...blocks, { type: 'text', text }]
}

/** A tool that a modern HTTP client will not drop: annotations that are invalid are gone, each with a reason to report (BR-202). */
export function toolForModern(tool: JsonObject): { readonly tool: JsonObject; readonly faults: readonly string[] } {
  const schema = tool['inputSchema']
  if (!isJsonObject(schema)) return { tool, faults: [] }
  const planned = planHeaders(schema)
  if (planned.ok) return { tool, faults: [] }
  const { faults, faulty } = planned
  const inputSchema = copySchema(schema, (draft, original) => {
    if (faulty.has(original)) delete draft['x-mcp-header']
    return true
  })
  return { tool: Object.fromEntries([...Object.entries(tool), ['inputSchema', inputSchema]]), faults }
}

/** The result of `tools/list` with each tool changed; the same result when no tool was. */
function withTools(result: JsonRecord, change: (tool: JsonObject) => JsonObject): JsonRecord {
  const parsed = toObject(result)
  if (!Array.isArray(parsed['tools'])) return result
  const tools = parsed['tools'] as readonly JsonValue[]
  const changed = tools.map((tool) => (isJsonObject(tool) ? change(tool) : tool))
  if (changed.every((tool, index) => tool === tools[index])) return result
  if (JsonText.is(result)) return replaceMember(result, 'tools', toText(changed))
  return Object.fromEntries([...Object.entries(result), ['tools', changed]])
}
