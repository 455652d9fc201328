import { connect as connectSocket } from 'node:net'
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Diagnostic } from '@atenea/mcpcompat'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { AuthRefusal } from '../src/authorizer.ts'
import { parseChallenges } from '../src/auth/challenge.ts'
import {
  type CreateOAuthAuthorizerOptions,
  createBrowserFlow,
  createClientCredentialsFlow,
  createDeviceFlow,
  createMemorySignInStore,
  createOAuthAuthorizer,
  type Flow,
  type OAuthAuthorizer,
  OAuthError,
  type SignIn,
  signOut,
} from '../src/oauth.ts'
import { createFileSignInStore, createLoopbackReceiver, openBrowser } from '../src/oauth/node.ts'
import { answer, type Issuer, startIssuer } from './_util/sign-in-issuer.ts'

let issuer: Issuer
let folder: string
let shown: string[]
const authorizers: OAuthAuthorizer[] = []
beforeEach(async () => {
  issuer = await startIssuer()
  folder = mkdtempSync(join(tmpdir(), 'atenea-hostile-'))
  shown = []
})
afterEach(async () => {
  for (const authorizer of authorizers.splice(0)) authorizer[Symbol.dispose]()
  await issuer[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

function browser(visit: (url: string) => Promise<unknown> = async (url) => await fetch(url)): Flow {
  return createBrowserFlow({
    timeoutMs: 5_000,
    listen: async (preferred) => await createLoopbackReceiver({ preferred }),
    open: (url) => {
      shown.push(url)
      void visit(url).catch(() => undefined)
    },
  })
}

function authorizerOf(options: Partial<CreateOAuthAuthorizerOptions> = {}, url = issuer.url): OAuthAuthorizer {
  const authorizer = createOAuthAuthorizer(url, { identity: { name: 'Test' }, flow: browser(), ...options })
  authorizers.push(authorizer)
  return authorizer
}

function refusal(field = 'Bearer', status = 401, sent?: string): AuthRefusal {
  return { status, challenges: parseChallenges(field), sent }
}

async function sentBy(authorizer: OAuthAuthorizer, url = issuer.url): Promise<string | undefined> {
  return (await authorizer.fields({ method: 'POST', url }, {}))['authorization']
}

async function failureOf(promise: Promise<unknown>): Promise<OAuthError> {
  const error = await promise.then(() => undefined).catch((reason: unknown) => reason)
  if (!OAuthError.is(error)) throw new Error(`no OAuthError: ${String(error)}`)
  return error
}

const grants = () => issuer.at('/token').map(({ body }) => new URLSearchParams(body))

/** Tokens with these members, numbered. */
function issue(members: Record<string, string | number | null>): void {
  let count = 0
  issuer.route('/token', (_asked, response) =>
    answer(response, 200, { access_token: `token-${++count}-0123456789`, token_type: 'Bearer', ...members }),
  )
}

describe('who waits for the browser', () => {
  test.each(['//', '/callback?state=%', 'http://[/', '*'])('goes on when somebody asks for %s', async (target) => {
    const flow = browser(async (url) => {
      const back = new URL(new URL(url).searchParams.get('redirect_uri') ?? '')
      const status = await raw(Number(back.port), `GET ${target} HTTP/1.1\r\nHost: ${back.host}\r\n\r\n`)
      expect(status).toMatch(/^HTTP\/1\.1 40[04] /)
      await fetch(url)
    })
    const authorizer = authorizerOf({ flow })
    expect(await authorizer.renew(refusal(), {})).toBe(true)
    expect(await sentBy(authorizer)).toBe('Bearer token-1-0123456789')
  })

  test('MC-AUTH-06: takes one answer; the second of the same state changes nothing', async () => {
    let second: number | undefined
    issuer.route('/token', (_asked, response) => {
      setTimeout(() => answer(response, 200, { access_token: 'token-1-0123456789', token_type: 'Bearer' }), 500)
    })
    const flow = browser(async (url) => {
      const { searchParams } = new URL(url)
      const back = `${searchParams.get('redirect_uri')}?state=${searchParams.get('state')}&code=`
      const first = fetch(`${back}the-code`)
      await expect.poll(() => grants().length, { timeout: 4_000 }).toBe(1)
      second = await fetch(`${back}other`).then(({ status }) => status)
      await first
    })
    await authorizerOf({ flow }).renew(refusal(), {})
    expect(second).toBe(404)
    expect(grants().map((body) => body.get('code'))).toEqual(['the-code'])
  })

  test.each([
    ['the answer of another authorization server', false, '&iss=https://evil.example'],
    ['an answer without the name that was promised', true, ''],
  ])('MC-AUTH-06: %s gets no code of ours', async (_what, promised, iss) => {
    issuer.metadata = { authorization_response_iss_parameter_supported: promised }
    const flow = browser(async (url) => {
      const { searchParams } = new URL(url)
      await fetch(`${searchParams.get('redirect_uri')}?code=x&state=${searchParams.get('state')}${iss}`)
    })
    expect((await failureOf(authorizerOf({ flow }).renew(refusal(), {}))).code).toBe('issuer-mismatch')
    expect(grants()).toEqual([])
  })

  test('the program that shows the page gets no secret of the environment', async () => {
    const out = join(folder, 'seen')
    const command = join(folder, 'browser.sh')
    writeFileSync(command, `#!/bin/sh\nenv > ${out}.part\nprintf '%s' "$1" > ${out}.url\nmv ${out}.part ${out}\n`)
    chmodSync(command, 0o755)
    process.env['ATENEA_OAUTH_CLIENT_SECRET'] = 'hunter2'
    try {
      const url = "https://as.example/authorize?x=$(touch%20x);'`&y"
      expect(await openBrowser(url, { BROWSER: command })).toBe(true)
      await expect.poll(() => readdirSync(folder), { timeout: 4_000 }).toContain('seen')
      expect(readFileSync(`${out}.url`, 'utf8')).toBe(url)
      expect(readFileSync(out, 'utf8')).toContain('PATH=')
      expect(readFileSync(out, 'utf8')).not.toContain('hunter2')
    } finally {
      delete process.env['ATENEA_OAUTH_CLIENT_SECRET']
    }
  })
})

/** The first line of what comes for a request that no library would send. */
async function raw(port: number, text: string): Promise<string> {
  return await new Promise((resolve, reject) => {
    const socket = connectSocket(port, '127.0.0.1', () => socket.write(text))
    socket.once('data', (data: Buffer) => {
      socket.destroy()
      resolve(data.toString().split('\r\n')[0] ?? '')
    })
    socket.once('error', reject)
  })
}

describe('servers of one issuer', () => {
  const other = () => `${issuer.origin}/other`

  beforeEach(() => {
    issuer.route('/.well-known/oauth-protected-resource/other', (_asked, response) =>
      answer(response, 200, { resource: other(), authorization_servers: [issuer.origin] }),
    )
    let clients = 0
    issuer.route('/register', (_asked, response) => answer(response, 201, { client_id: `client-${++clients}` }))
    issue({ expires_in: 3600, refresh_token: 'r-0123456789' })
  })

  test('MC-AUTH-07: each is refreshed by the client that it signed in with, though they registered at the same time', async () => {
    const store = createFileSignInStore(folder)
    const begun = Date.now()
    await Promise.all([
      authorizerOf({ store }).renew(refusal(), {}),
      authorizerOf({ store }, other()).renew(refusal(), {}),
    ])
    const clients = (await store.list()).map(({ clientId }) => clientId)
    expect(new Set(clients)).toEqual(new Set(['client-1', 'client-2']))
    const later = { store, flow: undefined, now: () => begun + 3_600_000 }
    await sentBy(authorizerOf(later))
    await sentBy(authorizerOf(later, other()), other())
    const refreshed = grants().filter((body) => body.get('grant_type') === 'refresh_token')
    expect(new Set(refreshed.map((body) => body.get('client_id')))).toEqual(new Set(clients))
    expect(await signOut(issuer.url, { store, identity: { name: 'Test' } })).toBeDefined()
  })

  test('MC-AUTH-05: the token of one does not go to the other, also not by a file that was put in its place', async () => {
    const store = createFileSignInStore(folder)
    await authorizerOf({ store }).renew(refusal(), {})
    expect(await sentBy(authorizerOf({ store }, other()), other())).toBeUndefined()
    const [file = ''] = readdirSync(join(folder, 'sign-ins'))
    await store.set({ ...((await store.get(issuer.url)) as SignIn), server: other() })
    const [forOther = ''] = readdirSync(join(folder, 'sign-ins')).filter((name) => name !== file)
    writeFileSync(join(folder, 'sign-ins', forOther), readFileSync(join(folder, 'sign-ins', file)))
    expect(await store.get(other())).toBeUndefined()
    expect(await sentBy(authorizerOf({ store }, other()), other())).toBeUndefined()
  })
})

describe('MC-AUTH-05: metadata about more than the server', () => {
  test('are taken from the well-known places of its host', async () => {
    issuer.route('/.well-known/oauth-protected-resource/mcp', (_asked, response) => response.writeHead(404).end())
    issuer.route('/.well-known/oauth-protected-resource', (_asked, response) =>
      answer(response, 200, { resource: issuer.origin, authorization_servers: [issuer.origin] }),
    )
    await authorizerOf().renew(refusal(), {})
    expect(grants()[0]?.get('resource')).toBe(issuer.origin)
  })

  test('and not from where the server says, since others may serve paths of that host', async () => {
    issuer.route('/mcp/meta', (_asked, response) =>
      answer(response, 200, { resource: issuer.origin, authorization_servers: [issuer.origin] }),
    )
    const error = await failureOf(
      authorizerOf().renew(refusal(`Bearer resource_metadata="${issuer.origin}/mcp/meta"`), {}),
    )
    expect(error.code).toBe('resource-mismatch')
    expect(shown).toEqual([])
  })
})

describe('answers of a token endpoint', () => {
  test.each<[string, Record<string, string | number | null>]>([
    ['an end that no calendar has', { expires_in: 1e300 }],
    ['an end in a million years', { expires_in: 3.2e13 }],
    ['an end that has come already', { expires_in: 0 }],
  ])('%s is no end: the server decides, and nobody refreshes before each request', async (_what, members) => {
    issue({ ...members, refresh_token: 'r-0123456789' })
    const store = createFileSignInStore(folder)
    const authorizer = authorizerOf({ store })
    await authorizer.renew(refusal(), {})
    for (let count = 0; count < 3; count++) expect(await sentBy(authorizer)).toBe('Bearer token-1-0123456789')
    expect(await sentBy(authorizerOf({ store }))).toBe('Bearer token-1-0123456789')
    expect((await store.get(issuer.url))?.expiresAt).toBeUndefined()
    expect(grants()).toHaveLength(1)
  })

  test.each<[string, Record<string, string | number | null>]>([
    ['a token that would be two header fields', { access_token: 'a\r\nx-evil: 1' }],
    ['a token beyond ASCII', { access_token: 'tøken' }],
    ['a negative time', { expires_in: -1 }],
    ['a time that is no number', { expires_in: 'soon' }],
    ['another type', { token_type: 'mac' }],
  ])('%s is refused, and nothing of it is kept or told', async (_what, members) => {
    issue({ access_token: 'secret-0123456789', ...members })
    const store = createMemorySignInStore()
    const error = await failureOf(authorizerOf({ store }).renew(refusal(), {}))
    expect(error.code).toBe('invalid-response')
    expect(`${error.message} ${error.stack} ${JSON.stringify(error)}`).not.toMatch(/secret-0123456789|x-evil|tøken/)
    expect(await store.get(issuer.url)).toBeUndefined()
  })

  test('F16: what an answer repeats of our secrets is not told', async () => {
    issuer.route('/token', ({ body }, response) =>
      answer(response, 400, {
        error: 'invalid_grant',
        error_description: `no good: ${body}`.replaceAll('&', ' '),
      }),
    )
    const error = await failureOf(authorizerOf().renew(refusal(), {}))
    const [sent] = grants()
    expect(sent?.get('code')).toBe('the-code')
    expect(error.message).toContain('grant_type=authorization_code')
    expect(error.message).not.toContain('the-code')
    expect(error.message).not.toContain(sent?.get('code_verifier'))
  })

  test.each([600, 999])('the status %i is an error and no crash', async (status) => {
    issuer.route('/register', (_asked, response) => response.writeHead(status).end('{}'))
    expect((await failureOf(authorizerOf().renew(refusal(), {}))).code).toBe('invalid-response')
  })

  test('a registration without a name for us, or whose secret ends in no calendar', async () => {
    issuer.route('/register', (_asked, response) => answer(response, 201, { client_id: '' }))
    expect((await failureOf(authorizerOf().renew(refusal(), {}))).code).toBe('invalid-response')
    issuer.route('/register', (_asked, response) =>
      answer(response, 201, { client_id: 'made', client_secret: 's-0123456789', client_secret_expires_at: 1e300 }),
    )
    const store = createFileSignInStore(folder)
    await authorizerOf({ store }).renew(refusal(), {})
    const client = await store.getClient(issuer.origin)
    expect(client).toMatchObject({ clientId: 'made', clientSecret: 's-0123456789' })
    expect(client?.secretExpiresAt).toBeUndefined()
  })

  test('one of 300,000 bytes is not read to its end', async () => {
    issuer.route('/token', (_asked, response) => response.writeHead(200).end(`{"x":"${'y'.repeat(300_000)}"}`))
    expect((await failureOf(authorizerOf().renew(refusal(), {}))).message).toContain('262144')
  })
})

describe('a server that always wants more', () => {
  test('MC-AUTH-03: is asked for no more than five times in ten minutes, whatever scopes it thinks of', async () => {
    issue({ expires_in: 3600 })
    let now = Date.now()
    const authorizer = authorizerOf({ now: () => now })
    await authorizer.renew(refusal(), {})
    const again = async (scope: string): Promise<boolean> =>
      await authorizer.renew(
        refusal(`Bearer error="insufficient_scope", scope="${scope}"`, 403, await sentBy(authorizer)),
        {},
      )
    const outcomes: boolean[] = []
    for (let count = 0; count < 8; count++) outcomes.push(await again(`s${count}`))
    expect(outcomes).toEqual([true, true, true, true, true, false, false, false])
    expect(shown).toHaveLength(6)
    now += 11 * 60_000
    expect(await again('s9')).toBe(true)
    expect(await again('s9')).toBe(false)
  })

  test('MC-AUTH-03: several calls that want the same share one sign-in, and none of them is refused for it', async () => {
    issue({ expires_in: 3600 })
    const authorizer = authorizerOf()
    await authorizer.renew(refusal(), {})
    const sent = await sentBy(authorizer)
    const challenge = refusal('Bearer error="insufficient_scope", scope="more"', 403, sent)
    expect(await Promise.all([1, 2, 3].map(async () => await authorizer.renew(challenge, {})))).toEqual([
      true,
      true,
      true,
    ])
    expect(shown).toHaveLength(2)
  })

  test('what a challenge says of scopes stays one parameter', async () => {
    const field = String.raw`Bearer scope="a\" b&client_id=evil\\ c"`
    await authorizerOf().renew(refusal(field), {})
    const { searchParams } = new URL(shown[0] ?? '')
    expect(searchParams.get('scope')).toBe('a" b&client_id=evil\\ c')
    expect(searchParams.getAll('client_id')).toEqual(['made'])
  })

  test.each(['\u001B[2J', ' ', 'ü'])('an authorization server is not called %j', async (text) => {
    issuer.route('/.well-known/oauth-protected-resource/mcp', (_asked, response) =>
      answer(response, 200, { resource: issuer.url, authorization_servers: [`${issuer.origin}/${text}`] }),
    )
    const error = await failureOf(authorizerOf().renew(refusal(), {}))
    expect(error.code).toBe('metadata')
    expect(error.message).not.toContain(text.trim() === '' ? '/ ' : text)
  })

  test('of a hundred authorization servers that do not answer, five are asked', async () => {
    const names = Array.from({ length: 100 }, (_, index) => `${issuer.origin}/as${index}`)
    issuer.route('/.well-known/oauth-protected-resource/mcp', (_asked, response) =>
      answer(response, 200, { resource: issuer.url, authorization_servers: names }),
    )
    await failureOf(authorizerOf().renew(refusal(), {}))
    const asked = new Set(issuer.asked.map(({ path }) => /as\d+/.exec(path)?.[0]).filter((name) => name !== undefined))
    expect(asked.size).toBe(5)
  })
})

describe('an authorization server that is in the way', () => {
  const begun = Date.now()
  const old: Pick<SignIn, 'issuedAt' | 'expiresAt' | 'refreshToken'> = {
    issuedAt: begun - 3_590_000,
    expiresAt: begun + 10_000,
    refreshToken: 'r-0123456789',
  }

  async function signedIn(more: Partial<SignIn> = {}) {
    const store = createMemorySignInStore()
    await authorizerOf({ store }).renew(refusal(), {})
    await store.set({ ...((await store.get(issuer.url)) as SignIn), ...old, ...more })
    return store
  }

  test('is not asked before each request while the token is still good', async () => {
    const store = await signedIn()
    issuer.route('/token', (_asked, response) => response.writeHead(503).end())
    let now = begun
    const said: Diagnostic[] = []
    const authorizer = authorizerOf({ store, now: () => now, onDiagnostic: (diagnostic) => said.push(diagnostic) })
    const before = grants().length
    for (let count = 0; count < 5; count++) expect(await sentBy(authorizer)).toBe('Bearer token-1-0123456789')
    expect(grants()).toHaveLength(before + 1)
    expect(said).toHaveLength(1)
    // Once it has ended it has to be replaced.
    now = begun + 10_001
    await failureOf(sentBy(authorizer))
    expect(grants()).toHaveLength(before + 2)
  })

  test.each([500, 503, 429])(
    'A7: costs nobody the sign-in while it answers %i: nobody is asked, and it is refreshed later',
    async (status) => {
      const store = await signedIn({ expiresAt: begun + 3_600_000 })
      const { accessToken } = (await store.get(issuer.url)) as SignIn
      issuer.route('/token', (_asked, response) => answer(response, status, { error: 'server_error' }))
      const authorizer = authorizerOf({ store })
      const refused = refusal('Bearer error="invalid_token"', 401, `Bearer ${accessToken}`)
      const error = await failureOf(authorizer.renew(refused, {}))
      expect(error).toMatchObject({ code: 'unreachable', message: expect.stringContaining(`${status}`) })
      issue({ access_token: 'fresh' })
      expect(await authorizer.renew(refused, {})).toBe(true)
      expect(await sentBy(authorizer)).toBe('Bearer fresh')
      expect(shown).toHaveLength(1)
    },
  )

  test('fails all who wait for it at once, and not one after the other', async () => {
    const store = await signedIn({ expiresAt: begun - 1 })
    issuer.route('/.well-known/oauth-authorization-server', (_asked, response) => {
      setTimeout(() => response.writeHead(503).end(), 100)
    })
    const before = issuer.asked.length
    const authorizer = authorizerOf({ store })
    const all = await Promise.all([1, 2, 3, 4, 5].map(async () => await failureOf(sentBy(authorizer))))
    expect(new Set(all.map(({ code }) => code))).toEqual(new Set(['unreachable']))
    expect(issuer.asked).toHaveLength(before + 1)
  })

  test('A7: is told from a person who takes their time', async () => {
    issuer.route('/.well-known/oauth-authorization-server', () => undefined)
    const slow = await failureOf(authorizerOf({ waitMs: 100 }).renew(refusal(), {}))
    expect(slow).toMatchObject({ code: 'unreachable', message: expect.stringContaining('takes longer than 0.1 s') })
  })

  test('a sign-in that failed by a clock that was wrong is asked for again when it is right', async () => {
    const store = createMemorySignInStore()
    const deny = browser(async (url) => {
      const { searchParams } = new URL(url)
      await fetch(`${searchParams.get('redirect_uri')}?error=access_denied&state=${searchParams.get('state')}`)
    })
    const year = 365 * 24 * 3_600_000
    await failureOf(authorizerOf({ store, flow: deny, now: () => Date.now() + year }).renew(refusal(), {}))
    expect(await authorizerOf({ store }).renew(refusal(), {})).toBe(true)
    // By the same clock it stands.
    const other = createMemorySignInStore()
    await failureOf(authorizerOf({ store: other, flow: deny }).renew(refusal(), {}))
    expect((await failureOf(authorizerOf({ store: other }).renew(refusal(), {}))).code).toBe('sign-in-needed')
  })
})

describe('what is kept', () => {
  const signIns = () => join(folder, 'sign-ins')

  async function keep(): Promise<string> {
    issue({ expires_in: 3600, refresh_token: 'r-0123456789' })
    await authorizerOf({ store: createFileSignInStore(folder) }).renew(refusal(), {})
    const [name = ''] = readdirSync(signIns())
    return join(signIns(), name)
  }

  test.each([
    'null',
    '[]',
    '{}',
    '"x"',
    '{"server":',
    (text: string) => text.replace(/"accessToken": "[^"]*"/, '"accessToken": "a\\r\\nx: y"'),
    (text: string) => text.replace(/"accessToken": "[^"]*"/, '"accessToken": 7'),
    (text: string) => text.replace(/"issuedAt": \d+/, '"issuedAt": "x"'),
    (text: string) => text.replace(/"expiresAt": \d+/, '"expiresAt": null'),
    (text: string) => text.replace(/"client": \{/, '"client": {"clientId": 1, "was":'),
  ])('a file that holds something else is as good as none, and mended by the next sign-in: %s', async (change) => {
    const file = await keep()
    const before = readFileSync(file, 'utf8')
    const after = typeof change === 'string' ? change : change(before)
    expect(after).not.toBe(before)
    writeFileSync(file, after)
    const store = createFileSignInStore(folder)
    expect(await store.list()).toEqual([])
    const authorizer = authorizerOf({ store })
    expect(await sentBy(authorizer)).toBeUndefined()
    await authorizer.renew(refusal(), {})
    expect(await sentBy(authorizerOf({ store }))).toBe('Bearer token-2-0123456789')
  })

  test('a link in the place of a file is replaced, and what it leads to is left alone', async () => {
    const file = await keep()
    const elsewhere = join(folder, 'elsewhere')
    writeFileSync(elsewhere, 'precious')
    rmSync(file)
    symlinkSync(elsewhere, file)
    const authorizer = authorizerOf({ store: createFileSignInStore(folder) })
    expect(await sentBy(authorizer)).toBeUndefined()
    await authorizer.renew(refusal(), {})
    expect(readFileSync(elsewhere, 'utf8')).toBe('precious')
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  test('a half written file of a process that was killed goes with the sign-in', async () => {
    const file = await keep()
    const draft = `${file}.00000000-0000-4000-8000-000000000000`
    writeFileSync(draft, 'secret')
    const store = createFileSignInStore(folder)
    await store.set((await store.get(issuer.url)) as SignIn)
    // It may be somebody who writes just now.
    expect(readdirSync(signIns())).toHaveLength(2)
    utimesSync(draft, new Date(0), new Date(0))
    await signOut(issuer.url, { store, identity: { name: 'Test' } })
    expect(readdirSync(signIns())).toEqual([])
  })

  test('a place where nothing can be written is named, with what the system says', async () => {
    writeFileSync(join(folder, 'file'), '')
    const store = createFileSignInStore(join(folder, 'file'))
    const said: Diagnostic[] = []
    const authorizer = authorizerOf({ store, onDiagnostic: (diagnostic) => said.push(diagnostic) })
    // A server that wants no token is none the worse for it.
    expect(await sentBy(authorizer)).toBeUndefined()
    expect(said.map(({ code }) => code)).toEqual(['sign-ins-unreadable'])
    const error = await failureOf(authorizer.renew(refusal(), {}))
    expect(error).toMatchObject({ code: 'storage', kind: 'auth' })
    expect(error.message).toBe(`Sign-ins cannot be kept in ${join(folder, 'file', 'locks')} (ENOTDIR).`)
    expect(shown).toEqual([])
  })

  test('tokens that cannot be kept serve this process, and a rotated one is not used twice', async () => {
    await keep()
    const files = createFileSignInStore(folder)
    const before = (await files.get(issuer.url))?.accessToken
    const full = { ...files, set: async () => await Promise.reject(new OAuthError('storage', 'The disk is full.')) }
    let refreshes = 0
    issuer.route('/token', ({ body }, response) => {
      const used = new URLSearchParams(body).get('refresh_token')
      if (used !== (refreshes === 0 ? 'r-0123456789' : `r-${refreshes}`))
        answer(response, 400, { error: 'invalid_grant' })
      else
        answer(response, 200, {
          access_token: `fresh-${++refreshes}`,
          token_type: 'Bearer',
          expires_in: 3600,
          refresh_token: `r-${refreshes}`,
        })
    })
    const said: Diagnostic[] = []
    let now = Date.now() + 3_600_000
    const authorizer = authorizerOf({
      store: full,
      flow: undefined,
      now: () => now,
      onDiagnostic: (diagnostic) => said.push(diagnostic),
    })
    expect(await sentBy(authorizer)).toBe('Bearer fresh-1')
    now += 3_600_000
    expect(await sentBy(authorizer)).toBe('Bearer fresh-2')
    expect(said.map(({ code }) => code)).toEqual(['sign-in-not-kept', 'sign-in-not-kept'])
    expect((await files.get(issuer.url))?.accessToken).toBe(before)
  })
})

describe('a code for another device', () => {
  function device(members: Record<string, string | number>) {
    issuer.metadata = { device_authorization_endpoint: `${issuer.origin}/device` }
    issuer.route('/device', (_asked, response) =>
      answer(response, 200, {
        device_code: 'd-0123456789',
        user_code: 'ABCD-EFGH',
        verification_uri: `${issuer.origin}/verify`,
        expires_in: 600,
        ...members,
      }),
    )
  }
  const prompts: string[] = []
  const flow = createDeviceFlow({ show: ({ url, expiresInMs }) => void prompts.push(`${url} ${expiresInMs}`) })
  beforeEach(() => prompts.splice(0))

  test.each(['javascript:alert(1)', 'file:///etc/passwd', 'http://evil.example/', 'https://u:p@as.example/', 'x'])(
    'nobody is sent to %s',
    async (uri) => {
      for (const member of ['verification_uri', 'verification_uri_complete']) {
        device({ [member]: uri })
        expect((await failureOf(authorizerOf({ flow }).renew(refusal(), {}))).code).toBe('forbidden-url')
      }
      expect(prompts).toEqual([])
    },
  )

  test.each(['\u001B[31mA', 'A\nB', 'A\u202EB', 'x'.repeat(101)])('nobody is told to type %j', async (code) => {
    device({ user_code: code })
    expect((await failureOf(authorizerOf({ flow }).renew(refusal(), {}))).code).toBe('invalid-response')
    expect(prompts).toEqual([])
  })

  test('is waited for as long as it is good, however seldom the server wants to be asked', async () => {
    device({ expires_in: 0.2, interval: 1e6 })
    issuer.route('/token', (_asked, response) => answer(response, 400, { error: 'authorization_pending' }))
    const error = await failureOf(authorizerOf({ flow }).renew(refusal(), {}))
    expect(error).toMatchObject({ code: 'sign-in-needed', message: expect.stringContaining('in time') })
    // Once more at the end: somebody may have typed it at the last moment.
    expect(grants()).toHaveLength(1)
  })

  test('is shown for half an hour at the most', async () => {
    device({ expires_in: 1e300, interval: 0.01 })
    await authorizerOf({ flow }).renew(refusal(), {})
    expect(prompts).toEqual([`${issuer.origin}/verify 1800000`])
  })
})

test('a program with a secret that signs in by itself is not stopped by what somebody refused', async () => {
  const store = createMemorySignInStore()
  await store.setFailure(issuer.url, { at: Date.now(), code: 'denied', message: 'No.' })
  const client = { clientId: 'robot', clientSecret: 's-0123456789', issuer: issuer.origin }
  const flow = createClientCredentialsFlow()
  const authorizer = authorizerOf({ store, flow, identity: { name: 'Test', clients: [client] } })
  expect(await authorizer.renew(refusal(), {})).toBe(true)
})
