import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK } from 'jose'
import Provider from 'oidc-provider'

export interface StartAuthorizationServerOptions {
  /** What its tokens can be for, with the scopes of each. */
  readonly resources: Readonly<Record<string, readonly string[]>>
  /** Whether a token says all by itself, or has to be asked about. */
  readonly format: 'jwt' | 'opaque'
}

export interface TokenRequest {
  readonly resource: string
  readonly scope?: string
}

/** Programs that may get tokens, and the one that may ask about them. */
const clients = { anna: 'secret-of-anna', berta: 'secret-of-berta', front: 'secret-of-front' } as const
export type ClientName = keyof typeof clients

export const frontClient = { clientId: 'front', clientSecret: clients.front } as const

/** `oidc-provider` from npm on loopback, which issues real tokens and whose keys can be changed. */
export class AuthorizationServer implements AsyncDisposable {
  readonly issuer: string
  /** Whether it answers; 503 otherwise. */
  up = true
  readonly #server: Server
  readonly #options: StartAuthorizationServerOptions
  #keys: readonly JWK[]
  #provider: Provider

  private constructor(server: Server, keys: readonly JWK[], options: StartAuthorizationServerOptions) {
    this.#server = server
    this.#options = options
    this.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    this.#keys = keys
    this.#provider = this.#create()
    server.on('request', (request, response) => {
      if (this.up) this.#provider.callback()(request, response)
      else response.writeHead(503).end()
    })
  }

  static async start(options: StartAuthorizationServerOptions): Promise<AuthorizationServer> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new AuthorizationServer(server, [await createKey()], options)
  }

  /** A token for a program, by the client credentials grant. */
  async token(client: ClientName, { resource, scope }: TokenRequest): Promise<string> {
    const answer = await fetch(`${this.issuer}/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${client}:${clients[client]}`)}` },
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        resource,
        ...(scope !== undefined && { scope }),
      }),
    })
    const { access_token: token } = (await answer.json()) as { readonly access_token?: string }
    if (token === undefined) throw new Error(`no token: ${answer.status}`)
    return token
  }

  /** A token of a person, as a sign-in ends with one. */
  async tokenOf(person: string, { resource, scope = '' }: TokenRequest): Promise<string> {
    const { AccessToken, Client, ResourceServer } = this.#provider
    return await new AccessToken({
      accountId: person,
      client: await Client.find('anna'),
      scope,
      gty: 'authorization_code',
      resourceServer: new ResourceServer(resource, this.#resource(resource)),
    }).save()
  }

  async revoke(client: ClientName, token: string): Promise<void> {
    const answer = await fetch(`${this.issuer}/token/revocation`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${client}:${clients[client]}`)}` },
      body: new URLSearchParams({ token }),
    })
    if (answer.status !== 200) throw new Error(`not revoked: ${answer.status}`)
  }

  /** Signs with a new key from now on. The old ones are published as long as they are kept. */
  async rotate({ keepOld }: { readonly keepOld: boolean }): Promise<void> {
    this.#keys = [await createKey(), ...(keepOld ? this.#keys : [])]
    this.#provider = this.#create()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  #create(): Provider {
    const scopes = Object.values(this.#options.resources).flat()
    return new Provider(this.issuer, {
      adapter: MemoryAdapter,
      jwks: { keys: this.#keys },
      ttl: { AccessToken: 600, ClientCredentials: 600 },
      scopes,
      clients: Object.entries(clients).map(([client_id, client_secret]) => ({
        client_id,
        client_secret,
        grant_types: ['client_credentials'],
        response_types: [],
        redirect_uris: [],
        id_token_signed_response_alg: 'ES256',
      })),
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        revocation: { enabled: true, allowedPolicy: () => true },
        introspection: { enabled: true, allowedPolicy: () => true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: (_context: unknown, resource: string) => this.#resource(resource),
        },
      },
    })
  }

  #resource(resource: string): Readonly<Record<string, unknown>> {
    return {
      audience: resource,
      scope: (this.#options.resources[resource] ?? []).join(' '),
      accessTokenFormat: this.#options.format,
      accessTokenTTL: 600,
      jwt: { sign: { alg: 'ES256' } },
    }
  }
}

type Entry = Record<string, unknown> & { readonly grantId?: string; readonly uid?: string; readonly userCode?: string }

/** What the servers of one test file keep: the one that comes with the package warns each time. */
export class MemoryAdapter {
  static readonly #entries = new Map<string, Entry>()
  readonly #model: string

  constructor(model: string) {
    this.#model = model
  }

  /** Forgets everything of these kinds. */
  static forget(models: readonly string[]): void {
    for (const key of MemoryAdapter.#entries.keys()) {
      if (models.some((model) => key.startsWith(`${model}:`))) MemoryAdapter.#entries.delete(key)
    }
  }

  async upsert(id: string, entry: Entry): Promise<void> {
    await Promise.resolve()
    MemoryAdapter.#entries.set(this.#key(id), entry)
  }

  async find(id: string): Promise<Entry | undefined> {
    return await Promise.resolve(MemoryAdapter.#entries.get(this.#key(id)))
  }

  async findByUid(uid: string): Promise<Entry | undefined> {
    return await this.#first((entry) => entry.uid === uid)
  }

  async findByUserCode(code: string): Promise<Entry | undefined> {
    return await this.#first((entry) => entry.userCode === code)
  }

  async consume(id: string): Promise<void> {
    const entry = await this.find(id)
    if (entry !== undefined) entry['consumed'] = Math.floor(Date.now() / 1000)
  }

  async destroy(id: string): Promise<void> {
    await Promise.resolve()
    MemoryAdapter.#entries.delete(this.#key(id))
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    await Promise.resolve()
    for (const [key, entry] of MemoryAdapter.#entries) {
      if (entry.grantId === grantId) MemoryAdapter.#entries.delete(key)
    }
  }

  async #first(matches: (entry: Entry) => boolean): Promise<Entry | undefined> {
    const mine = [...MemoryAdapter.#entries].filter(([key]) => key.startsWith(`${this.#model}:`))
    return await Promise.resolve(mine.map(([, entry]) => entry).find(matches))
  }

  #key(id: string): string {
    return `${this.#model}:${id}`
  }
}

async function createKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  return { ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig', kid: crypto.randomUUID() }
}
