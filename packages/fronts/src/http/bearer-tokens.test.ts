import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UsageError } from '@atenea/cli'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readBearerTokens } from './bearer-tokens.ts'

const first = 'first-0123456789abcdef'
const second = 'second-0123456789abcdef'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'atenea-tokens-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function read(text: string): ReturnType<typeof readBearerTokens> {
  const file = join(folder, 'tokens')
  writeFileSync(file, text)
  return readBearerTokens(file)
}

describe('MC-AUTH-03: tokens of a file', () => {
  test('tell who holds them; several of one name are one person’s, and the same twice is no fault', () => {
    const tokens = read(`# ours\nanna ${first}\n\nanna ${second}\r\nanna ${second}\n`)
    expect([first, second].map((token) => tokens.verify(token)?.id)).toEqual(['bearer:anna', 'bearer:anna'])
    expect(tokens.verify(first.slice(0, -1))).toBeUndefined()
    expect(tokens.verify('')).toBeUndefined()
  })

  test('without a name are told from each other, by a name that does not tell the token', () => {
    const tokens = read(`${first}\n${second}\n`)
    const ids = [first, second].map((token) => tokens.verify(token)?.id)
    expect(new Set(ids).size).toBe(2)
    expect(ids.join(' ')).not.toMatch(/first|second|0123456789/)
  })

  test.each([
    ['holds no token', ''],
    ['is shorter than 16 characters', 'anna hunter2'],
    ['more than a name and a token', `anna ${first} x`],
    ['no Authorization header can carry', 'anna "quoted-0123456789"'],
    ['to somebody else too', `anna ${first}\nbert ${first}`],
    ['to somebody else too', `${first}\nbert ${first}`],
  ])('an error that says "%s", and no token', (said, text) => {
    const failed = (): unknown => read(text)
    expect(failed).toThrow(UsageError)
    expect(failed).toThrow(said)
    expect(failed).not.toThrow(/hunter2|first-|quoted/)
  })
})
