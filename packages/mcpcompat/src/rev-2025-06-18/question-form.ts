import type { Call } from '../contract/call.ts'
import { method } from '../contract/methods.ts'
import { omitMembers } from '../jsonrpc/edit.ts'
import { RpcError, rpcCode } from '../jsonrpc/errors.ts'
import { type JsonRecord, type JsonValue, isJsonObject, toObject } from '../jsonrpc/json.ts'
import { JsonText } from '../jsonrpc/json-text.ts'
import { memberOf } from '../member.ts'
import type { LegacyFeatures } from './features.ts'

/**
 * The params of a question as a legacy client of this revision understands it (LG-ELIC-01, LG-SAMP-01). Throws an `RpcError`
 * for one that cannot be asked in its words, since a question must never be disguised as another.
 */
export function questionForLegacy(question: Call, features: LegacyFeatures, id: number): JsonRecord {
  const { params } = question
  switch (question.method) {
    case method.elicit:
      return elicitation(params, features, id)
    case method.createMessage:
      return features.samplingTools ? params : sampling(params)
    default:
      return params
  }
}

function elicitation(params: JsonRecord, features: LegacyFeatures, id: number): JsonRecord {
  if (memberOf(params, 'mode') === 'url') {
    if (features.elicitation !== 'modes') throw cannotAsk('a question that opens a url')
    return memberOf(params, 'elicitationId') === undefined
      ? { ...toObject(params), elicitationId: `question-${id}` }
      : params
  }
  const known = features.elicitation === 'modes' ? params : withoutMode(params)
  return features.choiceTitles ? known : withPlainFields(known)
}

function withoutMode(params: JsonRecord): JsonRecord {
  if (JsonText.is(params)) return omitMembers(params, (key) => key === 'mode')
  const { mode: _mode, ...rest } = params
  return rest
}

/** Fields with a title for each choice become an enum with names; fields with several choices have no older form. */
function withPlainFields(params: JsonRecord): JsonRecord {
  const schema = memberOf(params, 'requestedSchema')
  if (!isJsonObject(schema) || !isJsonObject(schema['properties'])) return params
  const given = Object.entries(schema['properties'])
  const properties = given.map(([name, field]) => [name, plainField(name, field)] as const)
  // What needs no other form stays as it came.
  if (schema['$schema'] === undefined && properties.every(([, field], index) => field === given[index]?.[1]))
    return params
  const { $schema: _dialect, ...rest } = schema
  return { ...toObject(params), requestedSchema: { ...rest, properties: Object.fromEntries(properties) } }
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
function sampling(params: JsonRecord): JsonRecord {
  const messages = memberOf(params, 'messages')
  if (!Array.isArray(messages)) return params
  const given = messages as readonly JsonValue[]
  const single = given.map(singleBlock)
  return single.every((message, index) => message === given[index]) ? params : { ...toObject(params), messages: single }
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
