import type { Call } from './contract/call.ts'
import { method } from './contract/methods.ts'
import { rpcCode } from './jsonrpc/errors.ts'
import { isJsonObject, type JsonObject, type JsonRecord, type JsonValue, toObject } from './jsonrpc/json.ts'
import type { RpcErrorObject } from './jsonrpc/message.ts'

/** Methods that may answer with an ask (MC-MRTR-02). */
export const askingMethods: ReadonlySet<string> = new Set([method.callTool, method.getPrompt, method.readResource])

/**
 * Why a value is no input request, or `undefined` when it is one of the three kinds in good form (MC-MRTR-05, MC-ELIC-04 to -06,
 * MC-SAMP-03). For what a server sent and for what a handler is about to ask.
 */
export function inputRequestFault(value: JsonValue | undefined): string | undefined {
  if (!isJsonObject(value)) return 'is not an object'
  if (value['jsonrpc'] !== undefined || value['id'] !== undefined) return 'is an envelope, not a bare request'
  const check = typeof value['method'] === 'string' ? checks.get(value['method']) : undefined
  return check === undefined
    ? 'is none of elicitation/create, sampling/createMessage and roots/list'
    : check(value['params'])
}

const checks: ReadonlyMap<string, (params: JsonValue | undefined) => string | undefined> = new Map([
  [method.elicit, (params) => (isJsonObject(params) ? elicitationFault(params) : 'has no params object')],
  [method.createMessage, (params) => (isJsonObject(params) ? samplingFault(params) : 'has no params object')],
  [
    method.listRoots,
    (params) => (params === undefined || isJsonObject(params) ? undefined : 'has params that are no object'),
  ],
])

function elicitationFault(params: JsonObject): string | undefined {
  if (typeof params['message'] !== 'string') return 'has no message'
  const mode = params['mode']
  if (mode === 'url') {
    const url = params['url']
    return typeof url === 'string' && URL.canParse(url) ? undefined : 'has no valid url'
  }
  // a missing mode means form (MC-ELIC-04)
  if (mode !== undefined && mode !== 'form') return 'has an unknown mode'
  return formFault(params['requestedSchema'])
}

/** MC-ELIC-05: an object of flat fields. */
function formFault(schema: JsonValue | undefined): string | undefined {
  if (!isJsonObject(schema) || schema['type'] !== 'object') return 'has no requestedSchema of type object'
  const properties = schema['properties']
  if (!isJsonObject(properties)) return 'has a requestedSchema without properties'
  return Object.values(properties).every(isFieldSchema)
    ? undefined
    : 'has a field that is no string, number, boolean or enum'
}

const fieldTypes: readonly (JsonValue | undefined)[] = ['string', 'number', 'integer', 'boolean']

function isFieldSchema(schema: JsonValue | undefined): boolean {
  if (!isJsonObject(schema)) return false
  if (schema['type'] !== 'array') return fieldTypes.includes(schema['type'])
  // multi-select: strings from an enum, titled or not
  const items = schema['items']
  return isJsonObject(items) && (isStrings(items['enum']) || Array.isArray(items['anyOf']))
}

function isStrings(value: JsonValue | undefined): boolean {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string')
}

function samplingFault(params: JsonObject): string | undefined {
  const messages: JsonValue | undefined = params['messages']
  if (!Array.isArray(messages) || !(messages as readonly JsonValue[]).every(isSamplingMessage)) {
    return 'has no messages, or one without role and content'
  }
  return Number.isInteger(params['maxTokens']) ? undefined : 'has no integer maxTokens'
}

function isSamplingMessage(value: JsonValue): boolean {
  if (!isJsonObject(value) || (value['role'] !== 'user' && value['role'] !== 'assistant')) return false
  return isJsonObject(value['content']) || Array.isArray(value['content'])
}

/**
 * The client capability that an input request needs and `declared` lacks, in the form of `data.requiredCapabilities`; `undefined` when
 * the request may be sent (MC-MRTR-06, MC-ELIC-02, -03, MC-SAMP-02, MC-ERR-06). `{}` for a request that no capability allows.
 */
export function missingForInput(declared: JsonObject, request: Call): JsonObject | undefined {
  switch (request.method) {
    case method.elicit:
      return missingForElicitation(declared['elicitation'], toObject(request.params)['mode'])
    case method.createMessage:
      return missingForSampling(declared['sampling'], request.params)
    case method.listRoots:
      return isJsonObject(declared['roots']) ? undefined : { roots: {} }
    default:
      return {}
  }
}

function missingForElicitation(
  declared: JsonValue | undefined,
  requestedMode: JsonValue | undefined,
): JsonObject | undefined {
  const mode = typeof requestedMode === 'string' ? requestedMode : 'form'
  // a bare declaration means form; one that names url alone does not
  const has =
    isJsonObject(declared) &&
    (isJsonObject(declared[mode]) ||
      (mode === 'form' && declared['form'] === undefined && declared['url'] === undefined))
  return has ? undefined : { elicitation: Object.fromEntries([[mode, {}]]) }
}

function missingForSampling(declared: JsonValue | undefined, params: JsonRecord): JsonObject | undefined {
  const { tools, toolChoice } = toObject(params)
  const needsTools = tools !== undefined || toolChoice !== undefined
  if (isJsonObject(declared) && (!needsTools || isJsonObject(declared['tools']))) return undefined
  return { sampling: needsTools ? { tools: {} } : {} }
}

/** The answer to a request that cannot be completed without a capability that it did not declare (MC-REQ-08, A-55). */
export function missingCapability(missing: JsonObject): RpcErrorObject {
  return {
    code: rpcCode.missingClientCapability,
    message: `The client must declare the capability ${Object.keys(missing).join(', ')}`,
    data: { requiredCapabilities: missing },
  }
}
