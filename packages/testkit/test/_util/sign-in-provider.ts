import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK } from 'jose'
import Provider from 'oidc-provider'
import { MemoryAdapter } from './authorization-server.ts'

export interface StartSignInProviderOptions {
  /** What its tokens can be for, with the scopes of each. */
  readonly resources: Readonly<Record<string, readonly string[]>>
}

/** What became of something at the authorization server. */
export interface ProviderEvent {
  readonly name: string
  readonly grantType?: string | undefined
}

/**
 * `oidc-provider` from npm on loopback, for people: pages to sign in and to agree on, registration of clients, rotation of refresh tokens,
 * codes for other devices.
 */
export class SignInProvider implements AsyncDisposable {
  readonly issuer: string
  /** How long access tokens are good, in seconds. */
  accessSeconds = 600
  /** Whether it answers; 503 otherwise. */
  up = true
  /** What people decide at its page. */
  answer: 'sign-in' | 'deny' = 'sign-in'
  /** What it did, in order. */
  readonly events: ProviderEvent[] = []
  /** Bodies of requests to the token endpoint. */
  readonly tokenRequests: URLSearchParams[] = []
  readonly #server: Server
  readonly #provider: Provider

  private constructor(server: Server, key: JWK, { resources }: StartSignInProviderOptions) {
    this.#server = server
    this.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const scopes = Object.values(resources).flat()
    this.#provider = new Provider(this.issuer, {
      adapter: MemoryAdapter,
      jwks: { keys: [key] },
      scopes: ['offline_access', ...scopes],
      pkce: { required: () => true },
      rotateRefreshToken: true,
      clientDefaults: { id_token_signed_response_alg: 'ES256' },
      findAccount: (_context: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
      interactions: { url: (_context: unknown, { uid }: { readonly uid: string }) => `/page/${uid}` },
      ttl: {
        AccessToken: () => this.accessSeconds,
        DeviceCode: 60,
        RefreshToken: 3_600,
        Session: 3_600,
        Grant: 3_600,
        Interaction: 600,
      },
      features: {
        devInteractions: { enabled: false },
        registration: { enabled: true },
        revocation: { enabled: true, allowedPolicy: () => true },
        dPoP: { enabled: true },
        deviceFlow: {
          enabled: true,
          mask: '****-****',
          userCodeInputSource: (context: { body: string }, form: string) => {
            context.body = page('Code', `${form}<button type="submit" form="op.deviceInputForm">Go on</button>`)
          },
          userCodeConfirmSource: (context: { body: string }, form: string) => {
            context.body = page('Confirm', `${form}<button type="submit" form="op.deviceConfirmForm">Confirm</button>`)
          },
          successSource: (context: { body: string }) => {
            context.body = page('Done', '<p>done</p>')
          },
        },
        resourceIndicators: {
          enabled: true,
          useGrantedResource: () => true,
          getResourceServerInfo: (_context: unknown, resource: string) => ({
            audience: resource,
            scope: (resources[resource] ?? []).join(' '),
            accessTokenFormat: 'jwt',
            accessTokenTTL: this.accessSeconds,
            jwt: { sign: { alg: 'ES256' } },
          }),
        },
      },
    })
    for (const name of [
      'registration_create.success',
      'grant.success',
      'grant.error',
      'grant.revoked',
      'authorization.success',
    ]) {
      this.#provider.on(name, (context) => {
        const { oidc } = context as { readonly oidc?: { readonly params?: { readonly grant_type?: string } } }
        this.events.push({ name, grantType: oidc?.params?.grant_type })
      })
    }
    server.on('request', (request, response) => void this.#answer(request, response))
  }

  static async start(options: StartSignInProviderOptions): Promise<SignInProvider> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { privateKey } = await generateKeyPair('ES256', { extractable: true })
    const key = { ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig', kid: 'first' }
    return new SignInProvider(server, key, options)
  }

  /** How often something happened. */
  count(name: string, grantType?: string): number {
    return this.events.filter(
      (event) => event.name === name && (grantType === undefined || event.grantType === grantType),
    ).length
  }

  /** Registers a client as an operator would; resolves with its id. */
  async register(metadata: Readonly<Record<string, unknown>>): Promise<string> {
    const answer = await fetch(`${this.issuer}/reg`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(metadata),
    })
    const { client_id: id } = (await answer.json()) as { readonly client_id?: string }
    if (id === undefined) throw new Error(`not registered: ${answer.status}`)
    return id
  }

  /** Takes back everything that was granted to anybody. */
  revokeAll(): void {
    MemoryAdapter.forget(['RefreshToken', 'Grant', 'AccessToken'])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!this.up) {
      response.writeHead(503).end()
      return
    }
    if (request.url?.startsWith('/page/') === true) await this.#page(request, response)
    else {
      if (request.url === '/token') this.#remember(request)
      this.#provider.callback()(request, response)
    }
  }

  #remember(request: IncomingMessage): void {
    let text = ''
    request.on('data', (chunk: Buffer) => (text += chunk.toString()))
    request.on('end', () => this.tokenRequests.push(new URLSearchParams(text)))
  }

  /** The page where somebody signs in and agrees at once. */
  async #page(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const details = await this.#provider.interactionDetails(request, response)
    if (request.method === 'GET') {
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end(
          page('Sign in', `<form method="post"><button type="submit" id="go">${details.prompt.name}</button></form>`),
        )
      return
    }
    request.resume()
    const result =
      this.answer === 'deny'
        ? { error: 'access_denied', error_description: 'The user said no' }
        : details.prompt.name === 'login'
          ? { login: { accountId: 'anna' } }
          : { consent: { grantId: await this.#grant(details) } }
    await this.#provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true })
  }

  async #grant({
    params,
    session,
    grantId,
    prompt,
  }: Awaited<ReturnType<Provider['interactionDetails']>>): Promise<string> {
    const { Grant } = this.#provider
    const grant =
      grantId === undefined
        ? new Grant({ accountId: session?.accountId, clientId: params['client_id'] })
        : await Grant.find(grantId)
    const { missingOIDCScope = [], missingResourceScopes = {} } = prompt.details
    if (missingOIDCScope.length > 0) grant.addOIDCScope(missingOIDCScope.join(' '))
    for (const [resource, scopes] of Object.entries(missingResourceScopes))
      grant.addResourceScope(resource, scopes.join(' '))
    return await grant.save()
  }
}

function page(title: string, body: string): string {
  return `<!doctype html><title>${title}</title><h1>${title}</h1>${body}`
}
