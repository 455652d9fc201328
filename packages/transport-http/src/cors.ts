import { headerName } from '@atenea/mcpcompat/transport'
import type { HeaderFields, HttpExchange } from './carrier/http-exchange.ts'

/** A day: the longest that some browser keeps it anyway. */
const preflightMaxAge = '86400'

/** What a page may read of an answer beyond what all pages may. */
const exposed = 'Mcp-Session-Id, WWW-Authenticate, Retry-After'

/** Fields with which a page of this origin, which is allowed, gets to read the answer. */
export function corsFields(origin: string): HeaderFields {
  return ['Access-Control-Allow-Origin', origin, 'Vary', 'Origin', 'Access-Control-Expose-Headers', exposed]
}

/** Whether a browser asks if a page may send a request at all. */
export function isPreflight({ method, headers }: HttpExchange): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
}

/**
 * Answers a preflight of an allowed origin. The names of `Mcp-Param-*` fields depend on the tools, so whatever header the page
 * means to send is allowed: what it may do is decided by the request itself.
 */
export function answerPreflight(exchange: HttpExchange): void {
  const { headers } = exchange
  const asked = headers['access-control-request-headers']
  const fields = [
    'Access-Control-Allow-Methods',
    'GET, POST, DELETE',
    'Access-Control-Allow-Headers',
    asked !== undefined && /^[\w\-, \t!#$%&'*+.^`|~]*$/.test(asked) ? asked : defaultHeaders,
    'Access-Control-Max-Age',
    preflightMaxAge,
  ]
  // a page of the public web asks a server on this machine
  if (headers['access-control-request-private-network'] === 'true')
    fields.push('Access-Control-Allow-Private-Network', 'true')
  exchange.whole(204, fields, '')
}

const defaultHeaders = ['authorization', 'content-type', 'accept', ...Object.values(headerName)].join(', ')
