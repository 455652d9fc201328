import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addEnvironmentSecrets, createRedactor } from './redact.ts'

describe('F16: what looks like a secret', () => {
  const redactor = createRedactor()
  test.each([
    ['Authorization: Bearer zzz', 'Authorization: [redacted]'],
    ['authorization: Basic dXNlcjp6eno=', 'authorization: [redacted]'],
    ['{"Authorization":"DPoP zzz","a":1}', '{"Authorization":"[redacted]","a":1}'],
    ['sent Bearer zzz, got 401', 'sent Bearer [redacted], got 401'],
    ['Cookie: a=zzz; b=zzz', 'Cookie: [redacted]'],
    ['Mcp-Session-Id: zzz', 'Mcp-Session-Id: [redacted]'],
    ['https://user:zzz@example.com/x', 'https://[redacted]@example.com/x'],
    ['https://example.com/x?key=zzz&a=1', 'https://example.com/x?key=[redacted]&a=1'],
    ['https://example.com/x?a=1&access_token=zzz&b=2', 'https://example.com/x?a=1&access_token=[redacted]&b=2'],
    ['docker run -e TOKEN=zzz image', 'docker run -e TOKEN=[redacted] image'],
    ['ATPROTO_APP_PASSWORD="zzz"', 'ATPROTO_APP_PASSWORD="[redacted]"'],
    ['{"apiKey":"zzz","n":1}', '{"apiKey":"[redacted]","n":1}'],
    ['{"requestState":"zzz"}', '{"requestState":"[redacted]"}'],
    ['start --api-key zzz --verbose', 'start --api-key [redacted] --verbose'],
    ['jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc_-1 end', 'jwt [redacted] end'],
    ['login with abcd-efgh-2345-wxyz now', 'login with [redacted] now'],
    ['nothing to hide: key points of progress 7', 'nothing to hide: key points of progress 7'],
    ['unexpected token } at 3', 'unexpected token } at 3'],
  ])('%s', (text, clean) => {
    expect(redactor.redact(text)).toBe(clean)
  })
})

describe('F16: registered secrets', () => {
  const secret = 'hunter2/Überraschung+"1"'
  const redactor = createRedactor()
  redactor.add(secret)
  const bytes = Buffer.from(secret)
  test.each([
    ['as it is', secret],
    ['cut', secret.slice(0, 10)],
    ['in hex', bytes.toString('hex')],
    ['in capital hex', bytes.toString('hex').toUpperCase()],
    ['in hex and cut', bytes.toString('hex').slice(0, 20)],
    ['in Base64', bytes.toString('base64')],
    ['in Base64 for URLs', bytes.toString('base64url')],
    ['in a URL', encodeURIComponent(secret)],
    ['in JSON', JSON.stringify(secret)],
  ])('%s', (_name, form) => {
    const clean = redactor.redact(`before ${form} after`)
    expect(clean).toContain('[redacted]')
    expect(clean).not.toContain('hunter')
    expect(clean.toLowerCase()).not.toContain(bytes.toString('hex').slice(0, 12))
    expect(clean).toMatch(/^before .* after$/)
  })

  test('two secrets of which one begins with the other', () => {
    const both = createRedactor()
    both.add('abcdef')
    both.add('abcdefghij')
    expect(both.redact('x abcdefghij y abcdef z')).toBe('x [redacted] y [redacted] z')
  })

  test('values too short to be secrets change nothing', () => {
    const short = createRedactor()
    for (const value of ['', 'a', 'ab', undefined]) short.add(value)
    expect(short.redact('a ab abc')).toBe('a ab abc')
  })

  test('the environment names secrets of its own', () => {
    const environment = createRedactor()
    addEnvironmentSecrets(environment, {
      ATPROTO_APP_PASSWORD: 'sesame-street',
      LANG: 'en_US.UTF-8',
      EMPTY_TOKEN: '',
      USE_TOKEN: 'true',
      API_TOKEN_FILE: '/run/secrets/token',
      UNSET_SECRET: undefined,
    })
    expect(environment.redact('sesame-street in en_US.UTF-8, true, /run/secrets/token')).toBe(
      '[redacted] in en_US.UTF-8, true, /run/secrets/token',
    )
  })

  test('no text holds the secret afterwards', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 3, maxLength: 40, unit: 'grapheme' }),
        fc.string(),
        fc.string(),
        (value, a, b) => {
          fc.pre(!'[redacted]'.includes(value))
          const own = createRedactor()
          own.add(value)
          expect(own.redact(`${a}${value}${b}`)).not.toContain(value)
        },
      ),
    )
  })

  test.each([
    ['a.'.repeat(100_000)],
    [`${'a'.repeat(100_000)}://`],
    ['token'.repeat(40_000)],
    ['?key'.repeat(50_000)],
    ['--key-'.repeat(50_000)],
    ['eyJ'.repeat(70_000)],
    [`authorization:${' '.repeat(100_000)}`],
    ['hunter'.repeat(50_000)],
  ])('is linear (case %#)', (text) => {
    expect(redactor.redact(text).length).toBeGreaterThan(0)
  })

  test('known secrets alone are taken out of data, and what only looks like one stays', () => {
    const redactor = createRedactor()
    redactor.add('hunter2hunter2')
    expect(redactor.redactKnown('token=abc hunter2hunter2 Bearer def')).toBe('token=abc [redacted] Bearer def')
  })
})
