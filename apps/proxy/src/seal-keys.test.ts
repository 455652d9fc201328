import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSeal } from '@atenea/mcpcompat'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readSealKeys } from './seal-keys.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'seal-keys-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function written(text: string): string {
  const file = join(folder, 'keys')
  writeFileSync(file, text)
  return file
}

const key = (byte: number, encoding: BufferEncoding = 'base64'): string => Buffer.alloc(32, byte).toString(encoding)

const binding = { principal: 'p', method: 'tools/call', params: {} }

test('BR-226: the first key seals, and all of them open, so that keys can be changed and replicas share them', async () => {
  const before = createSeal({ keys: readSealKeys(written(`old ${key(1)}\n`)) })
  const sealed = await before.seal('state', binding, { ttlMs: 60_000, round: 1 })
  const after = createSeal({
    keys: readSealKeys(written(`# new first\n\nnew   ${key(2, 'base64url')}\nold ${key(1)}\n`)),
  })
  expect(await after.unseal(sealed, binding)).toMatchObject({ ok: true, state: 'state' })
  expect((await after.seal('state', binding, { ttlMs: 60_000, round: 1 })).split('.')[1]).toBe('new')
})

test.each([
  ['', /holds no key/],
  [`a ${key(1)}\na ${key(2)}`, /two keys of one name/],
  ['a c2hvcnQ=', /line 1 .* must be a name and 32 bytes/],
  [`# why\n${key(1)}`, /line 2 /],
  [`a b ${key(1)}`, /line 1 /],
])('F16: a file that is wrong is refused by its place, and no key is shown (%#)', (text, told) => {
  const read = (): unknown => readSealKeys(written(text))
  expect(read).toThrow(told)
  expect(read).not.toThrow(key(1))
})

test('a file that is not there is told', () => {
  expect(() => readSealKeys(join(folder, 'none'))).toThrow(/cannot be read/)
})
