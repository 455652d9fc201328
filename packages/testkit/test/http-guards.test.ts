import {
  createRevisionPolicy,
  type JsonObject,
  legacyRevision,
  modernRevision,
  type Principal,
} from '@atenea/mcpcompat'
import { type Challenge, type CreateHttpHandlerOptions, createBearerAuthenticator } from '@atenea/transport-http'
import { describe, expect, test } from 'vitest'
import { createServedCore } from '../src/served-core.ts'
import { type HttpCarrier, overFetch, overNode } from './_util/http-carriers.ts'
import { askModern, messageOf, openSession, postFields } from './_util/http-client.ts'

const policy = createRevisionPolicy()
const who = { name: 'who', arguments: {} }
const page = 'https://app.example.com'

describe.each([
  ['node:http', overNode],
  ['fetch', overFetch],
] as const)('the guards of %s', (_name, open) => {
  async function served(
    use: (carrier: HttpCarrier) => Promise<void>,
    options: Partial<CreateHttpHandlerOptions> = {},
  ): Promise<void> {
    await using carrier = await open(createServedCore(), { policy, ...options })
    await use(carrier)
  }

  describe('where a request comes from', () => {
    test.each([
      'https://evil.example',
      'null',
      'not an origin',
      `${page}, https://evil.example`,
      `${page}.evil.example`,
    ])(
      'MH-EP-02, MH-EP-03, LG-HTTP-02: Origin %j is 403 without an id, in both eras and on every method',
      async (origin) => {
        await served(
          async (carrier) => {
            for (const asked of [
              askModern(carrier, 'tools/call', who, { headers: { origin } }),
              carrier.ask({
                headers: { ...postFields, origin },
                body: '{"jsonrpc":"2.0","id":1,"method":"initialize"}',
              }),
              carrier.ask({ method: 'GET', headers: { accept: 'text/event-stream', origin } }),
              carrier.ask({ method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } }),
            ]) {
              const answer = await asked
              const message = await messageOf(answer)
              expect([answer.status, 'id' in message, message]).toMatchObject([
                403,
                false,
                { error: { code: -32_600 } },
              ])
              expect(answer.headers).not.toHaveProperty('access-control-allow-origin')
            }
          },
          { allowedOrigins: [page] },
        )
      },
    )

    test('MH-EP-02: a Host that was made to lead here is 403', async () => {
      await served(async (carrier) => {
        const answer = await askModern(carrier, 'tools/call', who, { headers: { host: 'evil.example:80' } })
        expect([answer.status, await messageOf(answer)]).toMatchObject([403, { error: { code: -32_600 } }])
        for (const host of ['localhost:1', '127.0.0.1', '[::1]:99']) {
          expect((await askModern(carrier, 'tools/call', who, { headers: { host } })).status).toBe(200)
        }
      })
    })

    test('hosts can be named, or all let in', async () => {
      await served(
        async (carrier) => {
          const of = async (host: string) => (await askModern(carrier, 'tools/call', who, { headers: { host } })).status
          expect([await of('mcp.example.com'), await of('127.0.0.1')]).toEqual([200, 403])
        },
        { allowedHosts: ['mcp.example.com'] },
      )
      await served(
        async (carrier) => {
          const answer = await askModern(carrier, 'tools/call', who, { headers: { host: 'whatever.example' } })
          expect(answer.status).toBe(200)
        },
        { allowedHosts: 'any' },
      )
    })
  })

  describe('pages of an origin that is allowed', () => {
    const options = { allowedOrigins: [page] }
    const cors = { 'access-control-allow-origin': page, vary: 'Origin' }

    test('a preflight lets the page send whatever headers it needs', async () => {
      await served(async (carrier) => {
        const answer = await carrier.ask({
          method: 'OPTIONS',
          headers: {
            origin: page,
            'access-control-request-method': 'POST',
            'access-control-request-headers': 'content-type,mcp-method,mcp-param-region,authorization',
            'access-control-request-private-network': 'true',
          },
        })
        expect([answer.status, await answer.text()]).toEqual([204, ''])
        expect(answer.headers).toMatchObject({
          ...cors,
          'access-control-allow-methods': 'GET, POST, DELETE',
          'access-control-allow-headers': 'content-type,mcp-method,mcp-param-region,authorization',
          'access-control-allow-private-network': 'true',
          'access-control-max-age': '86400',
        })
      }, options)
    })

    test('a preflight is not asked who it is', async () => {
      await served(
        async (carrier) => {
          const headers = { origin: page, 'access-control-request-method': 'GET' }
          expect((await carrier.ask({ method: 'OPTIONS', headers })).status).toBe(204)
        },
        { ...options, authenticate: () => ({ status: 401 }) },
      )
    })

    test('every answer can be read by the page, with the headers that it needs', async () => {
      await served(async (carrier) => {
        const headers = { origin: page }
        const answers = [
          await askModern(carrier, 'tools/call', who, { headers }),
          await askModern(carrier, 'subscriptions/listen', { notifications: {} }, { headers }),
          await askModern(carrier, 'nothing', {}, { headers }),
          await carrier.ask({ headers: { ...postFields, origin: page }, body: 'x' }),
        ]
        for (const answer of answers) {
          expect(answer.headers).toMatchObject({
            ...cors,
            'access-control-expose-headers': expect.stringContaining('Mcp-Session-Id') as string,
          })
          answer.leave()
        }
        const session = await openSession(carrier, { headers })
        expect(session.id).not.toBe('')
      }, options)
    })

    test('who is no page gets none of it', async () => {
      await served(async (carrier) => {
        const answer = await askModern(carrier, 'tools/call', who)
        expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
      }, options)
    })
  })

  describe('who sends a request', () => {
    const anna: Principal = { id: 'anna', authenticated: true, scopes: ['read'] }
    const authenticate = createBearerAuthenticator((token): Principal | Challenge | undefined => {
      if (token === 'good') return anna
      return token === 'narrow' ? { status: 403, error: 'insufficient_scope', scopes: ['mcp:tools'] } : undefined
    })
    const as = (authorization: string) => ({ headers: { authorization } })

    test('MH-EP-05: the principal of a token reaches the handler', async () => {
      await served(
        async (carrier) => {
          for (const field of ['Bearer good', 'bearer good', 'BEARER  good ']) {
            const { result } = await messageOf(await askModern(carrier, 'tools/call', who, as(field)))
            expect(result).toMatchObject({ structuredContent: { principal: 'anna' } })
          }
        },
        { authenticate },
      )
    })

    test('an authenticator may take its time', async () => {
      await served(
        async (carrier) => {
          const { result } = await messageOf(await askModern(carrier, 'tools/call', who, as('Bearer good')))
          expect(result).toMatchObject({ structuredContent: { principal: 'anna' } })
          expect((await askModern(carrier, 'tools/call', who)).status).toBe(401)
        },
        {
          authenticate: async (request) => {
            await new Promise((resolve) => setTimeout(resolve, 10))
            return await authenticate(request)
          },
        },
      )
    })

    test.each<[string, string | undefined, number, string]>([
      ['no token', undefined, 401, 'Bearer realm="mcp"'],
      ['another scheme', 'Basic eDp5', 401, 'Bearer realm="mcp"'],
      [
        'a token that nobody knows',
        'Bearer bad',
        401,
        'Bearer realm="mcp", error="invalid_token", error_description="The access token is not valid"',
      ],
      [
        'a header that holds no token',
        'Bearer good, Bearer good',
        400,
        'Bearer realm="mcp", error="invalid_request", error_description="The Authorization header holds no bearer token"',
      ],
      [
        'a token that is not enough',
        'Bearer narrow',
        403,
        'Bearer realm="mcp", error="insufficient_scope", scope="mcp:tools"',
      ],
    ])('%s is answered with a challenge, before the body is looked at', async (_case, authorization, status, field) => {
      await served(
        async (carrier) => {
          const headers = { ...postFields, ...(authorization !== undefined && { authorization }) }
          const answer = await carrier.ask({ headers, body: 'no JSON at all' })
          expect([answer.status, answer.headers['www-authenticate']]).toEqual([status, field])
          expect(await messageOf(answer)).toMatchObject({ error: { code: -32_600 } })
        },
        { authenticate },
      )
    })

    test('A7: while nobody can tell who asks, the answer is 503 with a time and no challenge', async () => {
      await served(
        async (carrier) => {
          const answer = await askModern(carrier, 'tools/call', who)
          expect([answer.status, answer.headers['retry-after'], answer.headers['www-authenticate']]).toEqual([
            503,
            '8',
            undefined,
          ])
          expect(await messageOf(answer)).toMatchObject({ error: { code: -32_603, message: 'Ask again' } })
        },
        { authenticate: () => ({ status: 503, description: 'Ask again', retryAfterMs: 7_001 }) },
      )
    })

    test('an authenticator that breaks is 500, and its text stays here', async () => {
      const causes: unknown[] = []
      for (const authenticate of [
        () => {
          throw new Error('secret')
        },
        async () => await Promise.reject<Principal>(new Error('secret')),
      ]) {
        await served(
          async (carrier) => {
            const answer = await askModern(carrier, 'tools/call', who)
            expect([answer.status, await answer.text()]).toEqual([500, expect.not.stringContaining('secret')])
          },
          { authenticate, onDiagnostic: ({ cause }) => causes.push(cause) },
        )
      }
      expect(causes).toHaveLength(2)
    })

    test('what a listener of diagnostics throws changes no answer', async () => {
      await served(
        async (carrier) => {
          const answer = await askModern(carrier, 'tools/call', who, { headers: { origin: 'https://evil.example' } })
          expect(answer.status).toBe(403)
          expect((await askModern(carrier, 'tools/call', who)).status).toBe(200)
        },
        {
          onDiagnostic: () => {
            throw new Error('a listener that breaks')
          },
        },
      )
    })

    test('nobody signs in: all are one', async () => {
      await served(
        async (carrier) => {
          const { result } = await messageOf(await askModern(carrier, 'tools/call', who))
          expect(result).toMatchObject({ structuredContent: { principal: 'anonymous@here' } })
        },
        { anonymous: 'anonymous@here' },
      )
    })

    test('the metadata of the resource is served to everybody, and named in challenges', async () => {
      await served(
        async (carrier) => {
          const challenged = await askModern(carrier, 'tools/call', who)
          const url = 'https://mcp.example.com/.well-known/oauth-protected-resource/mcp'
          expect(challenged.headers['www-authenticate']).toBe(`Bearer realm="mcp", resource_metadata="${url}"`)
          for (const path of ['/.well-known/oauth-protected-resource/mcp', '/.well-known/oauth-protected-resource']) {
            const answer = await carrier.ask({ method: 'GET', path })
            expect(answer.headers['access-control-allow-origin']).toBe('*')
            expect(await messageOf(answer)).toEqual({
              resource: 'https://mcp.example.com/mcp',
              authorization_servers: ['https://login.example.com'],
              bearer_methods_supported: ['header'],
              scopes_supported: ['mcp:tools'],
              resource_name: 'Example',
            } satisfies JsonObject)
          }
        },
        {
          authenticate,
          protectedResource: {
            resource: 'https://mcp.example.com/mcp',
            authorizationServers: ['https://login.example.com'],
            scopesSupported: ['mcp:tools'],
            resourceName: 'Example',
          },
        },
      )
      await served(async (carrier) => {
        expect((await carrier.ask({ method: 'GET', path: '/.well-known/oauth-protected-resource' })).status).toBe(404)
      })
    })
  })

  test('a body that does not arrive in time is 408', async () => {
    await served(
      async (carrier) => {
        const answer = await carrier.ask({ headers: postFields, body: '{"jsonrpc"', unfinished: true })
        expect([answer.status, await messageOf(answer)]).toMatchObject([408, { error: { code: -32_600 } }])
      },
      { bodyTimeoutMs: 160 },
    )
  })

  test('MH-EP-01, MH-ERA-06: a server for one era refuses the other by name', async () => {
    await served(
      async (carrier) => {
        const params = { protocolVersion: legacyRevision, capabilities: {}, clientInfo: { name: 'n', version: '1' } }
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
        const answer = await carrier.ask({ headers: postFields, body })
        expect([answer.status, await messageOf(answer)]).toMatchObject([
          400,
          { error: { code: -32_022, data: { supported: [modernRevision], requested: legacyRevision } } },
        ])
      },
      { policy: createRevisionPolicy({ legacy: [] }) },
    )
    await served(
      async (carrier) => {
        const answer = await askModern(carrier, 'tools/call', who)
        expect([answer.status, await messageOf(answer)]).toMatchObject([
          400,
          { error: { code: -32_022, data: { supported: [legacyRevision], requested: modernRevision } } },
        ])
      },
      { policy: createRevisionPolicy({ modern: [] }) },
    )
  })
})
