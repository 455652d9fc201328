import { canonicalize, type JsonObject, type JsonValue } from '@atenea/mcpcompat'
import {
  decodeHeaderValue,
  encodeHeaderArgument,
  HeaderValueError,
  paramHeaders,
  planHeaders,
} from '@atenea/mcpcompat/transport'
import { type Accept, given, type Kind, text } from './kind.ts'

/** What a value that must not be sent becomes. */
function refusable(run: () => JsonObject): JsonObject {
  try {
    return run()
  } catch (error) {
    if (error instanceof HeaderValueError) return { refused: error.reason }
    throw error
  }
}

/** A refusal is expected where neither a header nor its absence is; the name of that member is free. */
function acceptRefusal(member: string): Accept {
  return (expect, actual) =>
    actual['refused'] !== undefined && expect[member] === undefined && expect['omit'] === undefined ? actual : expect
}

const headerEncode: Kind = {
  run: (input) =>
    refusable(() => {
      const value = given(input, 'value')
      const header = encodeHeaderArgument(value, typeof value === 'number' ? 'integer' : 'string')
      return header === undefined ? { omit: true } : { header }
    }),
  accept(expect, actual) {
    const { alsoAccept, ...rest } = acceptRefusal('header')(expect, actual)
    const others: readonly JsonValue[] = Array.isArray(alsoAccept) ? alsoAccept : []
    return others.some((other) => other === actual['header']) ? actual : rest
  },
}

const headerDecode: Kind = {
  run(input) {
    const value = decodeHeaderValue(text(input, 'header'))
    return value === undefined ? { invalid: true } : { value }
  },
}

const xmcpSchema: Kind = {
  run(input) {
    const planned = planHeaders(given(input, 'inputSchema'))
    if (!planned.ok) return { valid: false }
    return { valid: true, declarations: planned.plan.declarations.map((declaration) => ({ ...declaration })) }
  },
  // the order of declarations is not significant
  accept: (expect, actual) =>
    canonicalize(sorted(expect['declarations'])) === canonicalize(sorted(actual['declarations']))
      ? { ...expect, ...(actual['declarations'] !== undefined && { declarations: actual['declarations'] }) }
      : expect,
}

function sorted(value: JsonValue | undefined): JsonValue {
  return Array.isArray(value) ? (value as readonly JsonValue[]).map((entry) => canonicalize(entry)).toSorted() : null
}

const xmcpHeaders: Kind = {
  run: (input) =>
    refusable(() => {
      const planned = planHeaders(given(input, 'inputSchema'))
      return planned.ok ? { headers: paramHeaders(planned.plan, input['arguments']) } : { valid: false }
    }),
  accept: acceptRefusal('headers'),
}

export const headerKinds: Readonly<Record<string, Kind>> = {
  header_encode: headerEncode,
  header_decode: headerDecode,
  xmcp_schema: xmcpSchema,
  xmcp_headers: xmcpHeaders,
}
