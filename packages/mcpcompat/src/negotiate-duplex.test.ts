import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonValue } from './jsonrpc/json.ts'
import { parseMessage } from './jsonrpc/parse.ts'
import { type DuplexProbeContext, judgeDuplexProbe, judgeLateAnswer } from './negotiate-duplex.ts'

const context: DuplexProbeContext = {
  modern: ['2026-07-28'],
  legacy: ['2025-06-18'],
  requested: '2026-07-28',
  probeId: 1,
}
const message = (text: string): Parameters<typeof judgeDuplexProbe>[0] => ({
  kind: 'message',
  message: parseMessage(text, 'parsed'),
})
const result = (value: JsonValue, id: JsonValue = 1): string => JSON.stringify({ jsonrpc: '2.0', id, result: value })
const fail = (code: number, data?: JsonValue, id: JsonValue = 1): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message: 'm', ...(data !== undefined && { data }) } })
const discovered = (...versions: string[]): JsonValue => ({
  resultType: 'complete',
  supportedVersions: versions,
  capabilities: {},
})

function verdictOf(event: Parameters<typeof judgeDuplexProbe>[0], where = context): string {
  const verdict = judgeDuplexProbe(event, where)
  const kind = verdict.kind === 'legacy' && verdict.selected ? 'legacy-selected' : verdict.kind
  return [verdict.row, kind, ...('revision' in verdict ? [verdict.revision] : [])].join(' ')
}

describe('decisions 1.3: what happens while the probe is open', () => {
  test.each([
    [result(discovered('2026-07-28')), 'S01 modern 2026-07-28', 'MS-ERA-02'],
    [result({ supportedVersions: ['2026-07-28'], capabilities: {} }), 'S01 modern 2026-07-28', 'A11: no resultType'],
    [result(discovered('2025-06-18')), 'S02 legacy-selected 2025-06-18', 'A-02'],
    [result(discovered('2030-01-01')), 'S03 error', 'nothing in common'],
    [result({ supportedVersions: ['2026-07-28'] }), 'S04 error', 'A-05'],
    [result({ resultType: 'future' }), 'S04 error', 'A-05'],
    [result({}), 'S05 legacy 2025-06-18', 'A10: any other result'],
    [fail(-32022, { supported: ['2026-07-28'] }), 'S06 modern-retry 2026-07-28', 'as H09'],
    [fail(-32022, { supported: ['2025-06-18'] }), 'S06 legacy-selected 2025-06-18', 'as H10'],
    [fail(-32022, { supported: ['2030-01-01'] }), 'S06 error', 'as H11'],
    [fail(-32022), 'S07 error', 'A-05'],
    [fail(-32022, { supported: [] }), 'S07 error', 'A-05'],
    [fail(-32020), 'S08 error', 'MS-ERA-03, A-03'],
    [fail(-32021), 'S08 error', 'MS-ERA-03, A-03'],
    [fail(-32601), 'S09 legacy 2025-06-18', 'MS-ERA-04'],
    [fail(-32602), 'S09 legacy 2025-06-18', 'MS-ERA-05: no one code'],
    [fail(-32600), 'S09 legacy 2025-06-18', 'MS-ERA-05'],
    [fail(-32603), 'S09 legacy 2025-06-18', 'MS-ERA-05'],
    [fail(-32700), 'S09 legacy 2025-06-18', 'MS-ERA-05'],
    [fail(-32000), 'S09 legacy 2025-06-18', 'MS-ERA-05'],
    [fail(-32019), 'S09 legacy 2025-06-18', 'MS-ERA-05'],
    [fail(-32004, { supported: ['2026-07-28'] }), 'S09 legacy 2025-06-18', 'A13: a number of a draft'],
    [fail(0), 'S09 legacy 2025-06-18', 'MS-ERA-05'],
    [fail(-1), 'S09 legacy 2025-06-18', 'MS-ERA-05'],
    [fail(42), 'S09 legacy 2025-06-18', 'MS-ERA-05'],
    [fail(-32600, undefined, null), 'S10 legacy 2025-06-18', 'A5: id null'],
    ['{"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}}', 'S10 legacy 2025-06-18', 'no id'],
    [fail(-32022, { supported: ['2030-01-01'] }, null), 'S06 error', 'modern evidence outranks a missing id'],
    ['Server listening...', 'S14 wait', 'noise'],
    ['{"level":"info"}', 'S14 wait', 'JSON noise'],
    ['5', 'S14 wait', 'JSON noise'],
    ['{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"m"}}', 'S14 wait', 'no message'],
    ['{"jsonrpc":"2.0","method":"notifications/message","params":{}}', 'S15 wait', ''],
    ['{"jsonrpc":"2.0","id":1,"method":"ping"}', 'S16 wait', 'a request, even under the id of the probe'],
    ['{"jsonrpc":"2.0","id":"r","method":"roots/list"}', 'S16 wait', ''],
    [`[${fail(-32600)}]`, 'S17 legacy 2025-06-18', 'an answer in a batch'],
    [`[{"jsonrpc":"2.0","method":"x"},${result({})}]`, 'S17 legacy 2025-06-18', 'an answer beside another message'],
    [`[${fail(-32600, undefined, null)}]`, 'S17 legacy 2025-06-18', 'an error without id'],
    [`[${result({}, 2)}]`, 'S14 wait', 'a batch with another answer'],
    ['[{"jsonrpc":"2.0","method":"x"}]', 'S14 wait', 'a batch without answer'],
    ['[]', 'S14 wait', 'an empty array'],
    ['[1]', 'S14 wait', 'an array of noise'],
    [result(discovered('2026-07-28'), 2), 'S18 wait', 'another id'],
    [result(discovered('2026-07-28'), '1'), 'S18 wait', 'MC-MSG-04: "1" is not 1'],
    [fail(-32601, undefined, 'x'), 'S18 wait', 'another id'],
  ])('%s: %s (%s)', (text, verdict) => {
    expect(verdictOf(message(text))).toBe(verdict)
  })

  test('S11, MS-ERA-04: silence is legacy on the same stream', () => {
    expect(verdictOf({ kind: 'timeout' })).toBe('S11 legacy 2025-06-18')
    expect(judgeDuplexProbe({ kind: 'timeout' }, context)).not.toHaveProperty('restart')
  })

  test('A2: S12, A-01: an exit is legacy with a new start, a second exit an error', () => {
    expect(judgeDuplexProbe({ kind: 'exit' }, context)).toMatchObject({ row: 'S12', kind: 'legacy', restart: true })
    expect(verdictOf({ kind: 'exit' }, { ...context, restarted: true })).toBe('S12 error')
  })

  test('S13, A-01: what cannot be started is no era', () => {
    expect(verdictOf({ kind: 'spawn-error' })).toBe('S13 error')
  })

  test('S16, MC-MSG-10: a request is held, noise is noted', () => {
    expect(judgeDuplexProbe(message('{"jsonrpc":"2.0","id":5,"method":"ping"}'), context)).toMatchObject({
      kind: 'wait',
      hold: true,
    })
    expect(judgeDuplexProbe(message('noise'), context)).not.toHaveProperty('hold')
    expect(judgeDuplexProbe(message('noise'), context)).toHaveProperty('note')
  })

  test('MS-ERA-03: a second -32022 is an error', () => {
    expect(verdictOf(message(fail(-32022, { supported: ['2026-07-28'] })), { ...context, retried: true })).toBe(
      'S06 error',
    )
  })

  test('MC-ERA-09, MS-ERA-06: a modern-only client never falls back', () => {
    const modernOnly = { ...context, legacy: [] }
    expect(verdictOf(message(fail(-32601)), modernOnly)).toBe('S09 error')
    expect(verdictOf({ kind: 'timeout' }, modernOnly)).toBe('S11 error')
    expect(verdictOf({ kind: 'exit' }, modernOnly)).toBe('S12 error')
  })

  test('A1: source text and parsed payloads give the same verdict', () => {
    for (const text of [result(discovered('2026-07-28')), fail(-32022, { supported: ['2025-06-18'] }), result({})]) {
      expect(verdictOf({ kind: 'message', message: parseMessage(text, 'text') })).toBe(verdictOf(message(text)))
    }
  })

  test('no line makes it throw', () => {
    const envelope = fc.dictionary(
      fc.constantFrom('jsonrpc', 'id', 'method', 'result', 'error', 'params'),
      fc.oneof(fc.jsonValue(), fc.constantFrom('2.0', 1)),
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          envelope.map((value) => JSON.stringify(value)),
        ),
        (text) => {
          expect(verdictOf(message(text))).toMatch(/^S\d\d /)
        },
      ),
    )
  })
})

describe('field reports', () => {
  test.each([-32602, -32600, -32000, -32601])('A1: %d is a legacy server', (code) => {
    expect(judgeDuplexProbe(message(fail(code)), context).kind).toBe('legacy')
  })

  test('A5: an error with id null is the answer to the only open request', () => {
    expect(judgeDuplexProbe(message(fail(-32600, undefined, null)), context).kind).toBe('legacy')
  })

  test('A10: a result that is no discovery is a legacy server', () => {
    expect(judgeDuplexProbe(message(result({ content: [] })), context).kind).toBe('legacy')
  })

  test('A11: a discovery without resultType is modern', () => {
    const answer = result({ supportedVersions: ['2026-07-28'], capabilities: {} })
    expect(judgeDuplexProbe(message(answer), context).kind).toBe('modern')
  })

  test.each([-32004, -32003, -32001])('A13: the draft number %d is not recognised', (code) => {
    expect(judgeDuplexProbe(message(fail(code, { supported: ['2026-07-28'] })), context).kind).toBe('legacy')
  })
})

describe('A-06: an answer that came after the timeout', () => {
  const late = (text: string, handshake: 'pending' | 'refused' | 'complete'): object =>
    judgeLateAnswer(parseMessage(text, 'parsed'), handshake, context)

  test.each(['pending', 'refused'] as const)('switches to modern while the handshake is %s', (handshake) => {
    expect(late(result(discovered('2026-07-28')), handshake)).toEqual({ kind: 'modern', revision: '2026-07-28' })
  })

  test('after the handshake it is ignored, but the verdict is not stored', () => {
    expect(late(result(discovered('2026-07-28')), 'complete')).toEqual({ kind: 'ignore', keep: false })
  })

  test.each([
    [fail(-32601), true, 'legacy after all'],
    [result({}), true, 'legacy after all'],
    [result(discovered('2026-07-28'), 9), true, 'another answer'],
    ['{"jsonrpc":"2.0","method":"x"}', true, 'something else'],
    [fail(-32020), false, 'a modern error'],
    [result(discovered('2030-01-01')), false, 'a modern server without a common revision'],
    [result(discovered('2025-06-18')), false, 'a modern server that named a legacy one'],
  ])('%s: a legacy verdict may be stored: %s (%s)', (text, keep) => {
    expect(late(text, 'pending')).toEqual({ kind: 'ignore', keep })
  })
})
