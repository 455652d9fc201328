import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createLineFramer } from './line-framer.ts'

/** What a framer says, in order: lines as text, faults in angle brackets. */
function collect(chunks: readonly Buffer[], maxLineBytes?: number): { said: string[]; discarded: number } {
  const said: string[] = []
  const framer = createLineFramer(
    { line: (text) => said.push(text), fault: (fault) => said.push(`<${fault}>`) },
    { maxLineBytes },
  )
  for (const chunk of chunks) framer.push(chunk)
  return { said, discarded: framer.end() }
}

function bytes(...parts: readonly (string | readonly number[])[]): Buffer {
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))))
}

function cut(whole: Buffer, size: number): Buffer[] {
  const chunks: Buffer[] = []
  for (let start = 0; start < whole.length; start += size) chunks.push(whole.subarray(start, start + size))
  return chunks
}

/** The rules of A-34 in the plainest form, over the whole input at once. */
function naive(whole: Buffer, maxLineBytes: number): { said: string[]; discarded: number } {
  const said: string[] = []
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  const lines: Buffer[] = []
  let rest = whole
  for (let end = rest.indexOf(0x0a); end !== -1; end = rest.indexOf(0x0a)) {
    lines.push(rest.subarray(0, end))
    rest = rest.subarray(end + 1)
  }
  const overlong = rest.length > maxLineBytes
  if (overlong) lines.push(rest)
  for (const [index, line] of lines.entries()) {
    if (line.length > maxLineBytes) {
      said.push('<too-long>')
      continue
    }
    let text: string
    try {
      text = decoder.decode(line)
    } catch {
      said.push('<invalid-utf8>')
      continue
    }
    if (index === 0) text = text.replace(/^\uFEFF/, '')
    text = text.replace(/\r$/, '')
    if (/^[ \t\r]*$/.test(text)) continue
    said.push(/^content-length[ \t]*:[ \t]*\d+[ \t\r]*$/i.test(text) ? '<content-length>' : text)
  }
  return { said, discarded: overlong ? 0 : rest.length }
}

describe('lines', () => {
  test('MS-FRM-01: a newline ends a line, and nothing else does', () => {
    const text = '{"a":"\u2028\u2029\u0085\v\f"}'
    expect(collect([bytes(`${text}\n${text}\n`)]).said).toEqual([text, text])
  })

  test('D1: CRLF is one line end, blank lines and a lone CR inside are harmless', () => {
    expect(collect([bytes('{"a":1}\r\n\r\n\n   \n\t\r\n{"b":\r2}\n')]).said).toEqual(['{"a":1}', '{"b":\r2}'])
  })

  test('D2: a byte order mark is dropped at the start of the stream and kept anywhere else', () => {
    const mark = [0xef, 0xbb, 0xbf]
    const whole = bytes(mark, '{"a":1}\n', mark, '{"b":2}\n')
    for (const size of [1, 2, 3, 5, 100]) expect(collect(cut(whole, size)).said).toEqual(['{"a":1}', '\uFEFF{"b":2}'])
  })

  test('D4: characters that are cut between chunks stay whole', () => {
    const text = '{"text":"读🎉é"}'
    for (const size of [1, 2, 3, 4, 7]) expect(collect(cut(bytes(`${text}\n`), size)).said).toEqual([text])
  })

  test('D19: a line that is not UTF-8 is refused alone, in a chunk with good lines and cut in pieces', () => {
    const whole = bytes('{"a":"🎉"}\n{"b":"', [0xc3, 0x28], '"}\n{"c":1}\n')
    for (const size of [1, 2, 9, 100]) {
      expect(collect(cut(whole, size)).said).toEqual(['{"a":"🎉"}', '<invalid-utf8>', '{"c":1}'])
    }
  })

  test('A-34: an unfinished last line is discarded and counted', () => {
    expect(collect([bytes('{"a":1}\n{"b"')])).toEqual({ said: ['{"a":1}'], discarded: 4 })
    expect(collect([bytes('{"a":1}\n')])).toEqual({ said: ['{"a":1}'], discarded: 0 })
  })

  test('D7: Content-Length framing is recognised at its header line', () => {
    const whole = bytes('Content-Length: 40\r\n\r\n{"jsonrpc":"2.0"}')
    expect(collect(cut(whole, 1)).said).toEqual(['<content-length>'])
    expect(collect([bytes('content-length:7\n')]).said).toEqual(['<content-length>'])
    expect(collect([bytes('Content-Length is 7\n')]).said).toEqual(['Content-Length is 7'])
  })
})

describe('the limit', () => {
  test('D8: counts the bytes before the line feed, to the byte', () => {
    for (const size of [1, 3, 1000]) {
      expect(collect(cut(bytes('{"读":1}\n'), size), 9).said).toEqual(['{"读":1}'])
      expect(collect(cut(bytes('{"读":1}\n'), size), 8).said).toEqual(['<too-long>'])
    }
  })

  test('D8: a line over it is reported once, before its end has come, and the next line is read', () => {
    expect(collect(cut(bytes('x'.repeat(100)), 7), 16).said).toEqual(['<too-long>'])
    expect(collect(cut(bytes(`${'x'.repeat(100)}\n{"a":1}\n`), 7), 16).said).toEqual(['<too-long>', '{"a":1}'])
  })

  test('D8: 300 MB without a newline hold no memory', () => {
    const chunk = Buffer.alloc(64 * 1024, 'x')
    const said: string[] = []
    const framer = createLineFramer({ line: (text) => said.push(text), fault: (fault) => said.push(fault) })
    const before = process.memoryUsage().arrayBuffers
    let peak = 0
    for (let sent = 0; sent < 300e6; sent += chunk.length) {
      framer.push(chunk)
      peak = Math.max(peak, process.memoryUsage().arrayBuffers)
    }
    framer.push(Buffer.from('\n{"a":1}\n'))
    expect(said).toEqual(['too-long', '{"a":1}'])
    expect(peak - before).toBeLessThan(80e6)
  })

  test.each([
    ['in 64 KiB chunks', 20_000_000, 64 * 1024],
    ['in 100-byte chunks', 10_000_000, 100],
    ['byte by byte', 2_000_000, 1],
  ])('D8: a long line is read in linear time %s', (_, length, size) => {
    const text = `{"a":"${'y'.repeat(length)}"}`
    const chunks = cut(bytes(`${text}\n`), size)
    const started = performance.now()
    const { said } = collect(chunks, 32 * 1024 * 1024)
    // Quadratic work takes minutes here; the bound only catches that.
    expect(performance.now() - started).toBeLessThan(2000)
    expect(said[0]?.length).toBe(text.length)
    expect(said[0]?.endsWith('y"}')).toBe(true)
  })
})

describe('properties', () => {
  const piece = fc.oneof(
    fc.constantFrom('\n', '\r\n', '\r', ' ', '\t', '\uFEFF', '\u2028', '{}', '{"a":1}', 'Content-Length: 3', '🎉'),
    fc.string({ unit: 'grapheme', maxLength: 12 }),
  )
  const input = fc
    .array(
      fc.oneof({ weight: 9, arbitrary: piece.map((text) => Buffer.from(text)) }, fc.uint8Array({ maxLength: 4 })),
      {
        maxLength: 30,
      },
    )
    .map((parts) => Buffer.concat(parts))

  test('agrees with a naive splitter at every chunking', () => {
    fc.assert(
      fc.property(input, fc.integer({ min: 1, max: 40 }), (whole, maxLineBytes) => {
        const expected = naive(whole, maxLineBytes)
        for (let size = 1; size <= Math.max(whole.length, 1); size += 1) {
          expect(collect(cut(whole, size), maxLineBytes)).toEqual(expected)
        }
      }),
      { numRuns: 200 },
    )
  })

  test('agrees with a naive splitter when the chunks have uneven sizes', () => {
    fc.assert(
      fc.property(input, fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 20 }), (whole, sizes) => {
        const chunks: Buffer[] = []
        let start = 0
        for (let turn = 0; start < whole.length; turn += 1) {
          const size = turn > 1000 ? whole.length : (sizes[turn % sizes.length] ?? 1)
          // A copy, so that bytes which the framer did not copy would be seen to change.
          chunks.push(Buffer.from(whole.subarray(start, start + size)))
          start += size
        }
        const expected = naive(whole, 64)
        expect(collect(chunks, 64)).toEqual(expected)
      }),
    )
  })

  test('does not keep the chunk it was given', () => {
    const chunk = Buffer.from('{"a":')
    const said: string[] = []
    const framer = createLineFramer({ line: (text) => said.push(text), fault: (fault) => said.push(fault) })
    framer.push(chunk)
    chunk.fill('!')
    framer.push(Buffer.from('1}\n'))
    expect(said).toEqual(['{"a":1}'])
  })
})
