import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { faulty, type Sample, sound, stricter } from '../../../test/_util/http-corpus.ts'
import { HttpFault } from './fault.ts'
import { ResponseParser } from './response-parser.ts'

interface Heard {
  status: number
  fields: Record<string, string>
  body: string
  isWhole: boolean
  /** Bytes after the answer. */
  rest: string
}

/** Reads an answer that comes in pieces, from memory that is overwritten after each one. */
function read(pieces: readonly Buffer[], closes: boolean): Heard {
  const heard: Heard = { status: 0, fields: {}, body: '', isWhole: false, rest: '' }
  const parser = new ResponseParser()
  parser.expect({
    onHead: ({ status, headers }) => Object.assign(heard, { status, fields: { ...headers } }),
    onPiece: (bytes, from, to) => {
      heard.body += bytes.toString('latin1', from, to)
    },
    onEnd: () => {
      heard.isWhole = true
    },
  })
  for (const piece of pieces) {
    const memory = Buffer.concat([piece, Buffer.from('HTTP/1.1 stale bytes of an earlier read\r\n\r\n')])
    const taken = parser.take(memory, piece.length)
    heard.rest += memory.toString('latin1', taken, piece.length)
    memory.fill(0)
  }
  if (closes) parser.takeEnd()
  return heard
}

function cut(bytes: Buffer, at: readonly number[]): Buffer[] {
  const places = [...new Set(at.map((place) => place % (bytes.length + 1)))].toSorted((a, b) => a - b)
  const ends = [...places, bytes.length]
  return ends.map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end))
}

const cuts = fc.array(fc.nat(40_000), { maxLength: 12 })

function bytesOf(sample: Sample): Buffer {
  return Buffer.from(sample.bytes, 'latin1')
}

describe('an answer that is in order', () => {
  test.each(sound)('is read alike in whatever pieces it comes: $name', (sample) => {
    const bytes = bytesOf(sample)
    const whole = read([bytes], sample.closes === true)
    expect(whole).toMatchObject({ isWhole: true, rest: '' })
    fc.assert(
      fc.property(cuts, (at) => {
        expect(read(cut(bytes, at), sample.closes === true)).toEqual(whole)
      }),
    )
    const byByte = [...bytes].map((byte) => Buffer.of(byte))
    expect(read(byByte, sample.closes === true)).toEqual(whole)
  })

  test.each(sound.filter(({ closes }) => closes !== true))('leaves what follows it: $name', (sample) => {
    const bytes = Buffer.concat([bytesOf(sample), Buffer.from('HTTP/1.1 500 not ours')])
    fc.assert(
      fc.property(cuts, (at) => {
        expect(read(cut(bytes, at), false)).toMatchObject({ isWhole: true, rest: 'HTTP/1.1 500 not ours' })
      }),
    )
  })

  test('has its fields in lower case, lists joined, and nothing that was not sent', () => {
    const { fields } = read(
      [
        Buffer.from(
          'HTTP/1.1 200 OK\r\nA: 1\r\na: 2\r\nContent-Type: x\r\nCONTENT-TYPE: y\r\n__proto__: p\r\ntoString: t\r\nContent-Length: 0\r\n\r\n',
        ),
      ],
      false,
    )
    expect(Object.entries(fields)).toEqual([
      ['a', '1, 2'],
      ['content-type', 'x'],
      ['__proto__', 'p'],
      ['tostring', 't'],
      ['content-length', '0'],
    ])
    const parser = new ResponseParser()
    parser.expect({ onHead: () => undefined, onPiece: () => undefined, onEnd: () => undefined })
    const bytes = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
    parser.take(bytes, bytes.length)
    const { constructor, hasOwnProperty } = parser.head?.headers ?? {}
    expect([constructor, hasOwnProperty]).toEqual([undefined, undefined])
  })

  test('random bodies come out of random chunks, with random extensions, as they went in', () => {
    const chunk = fc.record({
      data: fc.uint8Array({ minLength: 1, maxLength: 400 }),
      extension: fc.constantFrom('', ';a', ';a=b', ';a="b;c"'),
      zeros: fc.nat(3),
    })
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 8 }), cuts, (chunks, at) => {
        const bytes = Buffer.concat([
          Buffer.from('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'),
          ...chunks.flatMap(({ data, extension, zeros }) => [
            Buffer.from(`${'0'.repeat(zeros)}${data.length.toString(16)}${extension}\r\n`),
            data,
            Buffer.from('\r\n'),
          ]),
          Buffer.from('0\r\n\r\n'),
        ])
        const { body, isWhole } = read(cut(bytes, at), false)
        expect(isWhole).toBe(true)
        expect(body).toBe(Buffer.concat(chunks.map(({ data }) => data)).toString('latin1'))
      }),
    )
  })
})

test('a stream of any length may have extensions in its chunks', () => {
  const chunk = `1;${'x'.repeat(100)}\r\na\r\n`
  const bytes = Buffer.from(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunk.repeat(1_000)}0\r\n\r\n`)
  expect(read([bytes], false)).toMatchObject({ isWhole: true, body: 'a'.repeat(1_000) })
})

describe('an answer that is not', () => {
  test.each([...faulty, ...stricter])('is refused in whatever pieces it comes: $name', (sample) => {
    const bytes = bytesOf(sample)
    const isRefused = (pieces: readonly Buffer[]): boolean => {
      try {
        return !read(pieces, sample.closes === true).isWhole
      } catch (error) {
        if (error instanceof HttpFault) return true
        throw error
      }
    }
    expect(isRefused([bytes])).toBe(true)
    fc.assert(fc.property(cuts, (at) => isRefused(cut(bytes, at))))
  })

  test.each(faulty.filter(({ closes }) => closes !== true))(
    'is refused as soon as it is one, without waiting for more: $name',
    (sample) => {
      expect(() => read([bytesOf(sample)], false)).toThrow(HttpFault)
    },
  )

  test('nothing but a fault comes of any bytes', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        'HTTP/1.1 200 OK\r\n',
        '\r\n',
        '\r\n\r\n',
        'Content-Length: 3',
        'Transfer-Encoding: chunked',
        '0',
      ),
      fc.string({ maxLength: 5 }),
    )
    const faultOf = (pieces: readonly Buffer[]): unknown => {
      try {
        return read(pieces, true) && undefined
      } catch (error) {
        return error
      }
    }
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 10 }), cuts, (texts, at) => {
        const fault = faultOf(cut(Buffer.from(texts.join(''), 'latin1'), at))
        expect(fault === undefined || fault instanceof HttpFault).toBe(true)
      }),
    )
  })
})
