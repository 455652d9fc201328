import { randomBytes } from 'node:crypto'
import { inject } from 'vitest'

/** An account at the real PDS. */
export interface Account {
  readonly did: string
  readonly handle: string
  readonly password: string
  readonly appPassword: string
  readonly accessToken: string
}

type Answer = Readonly<Record<string, unknown>>

async function post(method: string, body: object, token?: string): Promise<Answer> {
  const response = await fetch(new URL(`/xrpc/${method}`, inject('pds').pdsUrl), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(60_000),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method}: ${response.status} ${text}`)
  return JSON.parse(text) as Answer
}

export async function createAccount(): Promise<Account> {
  const handle = `user-${randomBytes(5).toString('hex')}.test`
  const password = randomBytes(12).toString('hex')
  const made = await post('com.atproto.server.createAccount', { email: `${handle}@example.com`, handle, password })
  const accessToken = String(made['accessJwt'])
  const app = await post('com.atproto.server.createAppPassword', { name: 'atenea' }, accessToken)
  return { did: String(made['did']), handle, password, appPassword: String(app['password']), accessToken }
}

/** Makes a record. */
export async function createRecord(
  { did, accessToken }: Account,
  record: object,
): Promise<{ readonly uri: string; readonly cid: string }> {
  const input = { repo: did, collection: 'com.example.file', record: { $type: 'com.example.file', ...record } }
  const { uri, cid } = await post('com.atproto.repo.createRecord', input, accessToken)
  return { uri: String(uri), cid: String(cid) }
}
