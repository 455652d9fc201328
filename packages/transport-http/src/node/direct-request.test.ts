import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { directRequests } from './direct-request.ts'

const DirectRequest = directRequests(IncomingMessage)

/** As the parser of `node:http` fills a request in. */
function filled<Request extends IncomingMessage>(
  request: Request,
  fields: readonly (readonly [string, string])[],
): Request {
  const lines = fields.flat()
  ;(request as unknown as { _addHeaderLines(lines: string[], count: number): void })._addHeaderLines(
    lines,
    lines.length,
  )
  return request
}

const known = [
  'Host',
  'host',
  'Content-Type',
  'Cookie',
  'Set-Cookie',
  'Accept',
  'ACCEPT',
  'Authorization',
  'Mcp-Session-Id',
]
const strange = ['__proto__', 'constructor', 'toString', 'ToString', 'x'.repeat(100)]
const name = fc.oneof(fc.constantFrom(...known, ...strange), fc.stringMatching(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,12}$/))
const value = fc.string({ maxLength: 20 })

test('the fields of a request are those of node:http, names in any case, twice, or as every object has them', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value), { maxLength: 80 }), (fields) => {
      const ours = filled(new DirectRequest(new Socket()), fields)
      const theirs = filled(new IncomingMessage(new Socket()), fields)
      expect(Object.entries(ours.headers)).toEqual(Object.entries(theirs.headers))
      expect(ours.headers).toBe(ours.headers)
      expect(ours.rawHeaders).toEqual(theirs.rawHeaders)
    }),
    { numRuns: 500 },
  )
})

test('more names than are kept are read all the same', () => {
  for (let round = 0; round < 3; round++) {
    const fields = Array.from({ length: 300 }, (_, index) => [`X-${round}-${index}`, `${index}`] as const)
    for (const field of fields) {
      const { headers } = filled(new DirectRequest(new Socket()), [field])
      expect(headers).toEqual({ [field[0].toLowerCase()]: field[1] })
    }
  }
})
