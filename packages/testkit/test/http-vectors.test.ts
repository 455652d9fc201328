import { readFileSync } from 'node:fs'
import {
  type Call,
  canonicalize,
  createRevisionPolicy,
  type Dispatcher,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@atenea/mcpcompat'
import { describe, expect, test } from 'vitest'
import { given, headersOf, present, serverOf, text } from '../src/vectors/kind.ts'
import { bodyLimit, viewOf } from '../src/vectors/server-kinds.ts'
import { parseVectorFile, type ServerFixture } from '../src/vectors/vector-file.ts'
import { type HttpAnswer, type HttpCarrier, type OpenCarrier, overFetch, overNode } from './_util/http-carriers.ts'
import { openSession } from './_util/http-client.ts'

const files = ['spec/vectors.json', 'vectors/more.json'].map((name) =>
  parseVectorFile(readFileSync(new URL(`../fixtures/${name}`, import.meta.url), 'utf8')),
)
const cases = files.flatMap((file) =>
  file.vectors.filter(({ kind }) => kind === 'http_validate').map((vector) => ({ vector, file })),
)

/** Client of the session that a fixture calls live; everybody else is modern. */
const sessionClient = 'test'

interface Seen {
  readonly era: 'modern' | 'legacy'
  readonly method: string
}

/** Serves a fixture, and remembers what reached it. */
function fixtureDispatcher(server: ServerFixture, seen: Seen[]): Dispatcher {
  return {
    call({ method }: Call, { peer }) {
      seen.push({ era: peer.name === sessionClient ? 'legacy' : 'modern', method })
      return { kind: 'result', value: {} }
    },
    notify: () => undefined,
    view: () => viewOf(server),
    drain: async () => await Promise.resolve(),
  }
}

async function opened(open: OpenCarrier, server: ServerFixture, seen: Seen[]): Promise<HttpCarrier> {
  const [session, ...more] = Object.entries(server.legacySessions)
  expect(more).toEqual([])
  const carrier = await open(fixtureDispatcher(server, seen), {
    policy: createRevisionPolicy({ modern: server.modernVersions, legacy: server.legacyVersions }),
    allowedOrigins: server.allowedOrigins,
    maxBodyBytes: bodyLimit,
    createSessionId: () => session?.[0] ?? 'none',
  })
  if (session !== undefined) await openSession(carrier, { revision: session[1] as string })
  return carrier
}

/** What the server did, in the words of the vectors. */
async function outcomeOf(answer: HttpAnswer, method: string, body: JsonValue, seen: Seen[]): Promise<JsonObject> {
  const { status, headers } = answer
  if (status === 202) return { outcome: 'accepted', status }
  if (status === 204) return { outcome: 'legacy', status }
  if (method === 'GET' && status === 200) {
    answer.leave()
    return { outcome: 'legacy', status }
  }
  const written = await answer.text()
  const message: unknown = written === '' ? {} : JSON.parse(written.replace(/^data: /, ''))
  const { result, error, id } = message as { result?: JsonObject; error?: JsonObject; id?: JsonValue }
  const [first] = seen
  if (first !== undefined) return { outcome: first.era, dispatch: first.method, status }
  const asked = isJsonObject(body) ? body['method'] : undefined
  if (result !== undefined) {
    const isLegacy = headers['mcp-session-id'] !== undefined || asked === 'ping'
    return { outcome: isLegacy ? 'legacy' : 'modern', dispatch: asked, status }
  }
  return present({ outcome: 'reject', status, code: error?.['code'], id: id ?? null, data: error?.['data'] })
}

/** The members that the case compares: its own, and of data those that it gives. */
function compared(actual: JsonObject, expected: JsonObject): JsonObject {
  const members = Object.fromEntries(Object.entries(actual).filter(([key]) => key === 'outcome' || key in expected))
  const { data } = expected
  if (!isJsonObject(data) || !isJsonObject(members['data'])) return members
  const own = Object.entries(members['data']).filter(([key]) => key in data)
  return { ...members, data: Object.fromEntries(own) }
}

test('there are cases of the specification and more', () => expect(cases.length).toBeGreaterThan(80))

describe.each([
  ['node:http', overNode],
  ['fetch', overFetch],
] as const)('the vectors of the ladder, through a handler of %s', (_name, open) => {
  test.each(cases.map(({ vector, file }) => ({ ...vector, file, covers: vector.requirements.join(', ') })))(
    '$id ($covers): $note',
    async ({ input, file, expect: expected }) => {
      const seen: Seen[] = []
      await using carrier = await opened(open, serverOf(input, file), seen)
      seen.length = 0
      const method = text(input, 'httpMethod')
      const body = 'body' in input ? given(input, 'body') : null
      const answer = await carrier.ask({
        method,
        headers: headersOf(input),
        ...(body !== null && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const actual = compared(await outcomeOf(answer, method, body, seen), expected)
      expect(canonicalize(actual)).toBe(canonicalize(expected))
    },
  )
})
