import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRevisionPolicy, method, modernRevision } from '@atenea/mcpcompat'
import { type ClientConnection, connectDuplex, createModernCodec, encodeMessage } from '@atenea/mcpcompat/transport'
import { connectHttp } from '@atenea/transport-http'
import { spawnServer } from '@atenea/transport-stdio'
import { type Browser, chromium } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { toolText } from './_util/connecting.ts'
import { Desktop } from './_util/desktop.ts'
import { type Guarded, startGuarded } from './_util/guarded-server.ts'
import { browse } from './_util/person.ts'
import { until } from './_util/processes.ts'

const binPath = join(import.meta.dirname, '../../../apps/proxy/bin/atenea-proxy.js')
if (!existsSync(join(binPath, '../../dist/main.js'))) {
  throw new Error('apps/proxy is not built: run npx -y pnpm@12 build first')
}

let guarded: Guarded
let desktop: Desktop
let folder: string
const children = new Set<ChildProcess>()
const connections: ClientConnection[] = []

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'atenea-proxy-sign-in-'))
  guarded = await startGuarded()
  desktop = await Desktop.open(folder)
})
afterEach(async () => {
  for (const connection of connections.splice(0)) await connection[Symbol.asyncDispose]()
  for (const child of children) child.kill('SIGKILL')
  children.clear()
  await desktop[Symbol.asyncDispose]()
  await guarded[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

function environment(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    XDG_STATE_HOME: join(folder, 'state'),
    XDG_CACHE_HOME: join(folder, 'cache'),
    BROWSER: desktop.command,
    ...more,
  }
}

interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A run of the binary; `stderr` grows while it runs. */
function start(args: readonly string[], more?: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [binPath, ...args], {
    env: environment(more),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.add(child)
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => (texts[name] += text))
  }
  const ended = new Promise<Ran>((resolve) => child.on('close', (code) => resolve({ code, ...texts })))
  return { child, texts, ended }
}

const run = async (...args: string[]): Promise<Ran> => await start(args).ended

/** A client that starts a proxy of its own. */
async function client(args: readonly string[] = [], onStderr?: (text: string) => void): Promise<ClientConnection> {
  const connection = await connectDuplex(
    async ({ signal }) =>
      await spawnServer({
        command: process.execPath,
        args: [binPath, ...args, ...(args.includes('--config') || args.includes(guarded.url) ? [] : [guarded.url])],
        env: environment(),
        signal,
        stderr: onStderr ?? 'ignore',
      }),
    { policy: createRevisionPolicy(), info: { name: 'test', version: '1' }, probeTimeoutMs: 60_000 },
  )
  connections.push(connection)
  return connection
}

/** A server that could not be used is tried again after a pause. */
async function afterBackOff<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt()
    } catch (error) {
      if (tries === 20) throw error
      await new Promise((resolve) => void setTimeout(resolve, 200))
    }
  }
}

/** What the store of the user holds of secrets. */
function secrets(): readonly string[] {
  const place = join(folder, 'state/atenea/oauth/sign-ins')
  return readdirSync(place).flatMap((name) => {
    const kept = JSON.parse(readFileSync(join(place, name), 'utf8')) as Readonly<Record<string, string | undefined>>
    return [kept['accessToken'], kept['refreshToken']].filter((secret) => secret !== undefined)
  })
}

describe('atenea-proxy before a server that wants a sign-in', () => {
  test('login, accounts, logout', async () => {
    const login = await run('login', guarded.url)
    expect(login).toMatchObject({ code: 0, stdout: `Signed in at ${guarded.url}, by ${guarded.provider.issuer}.\n` })
    const accounts = await run('accounts')
    expect(accounts.stdout).toMatch(
      new RegExp(`^${guarded.url}\n  by ${guarded.provider.issuer}, since .*renewed by itself; scopes: notes`),
    )
    expect((await run('login', guarded.url)).stdout).toContain('Signed in already')
    expect(desktop.shown).toHaveLength(1)
    expect(await run('logout', guarded.url)).toMatchObject({ code: 0, stdout: `Signed out of ${guarded.url}.\n` })
    expect(guarded.provider.count('grant.revoked')).toBeGreaterThan(0)
    expect((await run('accounts')).stdout).toBe('Nobody is signed in anywhere.\n')
    const again = await run('logout', guarded.url)
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining(`nobody is signed in at ${guarded.url}`)])
  })

  test('a configured client is used for its servers, by login and by the proxy alike', async () => {
    const client_id = await guarded.provider.register({
      client_name: 'by hand',
      redirect_uris: ['http://127.0.0.1/callback'],
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
    })
    const config = join(folder, 'servers.json')
    const signIn = { clientId: client_id, issuer: guarded.provider.issuer, way: 'never' }
    writeFileSync(config, JSON.stringify({ mcpServers: { notes: { url: guarded.url, atenea: { signIn } } } }))
    const early = await client(['--config', config]).then(
      () => 'connected',
      (error: unknown) => String(error),
    )
    expect(early).toContain(`Run: atenea-proxy login --config ${config} notes`)
    expect(await run('login', '--config', config, 'notes')).toMatchObject({ code: 0 })
    expect(new URL(desktop.shown[0] ?? '').searchParams.get('client_id')).toBe(client_id)
    expect(await toolText(await client(['--config', config]), 'whoami')).toContain('anna')
    // Tokens of one client are of no use to another.
    await expect(client(['--sign-in', 'never', guarded.url, '--oauth-client-id', 'another'])).rejects.toThrow('login')
    expect(desktop.shown).toHaveLength(1)
  })

  test('MC-AUTH-04: what a client sends to the front never reaches the server', async () => {
    const token = 'front-token-0123456789'
    writeFileSync(join(folder, 'tokens.txt'), `${token}\n`, { mode: 0o600 })
    expect(await run('login', guarded.url)).toMatchObject({ code: 0 })
    const proxy = start(['--http', '0', '--bearer-token-file', join(folder, 'tokens.txt'), guarded.url])
    const url = (): string | undefined => /listening url=(\S+)/.exec(proxy.texts.stderr)?.[1]
    await until(() => url() !== undefined)
    const connection = await connectHttp(url() ?? '', {
      policy: createRevisionPolicy(),
      info: { name: 't', version: '1' },
      authorization: () => `Bearer ${token}`,
    })
    connections.push(connection)
    expect(await toolText(connection, 'whoami')).toContain('anna')
    expect(guarded.seen.filter((value) => value?.includes(token) === true)).toEqual([])
  })

  test('an access token in a file is used, and read anew when it has changed', async () => {
    expect(await run('login', guarded.url)).toMatchObject({ code: 0 })
    const [good = ''] = secrets()
    const file = join(folder, 'token')
    writeFileSync(file, 'stale-token')
    const early = await client(['--token-file', file]).then(
      () => 'connected',
      (error: unknown) => String(error),
    )
    expect(early).toContain('refused')
    writeFileSync(file, good)
    expect(await toolText(await client(['--token-file', file]), 'whoami')).toContain('anna')
    expect(desktop.shown).toHaveLength(1)
  })

  test('ten that start together show one page, and each serves its client', async () => {
    const clients = await Promise.all(Array.from({ length: 10 }, async () => await client()))
    const answers = await Promise.all(clients.map(async (connection) => await toolText(connection, 'whoami')))
    expect(new Set(answers).size).toBe(1)
    expect(answers[0]).toContain('anna')
    expect(desktop.shown).toHaveLength(1)
    expect(guarded.provider.count('registration_create.success')).toBe(1)
  }, 120_000)

  test('one that is killed in the middle of a sign-in leaves nothing in the way of the next', async () => {
    desktop.visit = undefined
    const killed = start(['login', guarded.url])
    await until(() => desktop.shown.length === 1)
    killed.child.kill('SIGKILL')
    await killed.ended
    desktop.visit = browse
    expect(await run('login', guarded.url)).toMatchObject({ code: 0 })
    expect(desktop.shown).toHaveLength(2)
    expect(readdirSync(join(folder, 'state/atenea/oauth/locks'))).toEqual([])
  })

  test('one that waits for another that is killed takes its place', async () => {
    desktop.visit = undefined
    const killed = start(['login', guarded.url])
    await until(() => desktop.shown.length === 1)
    const waiting = run('login', guarded.url)
    desktop.visit = browse
    killed.child.kill('SIGKILL')
    expect(await waiting).toMatchObject({ code: 0 })
    expect(desktop.shown).toHaveLength(2)
  })

  test('a machine without a browser: a clear text with the page and the code', async () => {
    const { texts, ended } = start(['login', guarded.url], { BROWSER: 'none' })
    const code = (): string | undefined => /type the code: +(\S+)/.exec(texts.stderr)?.[1]
    await until(() => code() !== undefined)
    const page = /Open on any device: +(\S+)/.exec(texts.stderr)?.[1] ?? ''
    await browse(page, { user_code: code() ?? '' })
    expect(await ended).toMatchObject({ code: 0 })
    expect(desktop.shown).toEqual([])
  })

  test('whoever looks at /readyz opens no browser, and a call does', async () => {
    guarded.provider.answer = 'deny'
    const proxy = start(['--http', '0', guarded.url])
    const url = (): string | undefined => /listening url=(\S+)/.exec(proxy.texts.stderr)?.[1]
    await until(() => url() !== undefined)
    const place = url() ?? ''
    const options = { policy: createRevisionPolicy(), info: { name: 't', version: '1' } }
    await expect(connectHttp(place, options)).rejects.toThrow('did not sign in')
    // What somebody has said stands for a while; here it is forgotten.
    rmSync(join(folder, 'state/atenea/oauth/failures'), { recursive: true })
    guarded.provider.answer = 'sign-in'
    const seen = guarded.seen.length
    for (let look = 0; look < 5; look++) {
      expect((await fetch(new URL('/readyz', place))).status).toBe(503)
      await new Promise((resolve) => void setTimeout(resolve, 300))
    }
    expect(desktop.shown).toHaveLength(1)
    // Nor does it take the tries of those who call, or have them wait longer: nothing would come of it.
    expect(guarded.seen).toHaveLength(seen)
    connections.push(await afterBackOff(async () => await connectHttp(place, options)))
    expect(desktop.shown).toHaveLength(2)
    expect((await fetch(new URL('/readyz', place))).status).toBe(200)
  })

  test('where nobody can be asked: the client and /readyz are told what to do, and login mends it without a restart', async () => {
    const proxy = start(['--http', '0', '--sign-in', 'never', '--log-level', 'debug', guarded.url])
    const url = (): string | undefined => /listening url=(\S+)/.exec(proxy.texts.stderr)?.[1]
    await until(() => url() !== undefined)
    const place = url() ?? ''
    const codec = createModernCodec({ revision: modernRevision })
    const about = {
      peer: { capabilities: {} },
      meta: {},
      progressToken: undefined,
      logLevel: undefined,
      resume: undefined,
    }
    const { message, hints } = codec.encodeCall({ method: method.discover, params: {} }, about, 1)
    const refused = await fetch(place, {
      method: 'POST',
      headers: {
        ...(hints as Record<string, string>),
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: encodeMessage(message),
    })
    const { error } = (await refused.json()) as { readonly error: { readonly message: string } }
    expect(refused.status).toBe(500)
    expect(error.message).toContain(
      `wants a sign-in at ${guarded.provider.issuer}. Run: atenea-proxy login ${guarded.url}`,
    )
    const readyz = async () => {
      const answer = await fetch(new URL('/readyz', place))
      const { servers } = (await answer.json()) as {
        readonly servers: Readonly<Record<string, { readonly state: string }>>
      }
      return [answer.status, Object.values(servers)[0]?.state]
    }
    expect(await readyz()).toEqual([503, 'needs sign-in'])
    expect(await run('login', guarded.url)).toMatchObject({ code: 0 })
    // Whoever asks how it is hears of it, without a call of a client.
    await afterBackOff(async () => expect(await readyz()).toEqual([200, 'ready']))
    const connection = await connectHttp(place, { policy: createRevisionPolicy(), info: { name: 't', version: '1' } })
    connections.push(connection)
    expect(await toolText(connection, 'whoami')).toContain('anna')
    proxy.child.kill('SIGTERM')
    const { stderr } = await proxy.ended
    expect(secrets().length).toBe(2)
    expect(secrets().filter((secret) => stderr.includes(secret))).toEqual([])
  }, 60_000)

  const chromiumPath = [process.env['CHROMIUM_PATH'], '/usr/bin/chromium', '/usr/bin/google-chrome'].find(
    (path) => path !== undefined && existsSync(path),
  )
  test('a real browser signs in and says so', async (context) => {
    context.skip(chromiumPath === undefined, 'needs chromium')
    const browser: Browser = await chromium.launch({
      executablePath: chromiumPath ?? '',
      args: ['--no-sandbox', '--disable-dev-shm-usage'],
    })
    try {
      const page = await browser.newPage()
      desktop.visit = async (url) => {
        await page.goto(url)
        await page.click('button')
        await page.waitForLoadState()
        await page.click('button')
      }
      expect(await run('login', guarded.url)).toMatchObject({ code: 0 })
      await page.getByText('You can close this window').waitFor()
      expect(await page.title()).toBe('Signed in')
      expect(await page.locator('p').textContent()).toBe(
        'You are signed in for atenea-proxy. You can close this window.',
      )
    } finally {
      await browser.close()
    }
  }, 90_000)
})
