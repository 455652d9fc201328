import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isExtensionId, parseMetaKey } from './meta-keys.ts'

describe('MC-META-01, MC-META-02, MC-META-05, LG-META-01: the grammar, in both eras', () => {
  test.each([
    ['name', true, 'a name alone'],
    ['n', true, 'one character'],
    ['', true, 'an empty name'],
    ['com.example/', true, 'an empty name after a prefix'],
    ['a/b', true, 'one label'],
    ['com.example/my_key.v-2', true, 'all characters of a name'],
    ['com.ex-ample/1', true, 'a hyphen inside a label'],
    ['a1.b2/x', true, 'labels that end with digits'],
    ['/', false, 'an empty prefix and an empty name'],
    ['/x', false, 'an empty prefix'],
    ['com..example/x', false, 'an empty label'],
    ['.com/x', false, 'an empty first label'],
    ['com./x', false, 'an empty last label'],
    ['com.example//x', false, 'two slashes'],
    ['com.example/a/b', false, 'a second slash'],
    ['1com/x', false, 'a label that starts with a digit'],
    ['-com/x', false, 'a label that starts with a hyphen'],
    ['com-/x', false, 'a label that ends with a hyphen'],
    ['c_m/x', false, 'an underscore in a label'],
    ['cöm/x', false, 'another letter in a label'],
    ['com.example/_x', false, 'a name that starts with an underscore'],
    ['com.example/.x', false, 'a name that starts with a dot'],
    ['com.example/x-', false, 'a name that ends with a hyphen'],
    ['a b', false, 'a blank'],
    ['x\n', false, 'a line end'],
    ['né', false, 'another letter in a name'],
  ])('%j is valid: %s (%s)', (key, valid) => {
    expect([parseMetaKey(key, 'modern').valid, parseMetaKey(key, 'legacy').valid]).toEqual([valid, valid])
  })

  test('a long key takes linear time', () => {
    expect(parseMetaKey(`${'a'.repeat(1_000_000)}-/x`, 'modern').valid).toBe(false)
    expect(parseMetaKey(`${'a.'.repeat(500_000)}b/${'x'.repeat(1_000_000)}_`, 'modern').valid).toBe(false)
  })
})

describe('MC-META-04, MC-META-07, LG-META-02: what each era reserves', () => {
  test.each([
    ['io.modelcontextprotocol/x', true, false, 'second label; no label follows it'],
    ['dev.mcp/x', true, false, 'second label, which is the last'],
    ['com.mcp.tools/x', true, true, 'second label, and one follows it'],
    ['mcp.dev/x', false, true, 'one label follows'],
    ['modelcontextprotocol.io/x', false, true, 'one label follows'],
    ['tools.mcp.com/x', true, true, 'second label, and one follows it'],
    ['a.b.mcp.c/x', false, true, 'one label follows'],
    ['a.mcp.b.c/x', true, true, 'second label, and two follow it'],
    ['mcp.a.b/x', false, true, 'two labels follow'],
    ['modelcontextprotocol.a.b.c/x', false, true, 'three labels follow'],
    ['a.b.c.mcp/x', false, false, 'the last label'],
    ['com.example.mcp/x', false, false, 'third label, which is the last'],
    ['mcp/x', false, false, 'the only label'],
    ['com.mcpx/x', false, false, 'another word'],
    ['com.MCP.tools/x', false, false, 'case counts'],
    ['progressToken', true, true, 'a name of both eras'],
    ['traceparent', true, false, 'a name of the modern era'],
    ['tracestate', true, false, 'a name of the modern era'],
    ['baggage', true, false, 'a name of the modern era'],
    ['com.example/progressToken', false, false, 'the same name behind a prefix'],
  ])('%s: modern %s, legacy %s (%s)', (key, modern, legacy) => {
    expect(parseMetaKey(key, 'modern')).toEqual({ valid: true, reserved: modern })
    expect(parseMetaKey(key, 'legacy')).toEqual({ valid: true, reserved: legacy })
  })
})

test.each([
  ['io.modelcontextprotocol/tasks', true],
  ['com.example/', true],
  ['tasks', false],
  ['_x/tasks', false],
])('MC-EXT-01: %s names an extension: %s', (key, expected) => {
  expect(isExtensionId(key)).toBe(expected)
})

test('any text has an answer', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.constantFrom('modern' as const, 'legacy' as const), (key, era) => {
      expect(typeof parseMetaKey(key, era).valid).toBe('boolean')
    }),
  )
})
