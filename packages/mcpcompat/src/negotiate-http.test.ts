import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from './jsonrpc/json.ts'
import type { ProbeVerdict } from './negotiate.ts'
import { type HttpProbeAnswer, type HttpProbeContext, judgeHttpProbe } from './negotiate-http.ts'

const context: HttpProbeContext = { modern: ['2026-07-28'], legacy: ['2025-06-18'], requested: '2026-07-28' }
const twoModern: HttpProbeContext = { ...context, modern: ['2027-01-01', '2026-07-28'], requested: '2027-01-01' }

const json = { 'content-type': 'application/json' }
const html = { 'content-type': 'text/html; charset=utf-8' }
const answer = (status: number, body?: JsonValue, headers: Record<string, string> = json): HttpProbeAnswer => ({
  status,
  headers: body === undefined ? {} : headers,
  body: body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body),
})
const fail = (code: JsonValue, data?: JsonValue, id: JsonValue = 1): JsonObject => ({
  jsonrpc: '2.0',
  id,
  error: { code, message: 'm', ...(data !== undefined && { data }) },
})
const result = (value: JsonValue): JsonObject => ({ jsonrpc: '2.0', id: 1, result: value })
const discovered = (versions: JsonValue, more: JsonObject = {}): JsonObject =>
  result({ resultType: 'complete', supportedVersions: versions, capabilities: {}, ...more })

/** `H16 modern 2026-07-28`: the row, the verdict and the revision. */
function verdictOf(given: Parameters<typeof judgeHttpProbe>[0], where = context): string {
  const verdict = judgeHttpProbe(given, where)
  const kind = verdict.kind === 'legacy' && verdict.selected ? 'legacy-selected' : verdict.kind
  return [verdict.row, kind, ...('revision' in verdict ? [verdict.revision] : [])].join(' ')
}

describe('decisions 1.2: the answer to the probe', () => {
  test.each(['network-error', 'timeout', 'aborted'] as const)('H01, A-01: %s is an outage, never an era', (event) => {
    expect(judgeHttpProbe({ event }, context)).toMatchObject({ row: 'H01', kind: 'error', retryable: true })
  })

  test('H01: a status below 200 is no answer', () => {
    expect(verdictOf(answer(0))).toBe('H01 error')
    expect(judgeHttpProbe(answer(199), context)).toMatchObject({ row: 'H01', retryable: true })
  })

  test.each<[HttpProbeAnswer, string]>([
    [answer(401), 'no body'],
    [answer(401, fail(-32601), { ...json, 'www-authenticate': 'Bearer' }), 'the body says "method not found"'],
    [answer(401, fail(-32022, { supported: ['2026-07-28'] })), 'the body says a modern error'],
    [answer(407, 'proxy', html), 'a proxy asks'],
  ])('A7: H02, A-01: %j is no evidence (%s)', (given) => {
    expect(verdictOf(given)).toBe('H02 auth')
  })

  test('A7: H02, MC-AUTH-03: the challenge is kept', () => {
    const challenge = 'Bearer resource_metadata="https://example.com/m"'
    expect(judgeHttpProbe(answer(401, '', { 'www-authenticate': challenge }), context)).toEqual({
      kind: 'auth',
      row: 'H02',
      challenge,
    })
  })

  test.each<[HttpProbeAnswer, string, string]>([
    [answer(403), 'H03 error', 'no body'],
    [answer(403, fail(-32601)), 'H03 error', 'A7: whatever the body says'],
    [answer(403, fail(-32022, { supported: ['2026-07-28'] })), 'H03 error', 'a modern error behind a wall'],
    [
      answer(403, 'x', { 'www-authenticate': 'Bearer error="insufficient_scope", scope="a"' }),
      'H03 auth',
      'a scope is missing',
    ],
    [answer(403, 'x', { 'www-authenticate': 'Bearer error=INSUFFICIENT_SCOPE' }), 'H03 auth', 'case does not count'],
    [answer(403, 'x', { 'www-authenticate': 'Bearer error="invalid_token"' }), 'H03 error', 'another reason'],
  ])('H03, A-01: %j: %s (%s)', (given, verdict) => {
    expect(verdictOf(given)).toBe(verdict)
  })

  test.each([402, 408, 413, 421, 425, 426, 429, 431, 451])(
    'H04, A-01: %d is an error unless a modern server speaks',
    (status) => {
      expect(verdictOf(answer(status))).toBe('H04 error')
      expect(verdictOf(answer(status, fail(-32601)))).toBe('H04 error')
      expect(verdictOf(answer(status, fail(-32020)))).toBe('H13 error')
    },
  )

  test('H04: a throttle may be retried, and says when', () => {
    const throttled = judgeHttpProbe(answer(429, '', { 'retry-after': '7' }), context)
    expect(throttled).toMatchObject({ kind: 'error', retryable: true, retryAfter: '7' })
    const retryable = [408, 413, 421, 425, 426, 429, 431].map((status) => judgeHttpProbe(answer(status), context))
    expect(retryable.map((verdict) => verdict.kind === 'error' && verdict.retryable)).toEqual([
      true,
      false,
      false,
      true,
      false,
      true,
      false,
    ])
  })

  test.each([500, 502, 503, 504, 599])('H05, A-01: %d is an error whatever the body says', (status) => {
    expect(verdictOf(answer(status, discovered(['2026-07-28'])))).toBe('H05 error')
    expect(verdictOf(answer(status, fail(-32022, { supported: ['2026-07-28'] })))).toBe('H05 error')
    expect(judgeHttpProbe(answer(status), context)).toMatchObject({ retryable: true })
  })

  test.each<[number, string, string | undefined, string, string]>([
    [307, '/mcp/', 'https://example.com/mcp', 'H06 follow', 'a path'],
    [308, 'https://EXAMPLE.com:443/x', 'https://example.com/mcp', 'H06 follow', 'the same origin in other words'],
    [307, 'https://other.com/mcp', 'https://example.com/mcp', 'H07 error', 'another host'],
    [307, '//other.com/mcp', 'https://example.com/mcp', 'H07 error', 'another host without scheme'],
    [308, 'http://example.com/mcp', 'https://example.com/mcp', 'H07 error', 'another scheme'],
    [307, 'https://example.com:444/', 'https://example.com/mcp', 'H07 error', 'another port'],
    [301, '/mcp/', 'https://example.com/mcp', 'H07 error', 'a status that turns POST into GET'],
    [302, '/mcp/', 'https://example.com/mcp', 'H07 error', 'the same'],
    [303, '/mcp/', 'https://example.com/mcp', 'H07 error', 'the same'],
    [300, '/mcp/', 'https://example.com/mcp', 'H07 error', 'a choice'],
    [304, '/mcp/', 'https://example.com/mcp', 'H07 error', 'no redirect'],
    [307, 'http://[', 'https://example.com/mcp', 'H07 error', 'no url'],
    [307, '/mcp/', undefined, 'H07 error', 'no origin to compare with'],
  ])('H06, H07: %d to %s from %s: %s (%s)', (status, location, url, verdict) => {
    expect(verdictOf({ status, headers: { location }, body: '', ...(url !== undefined && { url }) })).toBe(verdict)
  })

  test('H06: is followed once, to an absolute URL', () => {
    const redirect = { status: 307, headers: { location: '../b' }, body: '', url: 'https://example.com/a/mcp' }
    expect(judgeHttpProbe(redirect, context)).toEqual({ kind: 'follow', row: 'H06', url: 'https://example.com/b' })
    expect(verdictOf({ ...redirect, redirected: true })).toBe('H07 error')
    expect(verdictOf({ status: 307, headers: {}, body: '', url: 'https://example.com/' })).toBe('H07 error')
  })

  test.each<[HttpProbeContext, JsonValue, string, string]>([
    [twoModern, ['2026-07-28'], 'H08 modern-retry 2026-07-28', 'another one in common'],
    [twoModern, ['2026-07-28', '2027-01-01'], 'H08 modern-retry 2026-07-28', 'another one than was tried'],
    [
      { ...twoModern, requested: '2026-07-28' },
      ['2026-07-28', '2027-01-01'],
      'H08 modern-retry 2027-01-01',
      'the best',
    ],
    [context, ['2026-07-28'], 'H09 modern-retry 2026-07-28', 'only the one that was tried'],
    [context, ['2026-07-28', '2025-06-18'], 'H09 modern-retry 2026-07-28', 'modern before legacy'],
    [context, ['2025-06-18'], 'H10 legacy-selected 2025-06-18', 'A-02: legacy is advertised'],
    [context, ['2099-01-01', '2025-06-18'], 'H10 legacy-selected 2025-06-18', 'A-02: beside an unknown one'],
    [
      { ...context, legacy: ['2025-11-25', '2025-06-18'] },
      ['2025-06-18', '2025-11-25'],
      'H10 legacy-selected 2025-11-25',
      'the newest',
    ],
    [context, ['2099-01-01'], 'H11 error', 'nothing in common'],
    [context, ['2025-11-25'], 'H11 error', 'a legacy one that is not enabled'],
    [{ ...context, legacy: [] }, ['2025-06-18'], 'H11 error', 'a modern-only client'],
    [context, ['v999', ''], 'H11 error', 'A-56: junk is skipped'],
    [context, undefined as unknown as JsonValue, 'H12 error', 'A-05: no list'],
    [context, [], 'H12 error', 'A-05: an empty list'],
    [context, '2026-07-28', 'H12 error', 'A-05: a string'],
    [context, ['2026-07-28', 5], 'H12 error', 'A-05: not only strings'],
    [context, { 0: '2026-07-28' }, 'H12 error', 'A-05: an object'],
  ])('MC-ERA-04, MC-VER-02: %j, -32022 with %j: %s (%s)', (where, supported, verdict) => {
    const body = fail(-32022, supported === undefined ? undefined : { supported, requested: where.requested })
    expect([200, 201, 400, 404, 422, 429].map((status) => verdictOf(answer(status, body), where))).toEqual(
      Array(6).fill(verdict),
    )
  })

  test('MC-ERA-04: a second -32022 is an error, whatever it lists', () => {
    for (const supported of [['2026-07-28'], ['2027-01-01', '2026-07-28'], ['2025-06-18'], ['2099-01-01']]) {
      expect(judgeHttpProbe(answer(400, fail(-32022, { supported })), { ...twoModern, retried: true }).kind).toBe(
        'error',
      )
    }
  })

  test('MH-ERA-02, MH-ERA-03: the error is kept for the report', () => {
    expect(judgeHttpProbe(answer(400, fail(-32020, { a: 1 })), context)).toMatchObject({
      row: 'H13',
      retryable: false,
      cause: { code: -32020, message: 'm', data: { a: 1 } },
    })
  })

  test.each<[JsonObject | undefined, JsonValue, string, string]>([
    [undefined, { sampling: {} }, 'H14 error', 'nothing to offer'],
    [{ roots: {} }, { sampling: {} }, 'H14 error', 'something else to offer'],
    [{ sampling: {} }, { sampling: {} }, 'H14 modern-retry 2026-07-28', 'all of it'],
    [{ sampling: {} }, { sampling: { tools: {} } }, 'H14 error', 'without the part'],
    [
      { sampling: { tools: {} }, roots: {} },
      { sampling: { tools: {} } },
      'H14 modern-retry 2026-07-28',
      'with the part',
    ],
    [{ sampling: {} }, ['sampling'], 'H14 error', 'a list of names'],
    [{ sampling: {} }, undefined as unknown as JsonValue, 'H14 error', 'it does not say what'],
    [{}, { constructor: {} }, 'H14 error', 'a name that every object has'],
  ])('H14, MH-ERA-03: offering %j, -32021 with %j: %s (%s)', (offerable, requiredCapabilities, verdict) => {
    const body = fail(-32021, requiredCapabilities === undefined ? undefined : { requiredCapabilities })
    expect(verdictOf(answer(400, body), { ...context, ...(offerable && { offerable }) })).toBe(verdict)
  })

  test('H14: a retry names what to declare, and there is only one', () => {
    const body = fail(-32021, { requiredCapabilities: { sampling: {} } })
    const where = { ...context, offerable: { sampling: {} } }
    expect(judgeHttpProbe(answer(400, body), where)).toMatchObject({ kind: 'modern-retry', declare: { sampling: {} } })
    expect(verdictOf(answer(400, body), { ...where, retried: true })).toBe('H14 error')
  })

  test.each<[HttpProbeAnswer, string, string]>([
    [answer(404, fail(-32601)), 'H15 legacy 2025-06-18', 'A-04: discovery is never unknown to a modern server'],
    [answer(200, discovered(['2026-07-28'])), 'H16 modern 2026-07-28', ''],
    [answer(200, discovered(['2099-01-01', '2025-06-18', '2026-07-28'])), 'H16 modern 2026-07-28', 'the best'],
    [
      answer(200, result({ supportedVersions: ['2026-07-28'], capabilities: {} })),
      'H16 modern 2026-07-28',
      'A11: no resultType',
    ],
    [
      answer(200, discovered(['2026-07-28'], { ttlMs: 'x', cacheScope: 5, _meta: 5, instructions: 5 })),
      'H16 modern 2026-07-28',
      'lenient',
    ],
    [answer(200, { ...discovered(['2026-07-28']), id: null }), 'H16 modern 2026-07-28', 'the id is not compared'],
    [
      answer(200, discovered(['2026-07-28']), { 'content-type': 'text/event-stream' }),
      'H16 modern 2026-07-28',
      'by SSE',
    ],
    [answer(200, discovered(['2026-07-28']), {}), 'H16 modern 2026-07-28', 'no content type'],
    [answer(200, discovered(['2025-06-18'])), 'H17 legacy-selected 2025-06-18', 'A-02'],
    [answer(200, discovered(['2099-01-01'])), 'H18 error', 'nothing in common'],
    [answer(200, discovered([])), 'H18 error', 'an empty list'],
    [answer(200, discovered('2026-07-28')), 'H19 error', 'A-05: no list'],
    [answer(200, result({ resultType: 'complete', content: [] })), 'H19 error', 'A-05: a marker, but no discovery'],
    [answer(200, result({ supportedVersions: ['2026-07-28'] })), 'H19 error', 'A-05: no capabilities'],
    [answer(200, discovered(['2026-07-28'], { resultType: 'input_required' })), 'H19 error', 'A-59'],
    [answer(200, result({})), 'H20 legacy 2025-06-18', 'A10: any other result'],
    [
      answer(200, result({ capabilities: {}, protocolVersion: '2025-06-18' })),
      'H20 legacy 2025-06-18',
      'A10: another one',
    ],
    [answer(200, result('ok')), 'H20 legacy 2025-06-18', 'no object'],
    [answer(200, [result({})]), 'H20 legacy 2025-06-18', 'a batch of an earlier revision'],
    [answer(200, fail(-32601)), 'H21 legacy 2025-06-18', 'A4'],
    [answer(200, fail(-32602)), 'H21 legacy 2025-06-18', 'A1'],
    [answer(200, fail(-32000)), 'H21 legacy 2025-06-18', 'A1'],
    [answer(200, fail(-32004, { supported: ['2026-07-28'] })), 'H21 legacy 2025-06-18', 'A13: a number of a draft'],
    [answer(200, fail(-32023)), 'H21 legacy 2025-06-18', 'A-03: reserved, not recognised'],
    [answer(202), 'H22 legacy 2025-06-18', ''],
    [answer(204), 'H22 legacy 2025-06-18', ''],
    [answer(200), 'H22 legacy 2025-06-18', 'an empty body'],
    [answer(200, '  \n', json), 'H22 legacy 2025-06-18', 'blanks are an empty body'],
    [answer(200, '<html>', html), 'H23 error', 'a web page'],
    [answer(200, 'hello', {}), 'H23 error', 'no content type'],
    [answer(200, { Output: 1 }, html), 'H23 error', 'JSON under another name'],
    [answer(200, '{"jsonrpc":', json), 'H24 error', 'broken JSON'],
    [answer(200, { Output: 1 }), 'H24 error', 'JSON that is no answer'],
    [answer(200, { jsonrpc: '2.0', id: 1, error: 'x' }), 'H24 error', 'an error that is none'],
    [answer(200, []), 'H24 error', 'an empty array'],
    [answer(400, fail(-32600)), 'H25 legacy 2025-06-18', 'A1'],
    [answer(400, fail(-32600, undefined, null)), 'H25 legacy 2025-06-18', 'A5: id null'],
    [answer(400, fail(-32004, { supported: ['2026-07-28'] })), 'H25 legacy 2025-06-18', 'A13: a number of a draft'],
    [answer(400, fail(-32001)), 'H25 legacy 2025-06-18', 'A13: a timeout, no header mismatch'],
    [answer(400, fail(-32003, { requiredCapabilities: {} })), 'H25 legacy 2025-06-18', 'A13: a number of a draft'],
    [answer(400), 'H26 legacy 2025-06-18', 'A1: empty'],
    [
      answer(400, 'Unsupported protocol version', { 'content-type': 'text/plain' }),
      'H26 legacy 2025-06-18',
      'A1: plain text',
    ],
    [answer(400, '<html>', html), 'H26 legacy 2025-06-18', 'HTML'],
    [answer(400, [fail(-32600)]), 'H26 legacy 2025-06-18', 'an array'],
    [answer(400, { error: { code: -32022 } }), 'H26 legacy 2025-06-18', 'no JSON-RPC'],
    [answer(400, fail('-32022')), 'H26 legacy 2025-06-18', 'a code that is no integer'],
    [answer(400, fail(-32022.5)), 'H26 legacy 2025-06-18', 'a code that is no integer'],
    [answer(404), 'H27 legacy 2025-06-18', 'empty'],
    [answer(404, '<html>', html), 'H27 legacy 2025-06-18', 'A1: HTML'],
    [answer(404, fail(-32001)), 'H27 legacy 2025-06-18', 'another error'],
    [answer(405), 'H27 legacy 2025-06-18', ''],
    ...[406, 409, 410, 411, 412, 415, 422, 418].map(
      (status) => [answer(status, fail(-32601)), 'H28 legacy 2025-06-18', ''] as [HttpProbeAnswer, string, string],
    ),
  ])('MC-ERA-05, MC-ERA-11, MH-ERA-04: %j: %s (%s)', (given, verdict) => {
    expect(verdictOf(given)).toBe(verdict)
  })

  test('H24: an answer that broke off may be asked for again', () => {
    expect(judgeHttpProbe({ event: 'stream-ended' }, context)).toMatchObject({
      row: 'H24',
      kind: 'error',
      retryable: true,
    })
  })

  test('H22, H27, MH-ERA-09: where the URL may be one of HTTP+SSE', () => {
    const candidates = [answer(202), answer(404), answer(405), answer(400), answer(415), answer(200, result({}))]
    expect(
      candidates.map(
        (given) => (judgeHttpProbe(given, context) as ProbeVerdict & { httpSse?: boolean }).httpSse === true,
      ),
    ).toEqual([true, true, true, false, false, false])
  })

  test('MC-ERA-09: without a legacy revision a legacy server is an error that says so', () => {
    const verdict = judgeHttpProbe(answer(400), { ...context, legacy: [] })
    expect(verdict).toMatchObject({
      row: 'H26',
      kind: 'error',
      message: expect.stringContaining('no legacy revision is enabled'),
    })
  })

  test('LG-LIFE-06: the newest legacy revision is offered', () => {
    expect(verdictOf(answer(400), { ...context, legacy: ['2025-11-25', '2025-06-18'] })).toBe('H26 legacy 2025-11-25')
  })
})

describe('decisions 1.4: the first request was another one', () => {
  const other = { ...context, method: 'tools/list' }
  test.each<[HttpProbeAnswer, string, string]>([
    [answer(404, fail(-32601)), '1.4 modern 2026-07-28', 'MH-ERA-05, A-04'],
    [answer(400, fail(-32020)), '1.4 modern 2026-07-28', 'a recognised modern error'],
    [answer(400, fail(-32021)), '1.4 modern 2026-07-28', 'a recognised modern error'],
    [answer(400, fail(-32022, { supported: ['2026-07-28'] })), '1.4 modern 2026-07-28', 'the same revision is listed'],
    [answer(400, fail(-32022, { supported: ['2025-06-18'] })), 'H10 legacy-selected 2025-06-18', 'A-02'],
    [answer(400, fail(-32022, { supported: ['2099-01-01'] })), 'H11 error', 'nothing in common'],
    [answer(200, result({ resultType: 'complete', tools: [] })), '1.4 modern 2026-07-28', 'marked'],
    [answer(200, result({ resultType: 'future' })), '1.4 modern 2026-07-28', 'marked'],
    [answer(200, result({ tools: [] })), '1.4 legacy 2025-06-18', 'A10: a method of both eras'],
    [answer(200, fail(-32601)), '1.4 legacy 2025-06-18', 'a modern server must use 404'],
    [answer(200, fail(-32602)), '1.4 inconclusive', 'no marker'],
    [answer(200, fail(-32603)), '1.4 inconclusive', 'no marker'],
    [answer(200, fail(1001)), '1.4 inconclusive', 'no marker'],
    [answer(400, fail(-32602)), 'H25 legacy 2025-06-18', 'as for the probe'],
    [answer(400), 'H26 legacy 2025-06-18', 'as for the probe'],
    [answer(404), 'H27 legacy 2025-06-18', 'as for the probe'],
    [answer(404, fail(-32001)), 'H27 legacy 2025-06-18', 'as for the probe'],
    [answer(415), 'H28 legacy 2025-06-18', 'as for the probe'],
    [answer(401, fail(-32601)), 'H02 auth', 'as for the probe'],
    [answer(503), 'H05 error', 'as for the probe'],
    [answer(202), 'H22 legacy 2025-06-18', 'as for the probe'],
    [answer(200, '<html>', html), 'H23 error', 'as for the probe'],
  ])('%j: %s (%s)', (given, verdict) => {
    expect(verdictOf(given, other)).toBe(verdict)
  })

  test('MC-ERA-04: a refused revision is replaced by one that both sides have', () => {
    const where = { ...twoModern, method: 'tools/list' }
    expect(verdictOf(answer(400, fail(-32022, { supported: ['2026-07-28'] })), where)).toBe('1.4 modern 2026-07-28')
  })
})

test('A14: whatever comes, it never throws, and an outage is never legacy', () => {
  const body = fc.oneof(
    fc.json(),
    fc.string(),
    fc
      .record({
        jsonrpc: fc.constant('2.0'),
        error: fc.record({ code: fc.integer({ min: -32030, max: -31990 }), data: fc.jsonValue() }),
      })
      .map((value) => JSON.stringify(value)),
    fc.record({ jsonrpc: fc.constant('2.0'), result: fc.jsonValue() }).map((value) => JSON.stringify(value)),
  )
  const headers = fc.dictionary(
    fc.constantFrom('content-type', 'location', 'www-authenticate', 'retry-after'),
    fc.string(),
  )
  const given = fc.record({ status: fc.integer({ min: 100, max: 599 }), headers, body, url: fc.webUrl() })
  fc.assert(
    fc.property(given, fc.constantFrom('server/discover', 'tools/list'), (one, method) => {
      const verdict = judgeHttpProbe(one, { ...context, method })
      const outage = one.status >= 500 || [401, 403, 407, 429].includes(one.status)
      expect(outage && verdict.kind === 'legacy' && verdict.row !== 'H10').toBe(false)
      expect(verdict.row).not.toBe('')
    }),
    { numRuns: 500 },
  )
})

describe('field reports', () => {
  test.each<[string, HttpProbeAnswer]>([
    ['-32602 in a 400', answer(400, fail(-32602))],
    ['-32600 in a 400', answer(400, fail(-32600))],
    ['-32000 in a 200', answer(200, fail(-32000))],
    ['plain text', answer(400, 'Unsupported protocol version', { 'content-type': 'text/plain' })],
    ['an empty body', answer(400)],
    ['a web page for 404', answer(404, '<html>not found</html>', html)],
  ])('A1: %s is a legacy server', (_what, given) => {
    expect(judgeHttpProbe(given, context).kind).toBe('legacy')
  })

  test('A4: 200 with -32601 is a legacy server, 404 with it a modern one when another method was asked for', () => {
    expect(judgeHttpProbe(answer(200, fail(-32601)), context).kind).toBe('legacy')
    expect(judgeHttpProbe(answer(404, fail(-32601)), { ...context, method: 'tools/list' }).kind).toBe('modern')
  })

  test('A5: an error with id null is an answer', () => {
    const body = { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'Missing ID field' } }
    expect(judgeHttpProbe(answer(400, body), context)).toMatchObject({ kind: 'legacy', row: 'H25' })
  })

  test('A7: 401 and 403 never downgrade, whatever the body says', () => {
    for (const status of [401, 403]) {
      for (const body of [fail(-32601), undefined, '<html>']) {
        expect(['auth', 'error']).toContain(
          judgeHttpProbe(answer(status, body, { 'www-authenticate': 'Bearer' }), context).kind,
        )
      }
    }
  })

  test('A10: a result without a marker is a legacy server, though it ran the request', () => {
    expect(judgeHttpProbe(answer(200, result({ content: [] })), { ...context, method: 'tools/call' }).kind).toBe(
      'legacy',
    )
  })

  test('A11: a discovery without resultType is a modern server with a defect', () => {
    expect(
      judgeHttpProbe(answer(200, result({ supportedVersions: ['2026-07-28'], capabilities: {} })), context),
    ).toMatchObject({
      kind: 'modern',
      discovered: { defects: expect.arrayContaining(['resultType is missing']) },
    })
  })

  test.each([-32004, -32003, -32001])('A13: the draft number %d is not recognised', (code) => {
    const data = { supported: ['2026-07-28'], requiredCapabilities: {} }
    expect(judgeHttpProbe(answer(400, fail(code, data)), context)).toMatchObject({ kind: 'legacy', row: 'H25' })
  })
})
