import { describe, expect, test } from 'vitest'
import { createLogger, type CreateLoggerOptions, type Logger, mayUseColour } from './log.ts'
import { createRedactor } from './redact.ts'

function logTo(lines: string[], options: Partial<CreateLoggerOptions> = {}): Logger {
  const redactor = createRedactor()
  redactor.add('open-sesame')
  return createLogger({
    name: 'demo',
    threshold: 'info',
    format: 'text',
    redactor,
    write: (line) => lines.push(line),
    now: () => new Date(0),
    ...options,
  })
}

describe('log lines', () => {
  test('text: time, name, severity, message, details', () => {
    const lines: string[] = []
    logTo(lines).info('listening', { path: '/a b', count: 3, skipped: undefined, ok: true })
    expect(lines).toEqual(['1970-01-01T00:00:00.000Z demo info: listening path="/a b" count=3 ok=true\n'])
  })

  test('json: one object a line', () => {
    const lines: string[] = []
    logTo(lines, { format: 'json' }).warning('two\nlines', { code: 'x' })
    expect(lines).toHaveLength(1)
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      time: '1970-01-01T00:00:00.000Z',
      level: 'warning',
      name: 'demo',
      message: 'two\nlines',
      code: 'x',
    })
    expect(lines[0]?.indexOf('\n')).toBe((lines[0]?.length ?? 0) - 1)
  })

  test.each([
    ['silent', 0],
    ['error', 1],
    ['warning', 2],
    ['info', 3],
    ['debug', 4],
  ] as const)('at %s, %i of four severities are written', (threshold, count) => {
    const lines: string[] = []
    const logger = logTo(lines, { threshold })
    logger.error('a')
    logger.warning('b')
    logger.info('c')
    logger.debug('d')
    expect(lines).toHaveLength(count)
    expect(logger.isOn('debug')).toBe(count === 4)
  })

  test('F16: messages and details are redacted, and details with a secret name are not shown', () => {
    for (const format of ['text', 'json'] as const) {
      const lines: string[] = []
      logTo(lines, { format }).info('got open-sesame', { echo: 'open-sesame', accessToken: 'zzz' })
      expect(lines.join('')).not.toMatch(/sesame|zzz/)
      expect(lines.join('')).toContain('[redacted]')
    }
  })

  test('nothing in a message can forge a line or move a cursor', () => {
    const lines: string[] = []
    logTo(lines).info('a\nfake error: x\u001b[2J\u2028b\u202ec', { d: 'e\r\nf\u0085"' })
    expect(lines).toEqual([
      '1970-01-01T00:00:00.000Z demo info: a\n  fake error: x\\u001b[2J\\u2028b\\u202ec d="e\\r\\nf\\u0085\\""\n',
    ])
  })

  test('colour is for the severity only', () => {
    const lines: string[] = []
    logTo(lines, { colour: () => true }).error('x')
    expect(lines[0]).toContain('\u001b[31merror\u001b[0m: x')
  })

  test('NO_COLOR turns colours off, whatever stderr is', () => {
    expect(mayUseColour({ NO_COLOR: '1' })).toBe(false)
    expect(mayUseColour({ TERM: 'dumb' })).toBe(false)
  })
})
