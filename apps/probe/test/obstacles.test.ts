import { expect, test, vi } from 'vitest'
import { gzipSync } from 'node:zlib'
import type { Report } from '../src/report.ts'
import { between, type BetweenOptions, type Passing } from './_util/between.ts'
import { probed, setupOf } from './_util/probing.ts'
import { serveFlawed } from './flawed/http.ts'

vi.setConfig({ testTimeout: 60_000 })

/** Probes a server without flaws, through something that stands before it. */
async function throughIt(options: BetweenOptions, more: Parameters<typeof probed>[1] = {}): Promise<Report> {
  await using host = await between(await serveFlawed(setupOf('none')), options)
  return await probed({ kind: 'url', url: host.url }, { timeoutMs: 3_000, ...more })
}

const idsOf = ({ findings }: Report): readonly string[] => [...new Set(findings.map(({ id }) => id))]

/** Edits the message of an answer, where there is one. */
const message =
  (change: (value: Record<string, unknown>) => void) =>
  (passing: Passing): void => {
    if (passing.body.length === 0) return
    const value = JSON.parse(passing.body.toString()) as Record<string, unknown>
    change(value)
    passing.body = Buffer.from(JSON.stringify(value))
  }

test.concurrent('through something that changes nothing, nothing is found', async () => {
  expect(idsOf(await throughIt({}))).toEqual([])
})

test.concurrent('H04: a limit that passes is waited for, and takes nothing away', async () => {
  let requests = 0
  const report = await throughIt({
    answer: (_, response) => {
      requests += 1
      if (requests % 9 !== 0) return false
      response.writeHead(429, { 'retry-after': '0' }).end()
      return true
    },
  })
  expect(idsOf(report)).toEqual([])
  expect(report).toMatchObject({ verdict: { era: 'dual' } })
  expect(requests).toBeGreaterThan(50)
})

test.concurrent('H04, A-25: a limit that stays is no defect of anything, and no era is judged by it', async () => {
  let requests = 0
  const report = await throughIt({
    answer: (_, response) => {
      requests += 1
      if (requests <= 5) return false
      response.writeHead(429, { 'retry-after': '3600' }).end()
      return true
    },
  })
  expect(idsOf(report)).toEqual(['rate-limited'])
  expect(report).toMatchObject({
    outcome: 'fine',
    verdict: { era: 'modern' },
    modern: { verdict: 'works' },
    legacy: { verdict: 'not-tried' },
  })
})

const lists = /list$|call$|get$|read$/

test.concurrent('MC-AUTH-03: a wall before the lists is told as one, with its challenge, and as no defect', async () => {
  const report = await throughIt({
    answer: (method, response) => {
      if (!lists.test(method ?? '')) return false
      response.writeHead(401, { 'www-authenticate': 'Bearer scope="read"' }).end()
      return true
    },
  })
  expect(idsOf(report).filter((id) => !id.startsWith('auth-'))).toEqual([])
  expect(idsOf(report)).toContain('auth-partial')
  expect(report).toMatchObject({ outcome: 'auth-required', auth: { status: 401, parameters: { scope: 'read' } } })
  expect(report.verdict.summary).toBe('The server is up and wants credentials for a part of what it offers.')
})

test.concurrent('H03: what is forbidden was not checked, and no defect', async () => {
  const report = await throughIt({
    answer: (method, response) => {
      if (!lists.test(method ?? '')) return false
      response.writeHead(403).end()
      return true
    },
  })
  expect(idsOf(report)).toEqual(['auth-partial'])
})

test.concurrent('MC-MSG-05: errors whose codes are no numbers are one defect, and not one of every check', async () => {
  const report = await throughIt({
    edit: message((value) => {
      const { error } = value as { readonly error?: { code: unknown } }
      if (error !== undefined) error.code = String(error.code)
    }),
  })
  expect(idsOf(report)).toEqual(['error-malformed'])
})

test.concurrent('MC-MSG-12: a result with an error beside it is no response, also where the error is null', async () => {
  const report = await throughIt({
    edit: message((value) => {
      if ('result' in value) value['error'] = null
    }),
  })
  expect(idsOf(report)).toEqual(['response-malformed'])
})

test.concurrent('an answer that is compressed without having been asked for is read', async () => {
  const report = await throughIt({
    edit: (passing) => {
      if (passing.body.length === 0) return
      passing.body = gzipSync(passing.body)
      passing.headers['content-encoding'] = 'gzip'
    },
  })
  expect(idsOf(report)).toEqual([])
  expect(report.verdict.era).toBe('dual')
})

test.concurrent.each([
  ['H24: an event that is not ended', 'in the middle of an event', (text: string) => `data: ${text}`],
  ['H24: a stream without the answer', 'without the answer', () => ': hello\n\n'],
])('%s is told as the cause', async (_, cause, bodyOf) => {
  const report = await throughIt({
    edit: (passing) => {
      passing.status = 200
      passing.headers['content-type'] = 'text/event-stream'
      passing.body = Buffer.from(bodyOf(passing.body.toString()))
    },
  })
  expect(report).toMatchObject({ outcome: 'unreachable', verdict: { era: 'none' } })
  expect(report.verdict.cause).toContain(cause)
})

test.concurrent('H26: JSON with a byte order mark is told as no JSON', async () => {
  const report = await throughIt({
    edit: (passing) => {
      passing.body = Buffer.concat([Buffer.from('\ufeff'), passing.body])
    },
  })
  expect(report.verdict.cause).toMatch(/application\/json, but what it says is no JSON-RPC message: not JSON/)
})

test.concurrent.each(['', '/', '/mcp/', '/wrong', '/api/v1/mcp'])(
  'H27: at the path %j the right URL is told, where the server answers at another one',
  async (path) => {
    await using front = await between(await serveFlawed(setupOf('none')), {
      answer: (_, response, __, url) => {
        if (url === '/mcp') return false
        response.writeHead(404).end()
        return true
      },
    })
    const report = await probed({ kind: 'url', url: front.url.replace('/mcp', path) })
    expect(report).toMatchObject({ outcome: 'unreachable', verdict: { era: 'none' } })
    expect(report.verdict.repair).toBe(`Write ${front.url}, where an MCP server answers.`)
  },
)

test.concurrent('F4: a page with more entries than a call may have arguments is read', async () => {
  const count = 200_000
  const report = await throughIt(
    {
      edit: message((value) => {
        const { result } = value as { readonly result?: { tools?: unknown[]; nextCursor?: string } }
        if (result?.tools === undefined) return
        delete result.nextCursor
        result.tools = Array.from({ length: count }, (_, index) => ({
          name: `t${index}`,
          description: 'one',
          inputSchema: { type: 'object' },
        }))
      }),
    },
    { timeoutMs: 20_000, protocol: 'modern' },
  )
  expect(report.modern.counts.tools).toBe(count)
})

test.concurrent('a tool that could not be called is a call that failed', async () => {
  let requests = 0
  const report = await throughIt(
    {
      answer: (_, response) => {
        requests += 1
        if (requests <= 5) return false
        response.writeHead(503, { 'retry-after': '3600' }).end()
        return true
      },
    },
    { call: { name: 'add', args: {} } },
  )
  expect(report).toMatchObject({ outcome: 'tool-failed', call: { ok: false } })
  expect(report.call?.detail).toMatch(/was not called/)
})

test.concurrent('no tool is called and nothing is changed: every request is one that reads, or is for what there is not', async () => {
  const seen = new Set<string>()
  await throughIt({
    answer: (method, _, headers) => {
      seen.add(`${method ?? '-'} ${typeof headers['mcp-name'] === 'string' ? headers['mcp-name'] : ''}`.trim())
      return false
    },
  })
  const names = [...seen].filter((entry) => /^(?:tools\/call|prompts\/get|resources\/read) /.test(entry))
  expect(names.length).toBeGreaterThan(2)
  expect(names.filter((entry) => !/atenea-probe|=\?base64\?/.test(entry))).toEqual([])
  const methods = new Set([...seen].map((entry) => entry.replace(/ .*/, '')))
  expect([...methods].toSorted((a, b) => a.localeCompare(b, 'en'))).toEqual([
    '-',
    'atenea-probe/no-such-method',
    'initialize',
    'notifications/atenea-probe',
    'notifications/initialized',
    'ping',
    'prompts/get',
    'prompts/list',
    'resources/list',
    'resources/read',
    'resources/templates/list',
    'server/discover',
    'subscriptions/listen',
    'tools/call',
    'tools/list',
  ])
})
