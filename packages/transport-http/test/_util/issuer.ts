import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Clock } from '@atenea/mcpcompat/transport'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'

export const audience = 'https://mcp.example.com/mcp'

export interface IssuerKey {
  readonly kid: string | undefined
  readonly algorithm: string
  readonly privateKey: CryptoKey
  readonly jwk: JWK
}

export async function createKey(kid: string | undefined, algorithm = 'ES256'): Promise<IssuerKey> {
  const { publicKey, privateKey } = await generateKeyPair(algorithm)
  const jwk = { ...(await exportJWK(publicKey)), ...(kid !== undefined && { kid }) }
  return { kid, algorithm, privateKey, jwk }
}

/** An authorization server as far as a resource server sees it, which tests can bend. */
export class Issuer implements AsyncDisposable {
  /** What it publishes. */
  keys: JWK[] = []
  /** Members that are put into its metadata. */
  metadata: Readonly<Record<string, unknown>> = {}
  /** Where the metadata is. */
  metadataPath = '/.well-known/oauth-authorization-server'
  /** Answers everything with this. */
  broken: number | undefined
  /** What is told of a token that was asked for. */
  introspect: (form: URLSearchParams, request: IncomingMessage) => readonly [status: number, body: unknown] = () => [
    200,
    { active: false },
  ]
  /** Paths that were asked for. */
  readonly asked: string[] = []
  readonly #server = createServer((request, response) => {
    void this.#answer(request, response)
  })

  static async start(): Promise<Issuer> {
    const issuer = new Issuer()
    await new Promise<void>((resolve) => issuer.#server.listen(0, '127.0.0.1', resolve))
    return issuer
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  count(path: string): number {
    return this.asked.filter((asked) => asked === path).length
  }

  /** A good access token, unless the test says otherwise. */
  async sign(
    key: IssuerKey,
    claims: Readonly<Record<string, unknown>> = {},
    header: Readonly<Record<string, unknown>> = {},
  ): Promise<string> {
    const payload = { iss: this.url, aud: audience, sub: 'alice', exp: Math.floor(Date.now() / 1000) + 3600, ...claims }
    const { kid, algorithm: alg } = key
    return await new SignJWT(payload)
      .setProtectedHeader({ alg, typ: 'at+jwt', ...(kid !== undefined && { kid }), ...header })
      .sign(key.privateKey)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? ''
    this.asked.push(path)
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const [status, body] =
      this.broken !== undefined
        ? [this.broken, 'broken']
        : path === this.metadataPath
          ? [
              200,
              {
                issuer: this.url,
                jwks_uri: `${this.url}/jwks`,
                introspection_endpoint: `${this.url}/introspect`,
                ...this.metadata,
              },
            ]
          : path === '/jwks'
            ? [200, { keys: this.keys }]
            : path === '/introspect'
              ? this.introspect(new URLSearchParams(text), request)
              : [404, {}]
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
}

/** Time that passes when a test says so, for ages; limits of real requests run on the platform's clock. */
export class HandTime {
  #passed = 0
  readonly clock: Clock = {
    now: () => performance.now() + this.#passed,
    after: (delayMs, run) => {
      const timer = setTimeout(run, delayMs)
      return { [Symbol.dispose]: () => clearTimeout(timer) }
    },
  }
  readonly now = (): number => Date.now() + this.#passed

  pass(ms: number): void {
    this.#passed += ms
  }
}
