import { randomBytes } from 'node:crypto'
import { inject } from 'vitest'

/** An account of its own at the real PDS, for the test that makes it. */
export interface Account {
  readonly did: string
  readonly handle: string
  /** A password that can be revoked alone, as users of tools should make one. */
  readonly appPassword: string
  /** Calls a method of the PDS as the account itself. */
  call(
    method: string,
    input?: object | Record<string, string>,
    kind?: 'query' | 'procedure',
  ): Promise<Record<string, unknown>>
}

async function xrpc(
  method: string,
  { body, params, token }: { body?: object; params?: Record<string, string>; token?: string },
) {
  const url = new URL(`/xrpc/${method}`, inject('pds').pdsUrl)
  url.search = new URLSearchParams(params).toString()
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method}: ${response.status} ${text}`)
  return (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>
}

/** Makes an account. */
export async function createAccount(): Promise<Account> {
  const name = `user-${randomBytes(5).toString('hex')}`
  const handle = `${name}.test`
  const body = { email: `${name}@example.com`, handle, password: randomBytes(12).toString('hex') }
  const made = (await xrpc('com.atproto.server.createAccount', { body })) as { did: string; accessJwt: string }
  const call: Account['call'] = (method, input = {}, kind = 'procedure') =>
    xrpc(method, {
      token: made.accessJwt,
      ...(kind === 'query' ? { params: input as Record<string, string> } : { body: input }),
    })
  const { password } = await call('com.atproto.server.createAppPassword', { name: 'blobs' })
  return { did: made.did, handle, appPassword: String(password), call }
}

/** Makes a record that refers to a blob. Gives its key. */
export async function refer(account: Account, blob: unknown): Promise<string> {
  const record = { $type: 'com.example.file', blob }
  const { uri } = await account.call('com.atproto.repo.createRecord', {
    repo: account.did,
    collection: 'com.example.file',
    record,
  })
  return String(uri).split('/').at(-1) ?? ''
}
