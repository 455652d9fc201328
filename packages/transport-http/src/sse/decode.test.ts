import { TransportError } from '@atenea/mcpcompat'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createSseDecoder, type SseEvent } from './decode.ts'

const encoder = new TextEncoder()

interface Decoded {
  readonly events: readonly SseEvent[]
  readonly id: string | undefined
  readonly retryMs: number | undefined
}

function decode(chunks: readonly Uint8Array[], maxEventBytes = 1 << 20): Decoded {
  const decoder = createSseDecoder({ maxEventBytes })
  const events = chunks.flatMap((chunk) => [...decoder.push(chunk)])
  return { events, id: decoder.lastEventId, retryMs: decoder.retryMs }
}

function bytesOf(text: string): Uint8Array {
  return encoder.encode(text)
}

/** The same bytes in one piece, byte by byte, and cut in two at every place. */
function everyCut(bytes: Uint8Array): Uint8Array[][] {
  return [
    [bytes],
    Array.from(bytes, (byte) => Uint8Array.of(byte)),
    ...Array.from(bytes, (_, at) => [bytes.subarray(0, at), bytes.subarray(at)]),
  ]
}

/** The rules of WHATWG as they are written, over the whole text at once. */
function naive(bytes: Uint8Array): Decoded {
  const lines = new TextDecoder().decode(bytes).split(/\r\n|\r|\n/)
  lines.pop() // what no line end closes is no line
  const events: SseEvent[] = []
  let [data, type, buffered, id]: [string, string, string | undefined, string | undefined] = [
    '',
    '',
    undefined,
    undefined,
  ]
  let retryMs: number | undefined
  for (const line of lines) {
    if (line === '') {
      id = buffered ?? id
      if (data !== '') events.push({ type: type === '' ? 'message' : type, data: data.replace(/\n$/, '') })
      data = ''
      type = ''
      continue
    }
    const [, name = '', value = ''] = /^([^:]*)(?:: ?([^]*))?$/.exec(line) ?? []
    if (name === 'data') data += `${value}\n`
    else if (name === 'event') type = value
    else if (name === 'id' && !value.includes('\0')) buffered = value
    else if (name === 'retry' && /^\d+$/.test(value)) retryMs = Number(value)
  }
  return { events, id, retryMs }
}

const message = '{"jsonrpc":"2.0","id":1,"result":{}}'

describe.each([
  [
    'C10: CRLF cut between its two characters is one line end',
    `data: {"jsonrpc":"2.0",\r\ndata: "id":1,"result":{}}\r\n\r\n`,
    [{ type: 'message', data: '{"jsonrpc":"2.0",\n"id":1,"result":{}}' }],
  ],
  [
    'C10: CR alone ends lines',
    `data: a\rdata: b\r\rdata: c\r\r`,
    [
      { type: 'message', data: 'a\nb' },
      { type: 'message', data: 'c' },
    ],
  ],
  [
    'C10: mixed line ends',
    `data: a\r\n\ndata: b\r\n\r\ndata: c\n\r`,
    [
      { type: 'message', data: 'a' },
      { type: 'message', data: 'b' },
      { type: 'message', data: 'c' },
    ],
  ],
  [
    'C11: data over several lines is joined with line feeds',
    `data: {\ndata: "a": 1\ndata: }\n\n`,
    [{ type: 'message', data: '{\n"a": 1\n}' }],
  ],
  [
    'C11: a space after the colon may be left out, and only one is dropped',
    `data:x\n\ndata:  y\n\n`,
    [
      { type: 'message', data: 'x' },
      { type: 'message', data: ' y' },
    ],
  ],
  ['C11: characters of several bytes', `data: 読🎉é\n\n`, [{ type: 'message', data: '読🎉é' }]],
  [
    'C11: a BOM at the start of the stream only',
    `\uFEFFdata: \uFEFFa\n\n\uFEFFdata: b\n\n`,
    [{ type: 'message', data: '\uFEFFa' }],
  ],
  ['C11: a field without a colon', `data\ndata\n\nnothing\n\n`, [{ type: 'message', data: '\n' }]],
  [
    'C11: an event with empty data is an event, one without data is none',
    `data:\n\nid: 3\n\nevent: x\n\n`,
    [{ type: 'message', data: '' }],
  ],
  [
    'C13: U+2028, U+2029 and NEL are data',
    `data: a\u2028b\u2029c\u0085d\u000bf\n\n`,
    [{ type: 'message', data: 'a\u2028b\u2029c\u0085d\u000bf' }],
  ],
  [
    'A-51: other event types are told, and end with their event',
    `event: ping\ndata: 1\n\ndata: 2\n\n`,
    [
      { type: 'ping', data: '1' },
      { type: 'message', data: '2' },
    ],
  ],
  [
    'MH-SSE-07: comments are ignored',
    `: hello\n:\ndata: 1\n: in between\n\n: alone\n\n`,
    [{ type: 'message', data: '1' }],
  ],
  ['an event that the end cuts off is none', `data: 1\n\ndata: 2\n`, [{ type: 'message', data: '1' }]],
] as const)('%s', (_name, text, events) => {
  test('at every cut', () => {
    for (const chunks of everyCut(bytesOf(text))) expect(decode(chunks).events).toEqual(events)
  })
})

describe('what resumes a stream', () => {
  test('C11: the id of an event counts once it is complete; one with NUL does not count; an empty one resets', () => {
    expect(decode([bytesOf('id: 1\ndata: a\n\nid: 2\ndata: b\n')]).id).toBe('1')
    expect(decode([bytesOf('id: 1\n\nid: 2\0\n\n')]).id).toBe('1')
    expect(decode([bytesOf('id: 1\n\nid\n\n')]).id).toBe('')
    expect(decode([bytesOf('id: 1\n\ndata: x\n\n')]).id).toBe('1')
  })

  test('C7: the reconnection time counts when it is digits only', () => {
    expect(decode([bytesOf('retry: 500\n')]).retryMs).toBe(500)
    expect(decode([bytesOf('retry: 1e3\nretry: -1\nretry:\n')]).retryMs).toBeUndefined()
  })
})

describe('C14: the limit', () => {
  const event = `data: ${'x'.repeat(38)}\n\n` // 46 bytes
  const limit = 64

  test('is for one event and starts anew at its end, wherever the chunks are cut', () => {
    for (const chunks of everyCut(bytesOf(event + event))) expect(decode(chunks, limit).events).toHaveLength(2)
  })

  test('counts all lines of an event, and not one byte too many', () => {
    const full = `data: ${'x'.repeat(26)}\ndata: ${'y'.repeat(26)}\n\n` // two lines of 32 bytes
    for (const chunks of everyCut(bytesOf(full))) {
      expect(decode(chunks, 64).events).toHaveLength(1)
      expect(() => decode(chunks, 63)).toThrow(TransportError)
    }
  })

  test('trips before a line without an end is held', () => {
    const decoder = createSseDecoder({ maxEventBytes: limit })
    decoder.push(bytesOf('data: '))
    const flood = (): void => {
      for (let index = 0; index < 100; index++) decoder.push(bytesOf('xxxxxxxxxx'))
    }
    expect(flood).toThrow(expect.objectContaining({ kind: 'too-large' }))
  })

  test('does not concern comments: a quiet stream of them goes on for ever', () => {
    const comment = bytesOf(`:${'k'.repeat(200)}\n`)
    const decoder = createSseDecoder({ maxEventBytes: limit })
    for (let index = 0; index < 1_000; index++) decoder.push(comment.subarray(0, 100))
    decoder.push(bytesOf('\n'))
    for (let index = 0; index < 1_000; index++) decoder.push(comment)
    expect(decoder.push(bytesOf(event))).toHaveLength(1)
  })
})

test('A-51: any bytes at any chunking mean what the rules say', () => {
  const token = fc.oneof(
    fc.constantFrom(
      'data',
      'event',
      'id',
      'retry',
      'other',
      ':',
      ': ',
      ' ',
      '\n',
      '\r',
      '\r\n',
      '\n\n',
      '12',
      '\0',
      '\uFEFF',
      'é🎉',
      '\u2028',
    ),
    fc.string({ maxLength: 4 }),
  )
  const broken = fc.uint8Array({ maxLength: 3 })
  const piece = fc.oneof({ weight: 20, arbitrary: token.map(bytesOf) }, { weight: 1, arbitrary: broken })
  const stream = fc
    .array(piece, { maxLength: 40 })
    .map((pieces) => Uint8Array.from(pieces.flatMap((part) => [...part])))
  fc.assert(
    fc.property(stream, fc.array(fc.nat({ max: 200 }), { maxLength: 8 }), (bytes, cuts) => {
      const places = [...cuts.map((cut) => cut % (bytes.length + 1)), 0, bytes.length].sort((a, b) => a - b)
      const chunks = places.slice(1).map((place, index) => bytes.subarray(places[index], place))
      const expected = naive(bytes)
      expect(decode(chunks)).toEqual(expected)
      expect(decode(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(expected)
    }),
    { numRuns: 2_000 },
  )
})

test('time is linear: many chunks, one line, and line ends of one kind only', () => {
  const started = performance.now()
  const decoder = createSseDecoder({ maxEventBytes: 1 << 26 })
  const part = bytesOf('x'.repeat(1_024))
  decoder.push(bytesOf('data: '))
  for (let index = 0; index < 16_384; index++) decoder.push(part)
  expect(decoder.push(bytesOf('\n\n'))[0]?.data).toHaveLength(16_384 * 1_024)
  const returns = new Uint8Array(1 << 20).fill(0x0d)
  const feeds = new Uint8Array(1 << 20).fill(0x0a)
  decoder.push(returns)
  decoder.push(feeds)
  // Quadratic work would take minutes.
  expect(performance.now() - started).toBeLessThan(5_000)
})

test('a whole answer in one event', () => {
  expect(decode([bytesOf(`event: message\nid: 7\ndata: ${message}\n\n`)])).toEqual({
    events: [{ type: 'message', data: message }],
    id: '7',
    retryMs: undefined,
  })
})
