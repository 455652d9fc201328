import { metaKey } from '../../src/meta.ts'
import type { JsonObject } from '../../src/jsonrpc/json.ts'
import { legacyRevision, modernRevision } from '../../src/revisions.ts'

/** The `_meta` of a modern request. */
export function modernMeta(more: JsonObject = {}): JsonObject {
  return {
    [metaKey.protocolVersion]: modernRevision,
    [metaKey.clientInfo]: { name: 'test', version: '1' },
    [metaKey.clientCapabilities]: {},
    ...more,
  }
}

export function modern(
  id: string | number,
  method: string,
  params: JsonObject = {},
  meta: JsonObject = {},
): JsonObject {
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta: modernMeta(meta) } }
}

export function legacy(id: string | number, method: string, params?: JsonObject): JsonObject {
  return { jsonrpc: '2.0', id, method, ...(params !== undefined && { params }) }
}

export function notification(method: string, params?: JsonObject): JsonObject {
  return { jsonrpc: '2.0', method, ...(params !== undefined && { params }) }
}

export function initialize(
  id: string | number,
  capabilities: JsonObject = {},
  revision: string = legacyRevision,
): JsonObject {
  const clientInfo = { name: 'test', version: '1' }
  return legacy(id, 'initialize', { protocolVersion: revision, capabilities, clientInfo })
}

export function callTool(name: string, args: JsonObject = {}): JsonObject {
  return { name, arguments: args }
}
