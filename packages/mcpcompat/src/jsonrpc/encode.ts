import type { Json } from './json.ts'
import { JsonText } from './json-text.ts'
import type { RpcErrorObject, RpcId, RpcMessage } from './message.ts'
import { stringify } from './stringify.ts'

/**
 * The text of one message: a single line without its line end, well-formed Unicode. Big payload texts are joined, not
 * copied. A payload that travels as source text keeps its values, digits and member order; only line breaks between its tokens
 * become spaces. A `TypeError` for values that JSON cannot hold.
 */
export function encodeMessage(message: RpcMessage): string {
  switch (message.kind) {
    case 'result': {
      const { id, result } = message
      const members = JsonText.is(result) ? result.lineMembers : undefined
      if (members !== undefined) return `{"jsonrpc":"2.0","id":${encodeId(id)},"result":{${members}}}`
      return `{"jsonrpc":"2.0","id":${encodeId(id)},"result":${encodePayload(result)}}`
    }
    case 'request':
      return `{"jsonrpc":"2.0","id":${encodeId(message.id)},"method":${encodeMethod(message.method)}${encodeParams(message.params)}}`
    case 'notification':
      return `{"jsonrpc":"2.0","method":${encodeMethod(message.method)}${encodeParams(message.params)}}`
    case 'error': {
      const id = message.id === undefined ? '' : `"id":${encodeId(message.id)},` // absent, never null (MC-MSG-06, A-11)
      return `{"jsonrpc":"2.0",${id}"error":${encodeError(message.error)}}`
    }
  }
}

// Ids and methods go back or on exactly as they came: an escaped lone surrogate in them stays escaped.
function encodeId(id: RpcId): string {
  return typeof id === 'number' ? String(id) : JSON.stringify(id)
}

let lastMethod = { name: '', text: '""' }

/** Written once as long as it is the same: most messages call the method that the one before did. */
function encodeMethod(name: string): string {
  if (name !== lastMethod.name) {
    const text = JSON.stringify(name)
    // A copy, since the name may be a part of a long message, all of which it would keep alive.
    lastMethod = { name: JSON.parse(text) as string, text }
  }
  return lastMethod.text
}

function encodeParams(params: Json | undefined): string {
  if (params === undefined) return ''
  const members = JsonText.is(params) ? params.lineMembers : undefined
  return members === undefined ? `,"params":${encodePayload(params)}` : `,"params":{${members}}`
}

function encodeError(error: RpcErrorObject): string {
  const data = error.data === undefined ? '' : `,"data":${encodePayload(error.data)}`
  return `{"code":${error.code},"message":${stringify(error.message)}${data}}`
}

function encodePayload(json: Json): string {
  return JsonText.is(json) ? json.line : stringify(json)
}
