import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ServerView } from './contract/dispatcher.ts'
import {
  createHttpLadder,
  type HttpDispatch,
  type HttpHead,
  type HttpLadder,
  type HttpLadderPolicy,
  type HttpVerdict,
  type SessionLookup,
} from './http-ladder.ts'
import { loopbackHosts } from './http-source.ts'
import type { JsonObject } from './jsonrpc/json.ts'
import type { RpcMessage, RpcReject } from './jsonrpc/message.ts'
import { parseMessage } from './jsonrpc/parse.ts'
import { claimOf, metaOf } from './meta.ts'
import { planHeaders } from './param-headers.ts'

const policy: HttpLadderPolicy = {
  revisions: { modern: ['2026-07-28'], legacy: ['2025-06-18', '2025-03-26'] },
  allowedOrigins: ['http://localhost:3000'],
  allowedHosts: loopbackHosts,
  maxBodyBytes: 1000,
  sessions: true,
}
const dual = createHttpLadder(policy)
const modernOnly = createHttpLadder({ ...policy, revisions: { modern: ['2026-07-28'], legacy: [] } })
const legacyOnly = createHttpLadder({ ...policy, revisions: { modern: [], legacy: ['2025-06-18'] } })
const sessionless = createHttpLadder({ ...policy, sessions: false })

const planned = planHeaders({ properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } })
const view: ServerView = {
  info: { name: 's', version: '1' },
  capabilities: {},
  has: (method) => ['tools/list', 'tools/call', 'resources/read', 'subscriptions/listen'].includes(method),
  headerPlan: (tool) => (tool === 'sql' && planned.ok ? planned.plan : undefined),
}
const sessions: SessionLookup = { revisionOf: (id) => (id === 's1' ? '2025-06-18' : undefined) }

const version = 'io.modelcontextprotocol/protocolVersion'
const meta = { [version]: '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} }
const modern = { 'mcp-protocol-version': '2026-07-28' }
const handshake = { method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {} } }

/** Steps 7 to 27. */
function judge(ladder: HttpLadder, head: HttpHead, message: RpcMessage | RpcReject): HttpVerdict | HttpDispatch {
  const verdict = ladder.message(head, message, sessions)
  return verdict.kind === 'modern' ? ladder.modern(head, verdict.request, verdict.revision, view) : verdict
}

/** What a ladder says to a body that came by POST: `9 400 -32600 none`, or the kind of the verdict. */
function say(ladder: HttpLadder, body: JsonObject | string, headers: Record<string, string> = {}): string {
  const head: HttpHead = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } }
  const early = ladder.source(head) ?? ladder.head(head, sessions)
  const text = typeof body === 'string' ? body : JSON.stringify({ jsonrpc: '2.0', ...body })
  const verdict = early ?? judge(ladder, head, parseMessage(text, 'parsed'))
  const relayed = early ?? judge(ladder, head, parseMessage(text, 'text'))
  expect(relayed.kind).toBe(verdict.kind)
  if (verdict.kind !== 'reject') return verdict.kind
  const { step, status, error, id } = verdict
  return [step, status, error?.code ?? 'empty', id ?? 'none'].join(' ')
}

describe('decisions 2.1, steps 1 to 6: before the body', () => {
  const call = { id: 1, method: 'tools/list', params: { _meta: meta } }
  const good = { ...modern, 'mcp-method': 'tools/list' }

  test.each<[Record<string, string>, string, string]>([
    [{ origin: 'http://evil.example' }, '1 403 -32600 none', 'MH-EP-03: a page of somebody else'],
    [{ origin: 'null' }, '1 403 -32600 none', 'MH-EP-03: an opaque origin'],
    [{ host: 'evil.example' }, '1 403 -32600 none', 'another host'],
    [{ origin: 'http://localhost:3000', host: 'localhost:1' }, 'dispatch', 'MH-EP-02: a page of the list'],
    [{ 'content-type': 'text/plain' }, '4 415 -32600 none', 'A-20, A-52'],
    [{ 'content-type': '' }, '4 415 -32600 none', 'none'],
    [{ 'content-type': 'application/json; charset=utf-8' }, 'dispatch', 'a parameter'],
    [{ accept: 'text/html' }, '5 406 -32600 none', 'A-52: neither form'],
    [{ accept: 'application/json' }, 'dispatch', 'A-20: JSON alone'],
    [{ accept: 'text/event-stream' }, 'dispatch', 'A-20: SSE alone'],
    [{ 'content-length': '1000' }, 'dispatch', 'exactly the limit'],
    [{ 'content-length': '1001' }, '6 413 -32600 none', 'A-52: one more'],
    [{ 'content-length': 'x' }, 'dispatch', 'a length that is none is for the reader of the body'],
    [{ origin: 'null', 'content-type': 'text/plain', accept: 'x/y' }, '1 403 -32600 none', 'A-09: step 1 first'],
    [
      { 'content-type': 'text/plain', accept: 'x/y', 'content-length': '9999' },
      '4 415 -32600 none',
      'A-09: step 4 before 5',
    ],
    [{ accept: 'x/y', 'content-length': '9999' }, '5 406 -32600 none', 'A-09: step 5 before 6'],
  ])('%j: %s (%s)', (headers, verdict) => {
    expect(say(dual, call, { ...good, ...headers })).toBe(verdict)
  })

  test('step 6: a body that grew too large is refused the same way', () => {
    expect(dual.tooLarge()).toMatchObject({
      step: 6,
      status: 413,
      error: { code: -32600, message: expect.stringContaining('1000') },
    })
  })
})

describe('decisions 2.2: requests without a message (step 3)', () => {
  const ask = (ladder: HttpLadder, method: string, headers: Record<string, string>): object | undefined =>
    ladder.head({ method, headers }, sessions)
  const sse = { accept: 'text/event-stream' }

  test.each<[HttpLadder, string, Record<string, string>, object, string]>([
    [dual, 'GET', { 'mcp-session-id': 's1', ...sse }, { kind: 'stream', sessionId: 's1' }, 'LG-GET-02'],
    [dual, 'GET', { 'mcp-session-id': 's1' }, { kind: 'stream', sessionId: 's1' }, 'A-20: no Accept'],
    [dual, 'GET', { 'mcp-session-id': 's1', accept: 'application/json' }, { kind: 'reject', status: 406 }, 'no SSE'],
    [
      dual,
      'GET',
      { 'mcp-session-id': 's1', 'mcp-protocol-version': '2025-06-18' },
      { kind: 'stream' },
      'the right version',
    ],
    [
      dual,
      'GET',
      { 'mcp-session-id': 's1', 'mcp-protocol-version': '2025-03-26' },
      { kind: 'reject', status: 400 },
      'LG-HTTP-11',
    ],
    [dual, 'GET', sse, { kind: 'reject', status: 400 }, 'LG-SESS-04: no id'],
    [dual, 'GET', { 'mcp-session-id': 'gone', ...sse }, { kind: 'reject', status: 404 }, 'LG-SESS-05'],
    [dual, 'DELETE', { 'mcp-session-id': 's1' }, { kind: 'end', sessionId: 's1' }, 'LG-SESS-07'],
    [dual, 'DELETE', { 'mcp-session-id': ' s1 ' }, { kind: 'end', sessionId: 's1' }, 'MH-HDR-09: blanks around the id'],
    [dual, 'DELETE', { 'mcp-session-id': 'gone' }, { kind: 'reject', status: 404 }, 'LG-SESS-05'],
    [dual, 'DELETE', {}, { kind: 'reject', status: 400 }, 'LG-SESS-04'],
    [
      dual,
      'PUT',
      { 'mcp-session-id': 's1' },
      { kind: 'reject', status: 405, allow: 'GET, POST, DELETE' },
      'another method',
    ],
    [dual, 'post', {}, { kind: 'reject', status: 405 }, 'methods are case-sensitive'],
    [
      modernOnly,
      'GET',
      { 'mcp-session-id': 's1', ...sse },
      { kind: 'reject', status: 405, allow: 'POST' },
      'MH-ERA-06',
    ],
    [modernOnly, 'DELETE', { 'mcp-session-id': 's1' }, { kind: 'reject', status: 405, allow: 'POST' }, 'MH-ERA-06'],
    [sessionless, 'GET', sse, { kind: 'reject', status: 405, allow: 'POST' }, 'no sessions, no stream'],
    [sessionless, 'DELETE', {}, { kind: 'reject', status: 405, allow: 'POST' }, 'no sessions'],
  ])('%s %s %j: %j (%s)', (ladder, method, headers, verdict) => {
    expect(ask(ladder, method, headers)).toMatchObject(verdict)
  })

  test('A-52: a 405 has no error', () => {
    expect(ask(modernOnly, 'GET', {})).toEqual({ kind: 'reject', step: 3, status: 405, allow: 'POST' })
  })
})

describe('decisions 2.1, steps 7 to 12: what is no request', () => {
  const notify = (more: JsonObject = {}): JsonObject => ({ method: 'notifications/cancelled', ...more })

  test.each<[JsonObject | string, Record<string, string>, string, string]>([
    ['{', {}, '7 400 -32700 none', 'MC-MSG-15: no JSON'],
    ['', {}, '7 400 -32700 none', 'nothing'],
    ['[]', {}, '8 400 -32600 none', 'MC-MSG-13: an array'],
    ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', {}, '8 400 -32600 none', 'MC-MSG-13, LG-MSG-05, BR-118: a batch'],
    [{ id: 1, result: {} }, {}, '9 400 -32600 none', 'MC-MSG-10, MH-POST-04: no session'],
    [{ id: 1, result: {} }, { 'mcp-session-id': 'gone' }, '9 400 -32600 none', 'a session that is gone'],
    [{ id: 1, result: {} }, { 'mcp-session-id': 's1' }, 'session', 'the answer to a question of the server'],
    [{ id: 1, result: {} }, { 'mcp-session-id': ' s1 ' }, 'session', 'MH-HDR-09: blanks around the id'],
    [{ id: 1, error: { code: 1, message: 'm' } }, { 'mcp-session-id': 's1' }, 'session', 'a refusal'],
    [{ id: 1, result: {} }, { 'mcp-session-id': 's1', ...modern }, '9 400 -32600 none', 'another revision'],
    [{ id: 1, method: 5 }, {}, '10 400 -32600 1', 'MC-MSG-15: id kept'],
    [{ id: null, method: 'x' }, {}, '10 400 -32600 none', 'MC-ID-02: null'],
    [{ id: 1.5, method: 'x' }, {}, '10 400 -32600 none', 'MC-ID-01: a fraction'],
    [{ id: 0, method: 'x', params: [] }, {}, '10 400 -32600 0', 'A-23: id kept, zero too'],
    [notify(), modern, 'accepted', 'MH-POST-05, A-19: a modern header'],
    [notify({ params: { _meta: meta } }), {}, 'accepted', 'A-19: a claim, no header'],
    [notify({ params: { _meta: { [version]: 5 } } }), {}, 'accepted', 'A-19: nothing is required'],
    [notify(), { 'mcp-protocol-version': '2099-01-01' }, 'accepted', 'a future revision'],
    [notify(), { ...modern, 'mcp-method': 'notifications/cancelled' }, 'accepted', 'headers that agree'],
    [notify(), { ...modern, 'mcp-method': 'notifications/other' }, '11 400 -32020 none', 'A-19: another method'],
    [
      notify({ params: { _meta: meta } }),
      { 'mcp-protocol-version': '2025-06-18' },
      '11 400 -32020 none',
      'A-19: another version',
    ],
    [notify({ params: { _meta: { [version]: 5 } } }), modern, '11 400 -32020 none', 'A-19: another version'],
    [notify(), { ...modern, 'mcp-session-id': 's1' }, 'accepted', 'MH-ERA-07: no session for a modern one'],
    [notify(), { 'mcp-session-id': 's1' }, 'session', 'LG-HTTP-04'],
    [notify(), { 'mcp-session-id': 'gone' }, '12 404 -32600 none', 'LG-SESS-05'],
    [notify(), {}, '12 400 -32600 none', 'LG-SESS-04, MH-POST-06'],
    [notify(), { 'mcp-protocol-version': 'v999' }, '12 400 -32600 none', 'an unknown revision is no modern one'],
  ])('%j under %j: %s (%s)', (body, headers, verdict) => {
    expect(say(dual, body, headers)).toBe(verdict)
  })

  test.each<[HttpLadder, Record<string, string>, string, string]>([
    [modernOnly, {}, 'accepted', 'A-19: no header is required'],
    [modernOnly, { 'mcp-protocol-version': '2025-06-18' }, '12 400 -32022 none', 'a legacy revision'],
    [modernOnly, { 'mcp-session-id': 's1' }, 'accepted', 'MH-ERA-07'],
    [legacyOnly, modern, '12 400 -32600 none', 'no session'],
    [legacyOnly, { 'mcp-session-id': 's1', ...modern }, '12 400 -32600 none', 'LG-HTTP-11: another revision'],
    [sessionless, { 'mcp-protocol-version': '2025-06-18' }, 'sessionless', 'no sessions'],
    [sessionless, {}, '12 400 -32600 none', 'A-48'],
  ])('%s, a notification under %j: %s (%s)', (ladder, headers, verdict) => {
    expect(say(ladder, notify(), headers)).toBe(verdict)
  })

  test('a response to a modern-only server is refused, whatever its session', () => {
    expect(say(modernOnly, { id: 1, result: {} }, { 'mcp-session-id': 's1' })).toBe('9 400 -32600 none')
  })
})

describe('decisions 2.1, steps 13 to 15: requests without a claim', () => {
  const list = (params?: JsonObject): JsonObject => ({ id: 7, method: 'tools/list', ...(params && { params }) })
  const initialize = { id: 7, ...handshake }

  test.each<[JsonObject, Record<string, string>, string, string]>([
    [initialize, {}, 'initialize', 'A17, A-48: needs no header'],
    [initialize, { 'mcp-protocol-version': '2025-06-18' }, 'initialize', ''],
    [
      initialize,
      { 'mcp-protocol-version': '2025-03-26' },
      'initialize',
      'A16, A-62: an early header of another legacy one',
    ],
    [initialize, { 'mcp-protocol-version': '1999-01-01' }, 'initialize', 'A-62: a legacy one that never was'],
    [initialize, modern, '13 400 -32020 7', 'A-61: a modern header on a legacy handshake'],
    [initialize, { 'mcp-protocol-version': 'v999' }, '13 400 -32020 7', 'A-62: an unknown one'],
    [{ ...initialize, params: { _meta: { [version]: '2025-06-18' } } }, {}, 'initialize', 'a claim for a legacy one'],
    [list(), modern, '14 400 -32602 7', 'A14, MC-REQ-05: a broken modern request'],
    [list({}), modern, '14 400 -32602 7', 'A14: no _meta'],
    [list({ _meta: {} }), modern, '14 400 -32602 7', 'A14: an empty one'],
    [list(), { 'mcp-protocol-version': 'v999' }, '14 400 -32602 7', 'an unknown revision'],
    [list(), { 'mcp-protocol-version': '2026-07-28, 2026-07-28' }, '14 400 -32602 7', 'A-53: the header twice'],
    [list(), { 'mcp-session-id': 's1', ...modern }, '14 400 -32602 7', 'A14: never a legacy downgrade'],
    [list(), { 'mcp-session-id': 's1' }, 'session', 'A17, A-48: the session knows'],
    [list(), { 'mcp-session-id': 's1', 'mcp-protocol-version': ' 2025-06-18 ' }, 'session', 'LG-HTTP-09'],
    [
      list(),
      { 'mcp-session-id': 's1', 'mcp-protocol-version': '2025-03-26' },
      '15 400 -32600 7',
      'A16, LG-HTTP-11: id kept',
    ],
    [list(), { 'mcp-session-id': 's1', 'mcp-protocol-version': '1999-01-01' }, '15 400 -32600 7', 'LG-HTTP-11'],
    [list(), { 'mcp-session-id': 'gone' }, '15 404 -32600 7', 'LG-SESS-05, A-46'],
    [list(), { 'mcp-session-id': '' }, '15 404 -32600 7', 'an empty id'],
    [list(), { 'mcp-session-id': ' s1\t' }, 'session', 'MH-HDR-09: blanks around the id'],
    [list(), { 'mcp-session-id': 'S1' }, '15 404 -32600 7', 'case of the id'],
    [list(), { 'mcp-session-id': 's1, s1' }, '15 404 -32600 7', 'A-53: the header twice'],
    [list(), { 'mcp-protocol-version': '2025-06-18' }, '15 400 -32600 7', 'LG-SESS-04'],
    [list(), {}, '15 400 -32600 7', 'A-48'],
  ])('%j under %j: %s (%s)', (body, headers, verdict) => {
    expect(say(dual, body, headers)).toBe(verdict)
  })

  test.each<[JsonObject, Record<string, string>, string, string]>([
    [initialize, {}, '13 400 -32022 7', 'A-24, MC-ERA-13'],
    [initialize, { 'mcp-protocol-version': '2025-06-18' }, '13 400 -32022 7', 'A-24'],
    [initialize, modern, '13 400 -32020 7', 'step 13'],
    [{ ...initialize, params: {} }, {}, '13 400 -32602 7', 'A-57: asks for no version'],
    [list(), modern, '14 400 -32602 7', 'A-24'],
    [list(), { 'mcp-protocol-version': 'v999' }, '14 400 -32602 7', 'A-24: unknown'],
    [list(), { 'mcp-protocol-version': '2025-06-18' }, '15 400 -32022 7', 'A-24: names a legacy revision'],
    [list(), {}, '15 400 -32020 7', 'A-24, MH-HDR-04'],
    [list(), { 'mcp-session-id': 's1' }, '15 400 -32020 7', 'MH-ERA-07: the session is ignored'],
  ])('modern only: %j under %j: %s (%s)', (body, headers, verdict) => {
    expect(say(modernOnly, body, headers)).toBe(verdict)
  })

  test('A-24, MC-VER-05: refusals of a modern-only server name the versions', () => {
    const error = (body: JsonObject, headers: Record<string, string>): unknown => {
      const head = { method: 'POST', headers }
      const text = JSON.stringify({ jsonrpc: '2.0', ...body })
      const verdict = modernOnly.message(head, parseMessage(text, 'parsed'), sessions)
      return verdict.kind === 'reject' ? verdict.error : verdict
    }
    const data = { supported: ['2026-07-28'], requested: '2025-06-18' }
    expect(error(initialize, {})).toMatchObject({ code: -32022, data })
    expect(error(list(), { 'mcp-protocol-version': '2025-06-18' })).toMatchObject({ code: -32022, data })
    expect(error(list(), {})).toMatchObject({ message: expect.stringContaining('2026-07-28') })
    expect(error(list(), modern)).toMatchObject({ message: expect.stringMatching(/protocolVersion.*2026-07-28/) })
  })

  test.each<[JsonObject, Record<string, string>, string, string]>([
    [initialize, {}, 'initialize', ''],
    [list(), { 'mcp-session-id': 's1' }, 'session', ''],
    [list(), modern, '14 400 -32022 7', 'LG-HTTP-11: not served'],
    [list({ _meta: meta }), modern, '18 400 -32022 7', 'MC-VER-01: a claim is refused with what is served'],
  ])('legacy only: %j under %j: %s %s', (body, headers, verdict) => {
    expect(say(legacyOnly, body, headers)).toBe(verdict)
  })

  test.each<[Record<string, string>, string, string]>([
    [{ 'mcp-protocol-version': '2025-03-26' }, 'sessionless', 'the header tells'],
    [{ 'mcp-protocol-version': '2024-11-05' }, '15 400 -32600 7', 'not served'],
    [{}, '15 400 -32600 7', 'A-48: nothing tells'],
    [
      { 'mcp-session-id': 'x', 'mcp-protocol-version': '2025-06-18' },
      '15 404 -32600 7',
      'LG-SESS-05: nobody gave that id',
    ],
  ])('without sessions, under %j: %s (%s)', (headers, verdict) => {
    expect(say(sessionless, list(), headers)).toBe(verdict)
  })
})

describe('decisions 2.1, steps 16 to 27: requests with a claim', () => {
  const send = (method: string, params: JsonObject = {}): JsonObject => ({
    id: 'r',
    method,
    params: { _meta: meta, ...params },
  })
  const claiming = (value: unknown, more: JsonObject = {}): JsonObject =>
    ({ id: 'r', method: 'tools/list', params: { _meta: { ...meta, [version]: value, ...more } } }) as JsonObject
  const head = (method: string, more: Record<string, string> = {}): Record<string, string> => ({
    ...modern,
    'mcp-method': method,
    ...more,
  })

  test.each<[JsonObject, Record<string, string>, string, string]>([
    [claiming(5), {}, '16 400 -32602 r', 'MC-REQ-01'],
    [claiming(null), modern, '16 400 -32602 r', 'step 16 before 17'],
    [claiming('v999'), modern, '17 400 -32020 r', 'MH-HDR-02: step 17 before 18'],
    [claiming('2026-07-28'), { 'mcp-protocol-version': '2025-06-18' }, '17 400 -32020 r', 'MH-HDR-02'],
    [claiming('2026-07-28'), { 'mcp-protocol-version': '' }, '17 400 -32020 r', 'an empty header differs'],
    [claiming('2026-07-28'), { 'mcp-protocol-version': '2026-07-28, 2026-07-28' }, '17 400 -32020 r', 'A-53: twice'],
    [claiming('v999'), { 'mcp-protocol-version': 'v999' }, '18 400 -32022 r', 'MH-HDR-03, MC-VER-01'],
    [claiming('v999'), {}, '18 400 -32022 r', 'step 18 before 19'],
    [claiming('2025-06-18'), { 'mcp-protocol-version': '2025-06-18' }, '18 400 -32022 r', 'A-26'],
    [
      claiming('2025-06-18'),
      { 'mcp-protocol-version': '2025-06-18', 'mcp-session-id': 's1' },
      '18 400 -32022 r',
      'A-26: in a session too',
    ],
    [claiming('2026-07-28'), {}, '19 400 -32020 r', 'MH-HDR-10'],
    [
      claiming('2026-07-28', { 'io.modelcontextprotocol/clientCapabilities': 5 }),
      {},
      '19 400 -32020 r',
      'step 19 before 20',
    ],
    [
      claiming('2026-07-28', { 'io.modelcontextprotocol/clientCapabilities': 5 }),
      modern,
      '20 400 -32602 r',
      'MC-REQ-02, MC-REQ-06: before 21',
    ],
    [claiming('2026-07-28', { progressToken: 1.5 }), head('x'), '20 400 -32602 r', 'MC-PROG-01'],
    [send('tools/list'), modern, '21 400 -32020 r', 'MH-HDR-10: no Mcp-Method'],
    [send('nothing/such'), head('tools/list'), '21 400 -32020 r', 'step 21 before 23'],
    [send('tools/call', { name: 'sql' }), head('tools/call'), '21 400 -32020 r', 'MH-HDR-10: no Mcp-Name'],
    [
      send('tools/call', { name: 'sql' }),
      head('tools/call', { 'mcp-name': 'x' }),
      '21 400 -32020 r',
      'B5, MH-VAL-01, MH-VAL-02: id kept',
    ],
    [send('nothing/such'), head('nothing/such'), '23 404 -32601 r', 'MH-POST-10, MC-ERR-12'],
    [send('tools/call', {}), head('tools/call'), '21 400 -32020 r', 'step 22 before 24'],
    [send('prompts/get', { name: 5 }), head('prompts/get'), '21 400 -32020 r', 'step 22 before 23'],
    [
      send('prompts/get', { name: 'p', arguments: 5 }),
      head('prompts/get', { 'mcp-name': 'p' }),
      '23 404 -32601 r',
      'step 23 before 24',
    ],
    [send('ping'), head('ping'), '23 404 -32601 r', 'MC-DEP-02'],
    [send('initialize', handshake.params), head('initialize'), '23 404 -32601 r', 'MC-DEP-02, A-61'],
    [
      send('tools/call', { name: 'sql', arguments: [] }),
      head('tools/call', { 'mcp-name': 'sql' }),
      '24 200 -32602 r',
      'A-10',
    ],
    [send('tools/list', { cursor: 5 }), head('tools/list'), '24 200 -32602 r', 'A-10'],
    [
      send('tools/call', { name: 'sql', arguments: { region: 'eu' } }),
      head('tools/call', { 'mcp-name': 'sql' }),
      '25 400 -32020 r',
      'MH-VAL-04',
    ],
    [
      send('tools/call', { name: 'sql', arguments: { region: 'eu' } }),
      head('tools/call', { 'mcp-name': 'sql', 'mcp-param-region': 'us' }),
      '25 400 -32020 r',
      'MH-VAL-03',
    ],
    [
      send('tools/call', { name: 'sql', arguments: { region: 'eu' } }),
      head('tools/call', { 'mcp-name': 'sql', 'mcp-param-region': 'eu' }),
      'dispatch',
      'MH-VAL-03',
    ],
    [
      send('tools/call', { name: 'other', arguments: { region: 'eu' } }),
      head('tools/call', { 'mcp-name': 'other' }),
      'dispatch',
      'no plan',
    ],
    [
      send('tools/call', { name: '__proto__' }),
      head('tools/call', { 'mcp-name': '__proto__' }),
      'dispatch',
      'E13: a name is a name',
    ],
    [send('server/discover'), head('server/discover'), 'dispatch', 'MC-DISC-01: always there'],
    [send('tools/list'), head('tools/list', { 'mcp-session-id': 'gone' }), 'dispatch', 'MH-ERA-07'],
    [send('tools/list'), head('tools/list', { 'last-event-id': '7' }), 'dispatch', 'MH-ERA-08'],
    [
      send('tools/list'),
      { 'mcp-protocol-version': ' 2026-07-28\t', 'mcp-method': '\ttools/list ' },
      'dispatch',
      'MH-HDR-09',
    ],
    [send('subscriptions/listen', { notifications: {} }), head('subscriptions/listen'), 'dispatch', 'MH-SSE-04'],
    [
      send('subscriptions/listen', { notifications: {} }),
      head('subscriptions/listen', { accept: 'application/json' }),
      '27 406 -32600 r',
      'A-20',
    ],
  ])('%j under %j: %s (%s)', (body, headers, verdict) => {
    expect(say(dual, body, headers)).toBe(verdict)
  })

  test('the verdict says which revision and which forms', () => {
    const request = parseMessage(JSON.stringify({ jsonrpc: '2.0', ...send('tools/list') }), 'parsed')
    const verdict = (accept: string): unknown =>
      judge(dual, { method: 'POST', headers: { ...head('tools/list'), accept } }, request)
    expect(verdict('application/json')).toEqual({
      kind: 'dispatch',
      revision: '2026-07-28',
      forms: { json: true, sse: false },
    })
    expect(verdict('*/*')).toEqual({ kind: 'dispatch', revision: '2026-07-28', forms: { json: true, sse: true } })
  })

  test('A-25, MC-ERR-07: what is served is listed, modern first', () => {
    const refused = dual.message(
      { method: 'POST', headers: { 'mcp-protocol-version': 'v999' } },
      parseMessage(JSON.stringify({ jsonrpc: '2.0', ...claiming('v999') }), 'parsed'),
      sessions,
    )
    expect(refused).toMatchObject({
      error: { data: { supported: ['2026-07-28', '2025-06-18', '2025-03-26'], requested: 'v999' } },
    })
  })
})

describe('field reports', () => {
  const initialize = { id: 7, ...handshake }
  const list = { id: 7, method: 'tools/list' }

  test('A14: a modern header over a body without _meta is an error, never a legacy request', () => {
    expect(say(dual, { ...list, params: {} }, modern)).toBe('14 400 -32602 7')
    expect(say(dual, { ...list, params: {} }, { ...modern, 'mcp-session-id': 's1' })).toBe('14 400 -32602 7')
  })

  test('A16: a handshake is served from its body, a later request with another revision is 400', () => {
    expect(say(dual, initialize, { 'mcp-protocol-version': '2025-03-26' })).toBe('initialize')
    expect(say(dual, list, { 'mcp-session-id': 's1', 'mcp-protocol-version': '2025-03-26' })).toBe('15 400 -32600 7')
  })

  test('A17: neither the handshake nor a request of a session needs the version header', () => {
    expect(say(dual, initialize)).toBe('initialize')
    expect(say(dual, list, { 'mcp-session-id': 's1' })).toBe('session')
  })

  test.each<[Record<string, string>, string]>([
    [{ 'mcp-method': 'tools/call', 'mcp-name': 'b' }, 'another name'],
    [{ 'mcp-name': 'a' }, 'no method'],
    [{ 'mcp-method': 'Tools/Call', 'mcp-name': 'a' }, 'case of the value'],
    [{ 'mcp-method': 'tools/call', 'mcp-name': 'a, a' }, 'a header sent twice'],
  ])('B5: MC-ERR-05: headers %j are refused with 400 and -32020 under the id of the request (%s)', (headers) => {
    const body = { id: 'r', method: 'tools/call', params: { _meta: meta, name: 'a' } }
    expect(say(dual, body, { ...modern, ...headers })).toBe('21 400 -32020 r')
  })
})

describe('whatever comes', () => {
  const headers = fc.dictionary(
    fc.constantFrom(
      'origin',
      'host',
      'accept',
      'content-type',
      'content-length',
      'mcp-protocol-version',
      'mcp-method',
      'mcp-name',
      'mcp-session-id',
      'mcp-param-region',
    ),
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('2026-07-28', '2025-06-18', 's1', 'tools/call', 'application/json'),
    ),
  )
  const envelope = fc.record(
    {
      jsonrpc: fc.constant('2.0'),
      id: fc.oneof(fc.jsonValue(), fc.integer()),
      method: fc.oneof(fc.string(), fc.constantFrom('tools/call', 'initialize', 'server/discover')),
      params: fc.oneof(
        fc.jsonValue(),
        fc.record({
          _meta: fc.oneof(fc.constant(meta), fc.jsonValue()),
          name: fc.jsonValue(),
          arguments: fc.jsonValue(),
        }),
      ),
      result: fc.jsonValue(),
    },
    { requiredKeys: ['jsonrpc'] },
  )
  const body = fc.oneof(
    fc.json(),
    fc.string(),
    envelope.map((value) => JSON.stringify(value)),
  )

  test('A14: nothing makes it throw, no refusal has a 2xx but step 24, and a claim never reaches a session', () => {
    fc.assert(
      fc.property(fc.constantFrom(dual, modernOnly, legacyOnly, sessionless), headers, body, (ladder, given, text) => {
        const head: HttpHead = { method: 'POST', headers: given }
        const message = parseMessage(text, 'parsed')
        const verdicts = [ladder.source(head), ladder.head(head, sessions), judge(ladder, head, message)]
        for (const verdict of verdicts) {
          const isBad = verdict?.kind === 'reject' && verdict.status < 400 && verdict.step !== 24
          expect(isBad).toBe(false)
        }
        const isClaimed =
          message.kind === 'request' && message.method !== 'initialize' && claimOf(metaOf(message.params)) !== undefined
        expect(isClaimed && verdicts[2]?.kind === 'session').toBe(false)
      }),
      { numRuns: 1000 },
    )
  })
})
