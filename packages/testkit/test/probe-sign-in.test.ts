import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '@atenea/mcpcompat'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Desktop } from './_util/desktop.ts'
import { startGuarded } from './_util/guarded-server.ts'

const binPath = join(import.meta.dirname, '../../../apps/probe/bin/atenea-probe.js')
if (!existsSync(join(binPath, '../../dist/main.js'))) {
  throw new Error('apps/probe is not built: run npx -y pnpm@12 build first')
}

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'atenea-probe-sign-in-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

interface Report {
  readonly outcome: string
  readonly findings: readonly { readonly id: string }[]
  readonly modern: { readonly verdict: string }
  readonly auth: {
    readonly status: number
    readonly signedIn?: boolean
    readonly authorization?: {
      readonly documents: readonly { readonly url: string; readonly outcome: string }[]
      readonly issuers: readonly string[]
      readonly registration: readonly string[]
      readonly flows: readonly string[]
    }
  }
}

async function probe(url: string, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [binPath, '--format', 'json', ...args, url], {
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      XDG_STATE_HOME: join(folder, 'state'),
      BROWSER: 'none',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => (texts[name] += text))
  }
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  return { code, ...texts, report: JSON.parse(texts.stdout) as Report }
}

describe('atenea-probe before a server that wants a sign-in', () => {
  test('MC-AUTH-03: says how to get in, and goes on to the whole report once somebody has signed in', async () => {
    await using guarded = await startGuarded()
    await using desktop = await Desktop.open(folder)
    const outside = await probe(guarded.url)
    expect(outside.code).toBe(3)
    expect(outside.report.outcome).toBe('auth-required')
    expect(outside.report.auth.authorization).toMatchObject({
      issuers: [guarded.provider.issuer],
      registration: ['dynamic'],
      flows: ['browser', 'device'],
    })
    expect(outside.report.findings.map(({ id }) => id)).toEqual([])
    const inside = await probe(guarded.url, ['--sign-in'], { BROWSER: desktop.command })
    expect(inside.report).toMatchObject({ outcome: 'fine', auth: { signedIn: true }, modern: { verdict: 'works' } })
    expect(inside.code).toBe(0)
    // The sign-in is that of the user, so that nobody is asked again.
    expect((await probe(guarded.url, ['--sign-in'])).report.auth.signedIn).toBe(true)
    expect(desktop.shown).toHaveLength(1)
    const token = guarded.seen.findLast((value) => value !== undefined)?.slice('Bearer '.length) ?? ''
    expect(token).not.toBe('')
    expect(inside.stdout + inside.stderr).not.toContain(token)
  }, 60_000)
})

/** What a server says wrongly, and the finding that names it. */
interface Documents {
  readonly resource?: (origin: string) => JsonObject
  readonly issuer?: (origin: string) => JsonObject
  readonly challenge?: (origin: string) => string | undefined
}

const good = {
  resource: (origin: string): JsonObject => ({ resource: `${origin}/mcp`, authorization_servers: [origin] }),
  issuer: (origin: string): JsonObject => ({
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    code_challenge_methods_supported: ['S256'],
  }),
}

async function startFlawed(documents: Documents) {
  const server = createServer((request, response) => {
    const origin = `http://${request.headers.host}`
    const path = request.url ?? ''
    const document = path.startsWith('/.well-known/oauth-protected-resource')
      ? documents.resource?.(origin)
      : path.startsWith('/.well-known/oauth-authorization-server')
        ? documents.issuer?.(origin)
        : undefined
    if (path === '/mcp') {
      const challenge = documents.challenge === undefined ? 'Bearer scope="a"' : documents.challenge(origin)
      response.writeHead(401, challenge === undefined ? {} : { 'www-authenticate': challenge }).end()
    } else if (document === undefined) response.writeHead(404).end()
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

test.each<readonly [string, Documents, readonly string[]]>([
  ['nothing is wrong', good, []],
  ['no challenge', { ...good, challenge: () => undefined }, ['auth-challenge-missing']],
  [
    'another resource',
    { ...good, resource: (origin) => ({ ...good.resource(origin), resource: 'https://evil.example/mcp' }) },
    ['auth-resource-mismatch'],
  ],
  [
    'no authorization server',
    { ...good, resource: (origin) => ({ resource: `${origin}/mcp` }) },
    ['auth-metadata-invalid'],
  ],
  [
    'another issuer',
    { ...good, issuer: (origin) => ({ ...good.issuer(origin), issuer: `${origin}/` }) },
    ['auth-issuer-mismatch'],
  ],
  ['no metadata of the issuer', { resource: good.resource }, ['auth-issuer-metadata']],
  ['no metadata of the resource', { issuer: good.issuer }, ['auth-metadata-missing']],
  [
    'no PKCE',
    { ...good, issuer: (origin) => ({ ...good.issuer(origin), code_challenge_methods_supported: ['plain'] }) },
    ['auth-pkce-missing'],
  ],
  [
    'no way to register',
    {
      ...good,
      issuer: (origin) => {
        const { registration_endpoint: _, ...rest } = good.issuer(origin)
        return rest
      },
    },
    ['auth-registration-missing'],
  ],
  [
    'a token endpoint without TLS',
    { ...good, issuer: (origin) => ({ ...good.issuer(origin), token_endpoint: 'http://as.example/token' }) },
    ['auth-insecure-url'],
  ],
  [
    'metadata that are elsewhere',
    { ...good, challenge: (origin) => `Bearer resource_metadata="${origin}/nowhere"` },
    ['auth-metadata-misplaced'],
  ],
])('atenea-probe names what is wrong on the way to a token: %s', async (_title, documents, expected) => {
  await using flawed = await startFlawed(documents)
  const { code, report } = await probe(flawed.url)
  expect(code).toBe(3)
  expect(report.findings.map(({ id }) => id)).toEqual(expected)
})
