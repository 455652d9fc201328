import { method } from '../contract/methods.ts'
import { type JsonObject, type JsonValue, isJsonObject, toText } from '../jsonrpc/json.ts'
import type { LegacyFeatures } from './features.ts'

/** Whether results need nothing more than what all legacy revisions need. */
export function carriesEverything(features: LegacyFeatures): boolean {
  return features.audio && features.resourceLinks && features.structuredContent
}

/** A result in the words of a revision that lacks some of them. Nothing is lost where it can be said in another way. */
export function fitResult(methodName: string, result: JsonObject, features: LegacyFeatures): JsonObject {
  switch (methodName) {
    case method.listTools:
      return features.structuredContent ? result : withoutOutputSchemas(result)
    case method.callTool:
      return fitToolResult(result, features)
    case method.getPrompt:
      return fitPrompt(result, features)
    default:
      return result
  }
}

function withoutOutputSchemas(result: JsonObject): JsonObject {
  const { tools } = result
  if (!Array.isArray(tools)) return result
  return {
    ...result,
    tools: (tools as JsonValue[]).map((tool) => {
      if (!isJsonObject(tool)) return tool
      const { outputSchema: _outputSchema, ...rest } = tool
      return rest
    }),
  }
}

function fitToolResult(result: JsonObject, features: LegacyFeatures): JsonObject {
  const { structuredContent, ...rest } = result
  const blocks = Array.isArray(result['content']) ? (result['content'] as JsonValue[]) : []
  const content = blocks.map((block) => fitBlock(block, features))
  if (features.structuredContent) return { ...result, content }
  const hasText = content.some((block) => isJsonObject(block) && block['type'] === 'text')
  if (structuredContent !== undefined && !hasText) content.push({ type: 'text', text: toText(structuredContent) })
  return { ...rest, content }
}

function fitPrompt(result: JsonObject, features: LegacyFeatures): JsonObject {
  const { messages } = result
  if (!Array.isArray(messages)) return result
  return {
    ...result,
    messages: (messages as JsonValue[]).map((message) =>
      isJsonObject(message) && message['content'] !== undefined
        ? { ...message, content: fitBlock(message['content'], features) }
        : message,
    ),
  }
}

function fitBlock(block: JsonValue, features: LegacyFeatures): JsonValue {
  if (!isJsonObject(block)) return block
  if (block['type'] === 'audio' && !features.audio) {
    const { mimeType, data } = block
    return { type: 'resource', resource: { uri: 'audio:inline', mimeType, blob: data } }
  }
  if (block['type'] === 'resource_link' && !features.resourceLinks) {
    const name = textOf(block['name'])
    const mimeType = textOf(block['mimeType'])
    return {
      type: 'text',
      text: `${name === '' ? '' : `${name}: `}${textOf(block['uri'])}${mimeType === '' ? '' : ` (${mimeType})`}`,
    }
  }
  return block
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}
