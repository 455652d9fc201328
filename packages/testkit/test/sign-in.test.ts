import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRevisionPolicy, type JsonObject } from '@atenea/mcpcompat'
import type { ClientConnection } from '@atenea/mcpcompat/transport'
import { connectHttp } from '@atenea/transport-http'
import {
  createBrowserFlow,
  createDeviceFlow,
  createOAuthAuthorizer,
  type CreateOAuthAuthorizerOptions,
  type Flow,
  OAuthError,
  signOut,
} from '@atenea/transport-http/oauth'
import { createFileSignInStore, createLoopbackReceiver } from '@atenea/transport-http/oauth/node'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { toolText } from './_util/connecting.ts'
import { type Guarded, startGuarded } from './_util/guarded-server.ts'
import { browse } from './_util/person.ts'

let guarded: Guarded
let folder: string
/** Pages that were shown to somebody. */
let shown: string[]
const connections: ClientConnection[] = []

beforeEach(async () => {
  guarded = await startGuarded()
  folder = mkdtempSync(join(tmpdir(), 'atenea-sign-in-'))
  shown = []
})
afterEach(async () => {
  for (const connection of connections.splice(0)) await connection[Symbol.asyncDispose]()
  await guarded[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

const identity = { name: 'Test' }

function browserFlow(visit: (url: string) => Promise<unknown> = browse): Flow {
  return createBrowserFlow({
    timeoutMs: 20_000,
    listen: async (preferred) => await createLoopbackReceiver({ preferred, name: 'Test' }),
    open: (url) => {
      shown.push(url)
      void visit(url).catch(() => undefined)
    },
  })
}

/** An authorizer as a process of its own would have it. */
function authorizer(options: Partial<CreateOAuthAuthorizerOptions> = {}) {
  return createOAuthAuthorizer(guarded.url, {
    identity,
    store: createFileSignInStore(folder),
    flow: browserFlow(),
    ...options,
  })
}

async function connect(options: Partial<CreateOAuthAuthorizerOptions> = {}): Promise<ClientConnection> {
  const connection = await connectHttp(guarded.url, {
    policy: createRevisionPolicy(),
    info: { name: 'test', version: '1' },
    authorization: authorizer(options),
  })
  connections.push(connection)
  return connection
}

async function failureOf(promise: Promise<unknown>): Promise<OAuthError> {
  const error = await promise.then(() => undefined).catch((reason: unknown) => reason)
  if (!OAuthError.is(error)) throw new Error(`no OAuthError: ${String(error)}`)
  return error
}

const pause = (ms: number) => new Promise((resolve) => void setTimeout(resolve, ms))

describe('signing in at a server behind oidc-provider', () => {
  test('MC-AUTH-02, MC-AUTH-05: one sign-in serves calls, later processes, and nobody is asked again', async () => {
    expect(await toolText(await connect(), 'whoami')).toContain('anna')
    expect(await toolText(await connect({ flow: undefined }), 'whoami')).toContain('anna')
    expect(shown).toHaveLength(1)
    const page = new URL(shown[0] ?? '')
    expect(page.searchParams.get('resource')).toBe(guarded.url)
    expect(page.searchParams.get('code_challenge_method')).toBe('S256')
    expect(page.searchParams.get('scope')).toBe('notes offline_access')
    expect(guarded.provider.tokenRequests.map((body) => body.get('resource'))).toEqual([guarded.url])
    expect(guarded.seen[0]).toBeUndefined()
    expect(guarded.seen.slice(1).every((value) => value?.startsWith('Bearer ') === true)).toBe(true)
  })

  test('files are for their owner only, and what is read is never half written', async () => {
    await connect()
    const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    for (const entry of files) {
      const mode = statSync(join(entry.parentPath, entry.name)).mode & 0o777
      expect([entry.name, mode]).toEqual([entry.name, entry.isDirectory() ? 0o700 : 0o600])
    }
    // Neither a lock nor a draft is left.
    expect(readdirSync(join(folder, 'locks'))).toEqual([])
    expect(readdirSync(join(folder, 'sign-ins'))).toHaveLength(1)
  })

  test('ten that start together ask once', async () => {
    const all = await Promise.all(Array.from({ length: 10 }, async () => await toolText(await connect(), 'whoami')))
    expect(new Set(all).size).toBe(1)
    expect(shown).toHaveLength(1)
    expect(guarded.provider.count('registration_create.success')).toBe(1)
  })

  test('a token that ended is refreshed for all by one of them, and the refresh token that came with it is used next', async () => {
    guarded.provider.accessSeconds = 2
    const [first, second] = [await connect(), await connect()]
    for (let round = 1; round <= 2; round++) {
      await pause(2_100)
      expect(await Promise.all([toolText(first, 'count'), toolText(second, 'count')])).toHaveLength(2)
      expect(guarded.counted()).toBe(2 * round)
      expect(guarded.provider.count('grant.success', 'refresh_token')).toBe(round)
    }
    expect(guarded.provider.count('grant.error')).toBe(0)
    expect(shown).toHaveLength(1)
    const used = guarded.provider.tokenRequests.flatMap((body) => body.get('refresh_token') ?? [])
    expect(new Set(used).size).toBe(2)
  })

  test('a token that the server does not take any more is refreshed, and the call is carried out once', async () => {
    guarded.provider.accessSeconds = 2
    // By a clock that stands still no token ever ends: only the 401 tells.
    const begun = Date.now()
    const connection = await connect({ now: () => begun })
    expect(await toolText(connection, 'whoami')).toContain('anna')
    await pause(2_100)
    expect(await toolText(connection, 'count')).toBe('1')
    expect(guarded.counted()).toBe(1)
    expect(guarded.provider.count('grant.success', 'refresh_token')).toBe(1)
    expect(shown).toHaveLength(1)
  })

  test('C22: a session goes on when its token was refreshed', async () => {
    guarded.provider.accessSeconds = 2
    const connection = await connectHttp(guarded.url, {
      policy: createRevisionPolicy(),
      info: { name: 'test', version: '1' },
      mode: 'legacy',
      authorization: authorizer(),
    })
    connections.push(connection)
    const before = await toolText(connection, 'session')
    await pause(2_100)
    expect(await toolText(connection, 'session')).toBe(before)
    expect(guarded.provider.count('grant.success', 'refresh_token')).toBeGreaterThan(0)
  })

  test('a sign-in that was revoked is a clear error where nobody can be asked, else a new sign-in', async () => {
    guarded.provider.accessSeconds = 2
    const alone = await connect({ advice: 'Run: atenea-proxy login URL.' })
    const silent = await connect({ flow: undefined, advice: 'Run: atenea-proxy login URL.' })
    guarded.provider.revokeAll()
    await pause(2_100)
    const error = await failureOf(toolText(silent, 'count'))
    expect(error.code).toBe('sign-in-needed')
    expect(error.message).toMatch(/has ended or was revoked\. Run: atenea-proxy login URL\.$/)
    expect(await toolText(alone, 'count')).toBe('1')
    expect(shown).toHaveLength(2)
    expect(await toolText(silent, 'count')).toBe('2')
  })

  test('MC-AUTH-03: more rights are asked for when a call needs them, beside those that there are', async () => {
    const connection = await connect()
    // Both are refused, and one sign-in is enough for them.
    expect(await Promise.all([toolText(connection, 'write'), toolText(connection, 'write')])).toEqual([
      'written',
      'written',
    ])
    expect(shown.map((url) => new URL(url).searchParams.get('scope'))).toEqual([
      'notes offline_access',
      'notes offline_access notes.write',
    ])
  })

  test('somebody who says no is not asked again at once, by nobody', async () => {
    guarded.provider.answer = 'deny'
    expect((await failureOf(connect())).code).toBe('denied')
    const again = await failureOf(connect())
    expect(again.message).toContain('access_denied')
    expect(shown).toHaveLength(1)
  })

  test('one who does not wait any more leaves the sign-in to those who come later', async () => {
    let goOn: () => void = () => undefined
    const slow = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const shared = authorizer({
      waitMs: 300,
      flow: browserFlow(async (url) => {
        await slow
        await browse(url)
      }),
    })
    const open = async () =>
      await connectHttp(guarded.url, {
        policy: createRevisionPolicy(),
        info: { name: 't', version: '1' },
        authorization: shared,
      })
    const error = await failureOf(open())
    expect(error).toMatchObject({ code: 'sign-in-needed', retryable: true })
    goOn()
    await pause(700)
    const connection = await open()
    connections.push(connection)
    expect(await toolText(connection, 'whoami')).toContain('anna')
    expect(shown).toHaveLength(1)
  })

  test('a machine without a browser: a code for another device', async () => {
    const prompts: string[] = []
    const flow = createDeviceFlow({
      show: ({ url, code }) => {
        prompts.push(code)
        void browse(url, { user_code: code })
      },
    })
    expect(await toolText(await connect({ flow }), 'whoami')).toContain('anna')
    expect(prompts).toEqual([expect.stringMatching(/^\w{4}-\w{4}$/)])
  })

  test('signing out revokes what was issued and forgets it', async () => {
    const connection = await connect()
    const store = createFileSignInStore(folder)
    const kept = await store.get(guarded.url)
    expect(await signOut(guarded.url, { store, identity })).toMatchObject({ revoked: true })
    expect(await store.list()).toEqual([])
    expect(guarded.provider.count('grant.revoked')).toBeGreaterThan(0)
    const answer = await fetch(`${guarded.provider.issuer}/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'refresh_token',
        refresh_token: kept?.refreshToken ?? '',
        client_id: kept?.clientId ?? '',
      }),
    })
    expect(((await answer.json()) as JsonObject)['error']).toBe('invalid_grant')
    expect(connection.observed).toBeDefined()
  })

  test('an authorization server that is down says so and costs nobody the sign-in', async () => {
    guarded.provider.accessSeconds = 2
    const connection = await connect({ flow: undefined, store: (await connect(), createFileSignInStore(folder)) })
    guarded.provider.up = false
    await pause(2_100)
    const error = await failureOf(toolText(connection, 'count'))
    expect(error.code).toBe('unreachable')
    guarded.provider.up = true
    expect(await toolText(connection, 'count')).toBe('1')
    expect(shown).toHaveLength(1)
  })

  test('F16: nothing of what is kept secret is in a diagnostic or an error', async () => {
    guarded.provider.accessSeconds = 2
    const said: string[] = []
    const onDiagnostic: CreateOAuthAuthorizerOptions['onDiagnostic'] = (diagnostic) =>
      said.push(JSON.stringify(diagnostic))
    const connection = await connect({ onDiagnostic })
    const secrets = readdirSync(join(folder, 'sign-ins')).flatMap((name) => {
      const { accessToken, refreshToken } = JSON.parse(
        readFileSync(join(folder, 'sign-ins', name), 'utf8'),
      ) as Readonly<Record<string, string>>
      return [accessToken ?? '', refreshToken ?? '']
    })
    guarded.provider.revokeAll()
    guarded.provider.answer = 'deny'
    await pause(2_100)
    const error = await failureOf(toolText(connection, 'count'))
    const text = [...said, error.message, error.stack, JSON.stringify(error), String(error.cause)].join('\n')
    expect(said.length).toBeGreaterThan(0)
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([])
  })
})
