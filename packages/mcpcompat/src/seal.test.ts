import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { JsonText } from './jsonrpc/json-text.ts'
import { type SealBinding, type SealKey, type UnsealResult, createSeal } from './seal.ts'

const binding: SealBinding = {
  principal: 'https://issuer/#alice',
  method: 'tools/call',
  params: { name: 'x', arguments: { a: 1, b: [2] } },
}
const options = { ttlMs: 60_000, round: 1 }

function key(id: string, fill: number): SealKey {
  return { id, bytes: new Uint8Array(32).fill(fill) }
}

function reason(result: UnsealResult): string {
  return result.ok ? 'accepted' : result.reason
}

describe('createSeal', () => {
  test('MC-MRTR-16: gives back any state, and what goes with it', async () => {
    const seal = createSeal()
    await fc.assert(
      fc.asyncProperty(
        fc.jsonValue({ stringUnit: 'binary' }),
        fc.integer({ min: 1, max: 10 }),
        async (state, round) => {
          const before = Date.now()
          const result = await seal.unseal(await seal.seal(state, binding, { ttlMs: 60_000, round }), binding)
          if (!result.ok) throw new Error(result.reason)
          expect(result.state).toEqual(JSON.parse(JSON.stringify(state)))
          expect(result.round).toBe(round)
          expect(result.expiresAt).toBeGreaterThanOrEqual(before + 60_000)
        },
      ),
      { numRuns: 50 },
    )
  })

  test('MC-MRTR-09: any changed character is refused, and a made-up state as well', async () => {
    const seal = createSeal({ keys: [key('k1', 1)] })
    const sealed = await seal.seal({ admin: false }, binding, options)
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    for (let at = 0; at < sealed.length - 1; at++) {
      const other = alphabet[(alphabet.indexOf(sealed[at] as string) + 1) % 64]
      expect(reason(await seal.unseal(sealed.slice(0, at) + other + sealed.slice(at + 1), binding))).toMatch(
        /tampered|malformed|unknown-key/,
      )
    }
    expect(reason(await seal.unseal(sealed.slice(0, -4), binding))).toBe('tampered')
    expect(reason(await seal.unseal(`${sealed}AAAA`, binding))).toBe('tampered')
    expect(reason(await createSeal({ keys: [key('k1', 2)] }).unseal(sealed, binding))).toBe('tampered')
    expect(reason(await seal.unseal('as1.k1.AAAAAAAAAAAAAAAA.AAAA', binding))).toBe('tampered')
  })

  test('MC-MRTR-08: anything else that a client may send is refused, never thrown', async () => {
    const seal = createSeal()
    for (const text of [
      '',
      'x',
      'as1',
      'as2.k.AAAAAAAAAAAAAAAA.AAAA',
      '{"admin":true}',
      '....',
      'as1.__proto__.AAAAAAAAAAAAAAAA.AAAA\n',
    ]) {
      expect(reason(await seal.unseal(text, binding))).toBe('malformed')
    }
    expect(reason(await seal.unseal('as1.__proto__.AAAAAAAAAAAAAAAA.AAAA', binding))).toBe('unknown-key')
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), async (text) => {
        expect(reason(await seal.unseal(text, binding))).toBe('malformed')
      }),
    )
  })

  test('MC-MRTR-10: is good for one principal, one method and the same params', async () => {
    const seal = createSeal()
    const sealed = await seal.seal('state', binding, options)
    const unseal = async (change: Partial<SealBinding>): Promise<string> =>
      reason(await seal.unseal(sealed, { ...binding, ...change }))
    expect(await unseal({})).toBe('accepted')
    expect(await unseal({ principal: 'https://issuer/#bob' })).toBe('other-principal')
    expect(await unseal({ method: 'prompts/get' })).toBe('other-request')
    expect(await unseal({ params: { name: 'x' } })).toBe('other-request')
    expect(await unseal({ params: { name: 'x', arguments: { a: 1, b: ['2'] } } })).toBe('other-request')
  })

  test('MC-MRTR-10: the order of members and the form of the params do not matter', async () => {
    const seal = createSeal()
    const sealed = await seal.seal('state', binding, options)
    const reordered = new JsonText('{ "arguments": {"b":[2.0],"a":1}, "name":"\\u0078" }')
    expect(reason(await seal.unseal(sealed, { ...binding, params: reordered }))).toBe('accepted')
  })

  test('MC-MRTR-10: expires', async () => {
    let time = 1_000
    const seal = createSeal({ now: () => time })
    const sealed = await seal.seal('state', binding, { ttlMs: 500, round: 1 })
    time = 1_499
    expect(await seal.unseal(sealed, binding)).toMatchObject({ ok: true, expiresAt: 1_500 })
    time = 1_500
    expect(reason(await seal.unseal(sealed, binding))).toBe('expired')
  })

  test('MC-MRTR-11: every sealing has a nonce of its own, which single use can be kept by', async () => {
    const seal = createSeal()
    const nonces = new Set<string>()
    for (let count = 0; count < 100; count++) {
      const sealed = await seal.seal('same', binding, options)
      const [first, again] = [await seal.unseal(sealed, binding), await seal.unseal(sealed, binding)]
      if (!first.ok || !again.ok) throw new Error('refused')
      expect(again.nonce).toBe(first.nonce)
      nonces.add(first.nonce)
    }
    expect(nonces.size).toBe(100)
  })

  test('MC-MRTR-07: shows nothing of what it holds', async () => {
    const sealed = await createSeal().seal({ secret: 'hunter2' }, binding, options)
    const decoded = Buffer.from(sealed.split('.').at(-1) as string, 'base64url').toString('latin1')
    for (const hidden of ['hunter2', 'secret', 'alice']) expect(sealed + decoded).not.toContain(hidden)
    expect(sealed).toMatch(/^[\w.-]+$/)
  })

  test('keys rotate: the first seals, all open, a dropped one no longer does', async () => {
    const [old, next] = [key('old', 1), key('new', 2)]
    const sealed = await createSeal({ keys: [old] }).seal('state', binding, options)
    expect(reason(await createSeal({ keys: [next, old] }).unseal(sealed, binding))).toBe('accepted')
    expect(reason(await createSeal({ keys: [next] }).unseal(sealed, binding))).toBe('unknown-key')
    const resealed = await createSeal({ keys: [next, old] }).seal('state', binding, options)
    expect(resealed).toMatch(/^as1\.new\./)
  })

  test('without keys, two seals do not open what the other one sealed', async () => {
    const [one, two] = [createSeal(), createSeal()]
    expect(reason(await two.unseal(await one.seal('state', binding, options), binding))).toBe('unknown-key')
  })

  test('keeps its own copy of a key', async () => {
    const bytes = new Uint8Array(32).fill(1)
    const seal = createSeal({ keys: [{ id: 'k1', bytes }] })
    bytes.fill(0)
    const sealed = await seal.seal('state', binding, options)
    expect(reason(await createSeal({ keys: [key('k1', 1)] }).unseal(sealed, binding))).toBe('accepted')
  })

  test('bounds the size of what it makes and of what it looks at', async () => {
    const seal = createSeal({ maxLength: 1_000, keys: [key('k1', 1)] })
    await expect(seal.seal('x'.repeat(1_000), binding, options)).rejects.toBeInstanceOf(RangeError)
    const large = await createSeal({ keys: [key('k1', 1)] }).seal('x'.repeat(1_000), binding, options)
    expect(reason(await seal.unseal(large, binding))).toBe('malformed')
    expect(reason(await createSeal().unseal('A'.repeat(16 * 1024 * 1024), binding))).toBe('malformed')
  })

  test.each([
    ['no key', []],
    ['a short key', [{ id: 'k', bytes: new Uint8Array(16) }]],
    ['an id with a dot', [key('a.b', 1)]],
    ['an empty id', [key('', 1)]],
    ['one id twice', [key('k', 1), key('k', 2)]],
  ])('refuses to be made with %s', (_, keys) => {
    expect(() => createSeal({ keys })).toThrow(TypeError)
  })
})
