import type { Call } from '../contract/call.ts'
import { method } from '../contract/methods.ts'
import { RpcError, rpcCode } from '../jsonrpc/errors.ts'
import { type JsonObject, type JsonValue, isJsonObject, toObject } from '../jsonrpc/json.ts'
import type { LegacyFeatures } from './features.ts'

/**
 * The params of a question as a legacy client of this revision understands it (LG-ELIC-01, LG-SAMP-01). Throws an `RpcError`
 * for one that cannot be asked in its words, since a question must never be disguised as another.
 */
export function questionForLegacy(question: Call, features: LegacyFeatures, id: number): JsonObject {
  const params = toObject(question.params)
  switch (question.method) {
    case method.elicit:
      return elicitation(params, features, id)
    case method.createMessage:
      return features.samplingTools ? params : sampling(params)
    default:
      return params
  }
}

function elicitation(params: JsonObject, features: LegacyFeatures, id: number): JsonObject {
  const { mode, ...rest } = params
  if (mode === 'url') {
    if (features.elicitation !== 'modes') throw cannotAsk('a question that opens a url')
    return { ...params, elicitationId: params['elicitationId'] ?? `question-${id}` }
  }
  const known = features.elicitation === 'modes' ? params : rest
  return features.choiceTitles ? known : withPlainFields(known)
}

/** Fields with a title for each choice become an enum with names; fields with several choices have no older form. */
function withPlainFields(params: JsonObject): JsonObject {
  const schema = params['requestedSchema']
  if (!isJsonObject(schema) || !isJsonObject(schema['properties'])) return params
  const properties = Object.entries(schema['properties']).map(
    ([name, field]) => [name, plainField(name, field)] as const,
  )
  const { $schema: _dialect, ...rest } = schema
  return { ...params, requestedSchema: { ...rest, properties: Object.fromEntries(properties) } }
}

function plainField(name: string, field: JsonValue | undefined): JsonValue | undefined {
  if (!isJsonObject(field)) return field
  if (field['type'] === 'array') throw cannotAsk(`a field with several choices (${JSON.stringify(name)})`)
  const { oneOf, ...rest } = field
  if (!Array.isArray(oneOf)) return field
  const choices = (oneOf as readonly JsonValue[]).filter(isJsonObject)
  return {
    ...rest,
    enum: choices.map((choice) => choice['const'] ?? null),
    enumNames: choices.map((choice) => choice['title'] ?? choice['const'] ?? null),
  }
}

/** Messages hold one block each. */
function sampling(params: JsonObject): JsonObject {
  const { messages } = params
  if (!Array.isArray(messages)) return params
  return { ...params, messages: (messages as readonly JsonValue[]).map(singleBlock) }
}

function singleBlock(message: JsonValue): JsonValue {
  if (!isJsonObject(message)) return message
  const { content } = message
  if (!Array.isArray(content)) return message
  if (content.length !== 1) throw cannotAsk('a message with several content blocks')
  return { ...message, content: content[0] as JsonValue }
}

function cannotAsk(what: string): RpcError {
  return new RpcError(rpcCode.internalError, `The client's revision cannot show ${what}`)
}
