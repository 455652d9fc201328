import type { ServerResponse } from 'node:http'
import { type JsonObject, legacyRevision, modernRevision } from '@atenea/mcpcompat'
import { type Arrived, json, plain, resultOf, type Script } from './scripted-server.ts'

export const discovery: JsonObject = {
  resultType: 'complete',
  supportedVersions: [modernRevision, legacyRevision],
  capabilities: { tools: { listChanged: true }, resources: { subscribe: true }, prompts: {} },
  ttlMs: 0,
  cacheScope: 'private',
  _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'scripted', version: '1.0.0' } },
}

/** A modern server that leaves everything but discovery to the test. */
export function modern(calls: Script): Script {
  return async (arrived, response, request) => {
    if (arrived.body['method'] === 'server/discover') json(response, 200, resultOf(arrived, discovery))
    else await calls(arrived, response, request)
  }
}

export interface LegacyScript {
  /** Requests but `initialize`. */
  readonly calls?: Script
  /** The stream of the session. Default 405. */
  readonly get?: Script
  /** Notifications and answers. Default 202. */
  readonly others?: Script
  readonly capabilities?: JsonObject
  readonly revision?: string
}

export interface LegacyState {
  /** Sessions that the server knows. A test forgets them. */
  readonly sessions: Set<string>
  /** How many were begun. */
  begun: number
}

/** A legacy server with sessions; what it does not know any more is 404. */
export function legacy(script: LegacyScript = {}): { readonly script: Script; readonly state: LegacyState } {
  const state: LegacyState = { sessions: new Set(), begun: 0 }
  const initialized = (arrived: Arrived, response: ServerResponse): void => {
    const id = `session-${++state.begun}`
    state.sessions.add(id)
    const result = {
      protocolVersion: script.revision ?? legacyRevision,
      capabilities: script.capabilities ?? {
        tools: { listChanged: true },
        resources: { subscribe: true },
        prompts: {},
        logging: {},
      },
      serverInfo: { name: 'scripted', version: '1.0.0' },
    }
    json(response, 200, resultOf(arrived, result), { 'mcp-session-id': id })
  }
  return {
    state,
    script: async (arrived, response, request) => {
      const { body, method, headers } = arrived
      if (body['method'] === 'server/discover') {
        json(response, 400, { jsonrpc: '2.0', id: null, error: { code: -32_600, message: 'Missing session' } })
        return
      }
      if (body['method'] === 'initialize') {
        initialized(arrived, response)
        return
      }
      const session = headers['mcp-session-id']
      if (session === undefined) plain(response, 400, 'Missing Mcp-Session-Id')
      else if (!state.sessions.has(session)) plain(response, 404, 'Session not found')
      else if (method === 'DELETE') {
        state.sessions.delete(session)
        plain(response, 204)
      } else if (method === 'GET') {
        if (script.get === undefined) plain(response, 405)
        else await script.get(arrived, response, request)
      } else if (body['method'] !== undefined && body['id'] !== undefined) {
        await script.calls?.(arrived, response, request)
      } else if (script.others === undefined) {
        plain(response, 202)
      } else {
        await script.others(arrived, response, request)
      }
    },
  }
}
