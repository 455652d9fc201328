import { createRevisionPolicy, isJsonObject, type JsonObject, modernRevision, type ServerView } from '@atenea/mcpcompat'
import {
  acknowledgement,
  checkEnvelope,
  checkParams,
  createModernCodec,
  createHttpLadder,
  discoverResult,
  inputRequestFault,
  metaOf,
  missingCapability,
  parseDiscoverResult,
  parseMessage,
  parseResult,
  planHeaders,
} from '@atenea/mcpcompat/transport'
import { describe, expect, test } from 'vitest'
import { specExamples, specFaults } from '../src/spec-schemas.ts'

const examples = specExamples().map((example) => ({ ...example, value: example.value as JsonObject }))
const ofType = (...types: string[]): typeof examples => {
  const chosen = examples.filter(({ type }) => types.includes(type))
  if (chosen.length === 0) throw new Error(`there is no example of ${types.join()}`)
  return chosen
}

describe('the guards accept what the specification shows', () => {
  test.each(ofType('DiscoverResult'))('$type: $name', ({ value }) => {
    expect(parseDiscoverResult(value)).toMatchObject({ valid: true, defects: [] })
  })

  test.each(ofType('InputRequiredResult'))('$type: $name', ({ value }) => {
    const parsed = parseResult('tools/call', value)
    if (parsed.kind !== 'input_required') throw new Error(JSON.stringify(parsed))
    expect([...(parsed.ask.inputRequests?.keys() ?? [])]).toEqual(
      Object.keys((value.inputRequests ?? {}) as JsonObject),
    )
    expect(parsed.ask.requestState).toBe(value.requestState)
  })

  test.each(ofType('CallToolResult', 'ListToolsResult', 'ReadResourceResult', 'CompleteResult', 'GetPromptResult'))(
    '$type: $name',
    ({ value }) => {
      expect(parseResult('tools/call', value)).toEqual({ kind: 'complete' })
    },
  )

  test.each(ofType('ElicitRequest', 'CreateMessageRequest'))('$type: $name', ({ value: { method, params } }) => {
    expect(inputRequestFault({ method, params })).toBeUndefined()
  })

  test.each(ofType('InputRequests'))('$type: $name', ({ value }) => {
    expect(Object.values(value).map(inputRequestFault)).toEqual(Object.keys(value).map(() => undefined))
  })

  const requests = examples.filter(
    ({ type, value }) => type.endsWith('Request') && isJsonObject(value.params) && metaOf(value.params) !== undefined,
  )
  test.each(requests)('$type: $name', ({ value }) => {
    const params = value.params as JsonObject
    expect(checkEnvelope(metaOf(params), { modern: [modernRevision], legacy: [] })).toBeUndefined()
    expect(checkParams(value.method as string, params)).toBeUndefined()
  })

  test.each(ofType('Tool'))('$type: $name', ({ value }) => {
    expect(planHeaders(value.inputSchema).ok).toBe(true)
  })

  test('there are requests among the examples', () => {
    expect(requests.length).toBeGreaterThan(5)
  })
})

describe('what the functions make is what the schema demands', () => {
  const view: ServerView = {
    info: { name: 's', version: '1' },
    capabilities: { tools: { listChanged: true } },
    instructions: 'i',
    has: () => false,
    headerPlan: () => undefined,
  }

  test('MC-DISC-04, MC-DISC-05: discovery', () => {
    expect(specFaults(modernRevision, 'DiscoverResult', discoverResult(view, createRevisionPolicy()))).toEqual([])
  })

  test('MC-SUB-03, MC-SUB-07: the acknowledgement of a subscription', () => {
    const codec = createModernCodec({ revision: modernRevision })
    const context = { progressToken: undefined, logLevel: undefined, resume: undefined }
    const listen = { method: 'subscriptions/listen', params: { notifications: {} } }
    const message = codec.encodeNotice(listen, acknowledgement({ resourceSubscriptions: ['a:1'] }), context, 'l')
    if (message === undefined) throw new Error('nothing is sent')
    const sent = { jsonrpc: '2.0', method: message.method, params: message.params }
    expect(specFaults(modernRevision, 'SubscriptionsAcknowledgedNotification', sent)).toEqual([])
  })

  test('MC-ERR-06: a missing capability', () => {
    const sent = { jsonrpc: '2.0', id: 1, error: missingCapability({ sampling: { tools: {} } }) }
    expect(specFaults(modernRevision, 'MissingRequiredClientCapabilityError', sent)).toEqual([])
  })

  const ladder = createHttpLadder({
    revisions: createRevisionPolicy(),
    allowedOrigins: [],
    maxBodyBytes: 1000,
    sessions: true,
  })
  const refusal = (claim: string, headers: Record<string, string>): JsonObject => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': claim,
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const text = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'x', params: { _meta: meta } })
    const head = { method: 'POST', headers }
    const first = ladder.message(head, parseMessage(text, 'parsed'), { revisionOf: () => undefined })
    const verdict = first.kind === 'modern' ? ladder.modern(head, first.request, first.revision, view) : first
    if (verdict.kind !== 'reject') throw new Error(verdict.kind)
    return { jsonrpc: '2.0', id: 1, error: verdict.error as unknown as JsonObject }
  }

  test.each([
    [
      'MC-ERR-07: a version that is not served',
      'UnsupportedProtocolVersionError',
      'v999',
      { 'mcp-protocol-version': 'v999' },
    ],
    ['MC-ERR-05: headers that differ', 'HeaderMismatchError', modernRevision, { 'mcp-protocol-version': 'v999' }],
  ])('%s', (_title, type, claim, headers) => {
    expect(specFaults(modernRevision, type, refusal(claim, headers))).toEqual([])
  })

  test('MC-ERR-12: a method that does not exist', () => {
    const sent = refusal(modernRevision, { 'mcp-protocol-version': modernRevision, 'mcp-method': 'x' })
    expect(specFaults(modernRevision, 'MethodNotFoundError', sent.error)).toEqual([])
  })
})
