import { type ByteTemplate, createByteTemplate, firstId } from '../byte-template.ts'
import type { Wire } from '../wire.ts'

/** Where requests go, and in which session. */
export interface Endpoint {
  readonly port: number
  readonly wire: Wire
  /** The session of a legacy client, once there is one. */
  readonly sessionId?: string | undefined
  /** Whether the handshake of a legacy client is over, after which it names the revision. */
  readonly opened?: boolean
}

/** A POST with one message, with all fields that a client of the era sends. */
export function postRequest(endpoint: Endpoint, message: string): string {
  const fields = [
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    ...mcpFields(endpoint),
  ]
  if (endpoint.wire.era === 'modern') {
    const { method, params } = JSON.parse(message) as { method: string; params?: { name?: string } }
    fields.push(`Mcp-Method: ${method}`)
    if (params?.name !== undefined) fields.push(`Mcp-Name: ${params.name}`)
  }
  fields.push(`Content-Length: ${Buffer.byteLength(message)}`)
  return `${head('POST', endpoint, fields)}${message}`
}

/** The POST of a template: the id can be patched in. */
export function postTemplate(endpoint: Endpoint, request: ByteTemplate): ByteTemplate {
  return createByteTemplate(postRequest(endpoint, request.bytes.toString('utf8').trimEnd()), firstId)
}

/** The GET with which a legacy client opens its stream. */
export function getRequest(endpoint: Endpoint): string {
  return head('GET', endpoint, ['Accept: text/event-stream', ...mcpFields(endpoint)])
}

function mcpFields({ wire, sessionId, opened }: Endpoint): readonly string[] {
  return [
    ...(wire.era === 'modern' || opened === true ? [`Mcp-Protocol-Version: ${wire.revision}`] : []),
    ...(sessionId === undefined ? [] : [`Mcp-Session-Id: ${sessionId}`]),
  ]
}

function head(method: string, { port }: Endpoint, fields: readonly string[]): string {
  return `${method} /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${fields.join('\r\n')}\r\n\r\n`
}
