import type { IncomingMessage, ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'
import { createEndpointGuard, type EndpointGuard } from '../../src/endpoint-guard.ts'
import { createTxtResolver } from '../../src/handle-dns.ts'
import { createHttpClient, type HttpClient } from '../../src/http-client.ts'
import { createIdentityResolver, type IdentityResolver } from '../../src/identity.ts'
import { dnsServer, type TxtAnswer } from './dns-server.ts'
import { httpServer, httpsServer, type TestServer } from './servers.ts'

/** What a URL is answered with: a document, a text, a status, or by hand. */
export type WebAnswer = object | string | number | ((request: IncomingMessage, response: ServerResponse) => void)

export interface NetworkOptions {
  /** Documents of the directory of did:plc, by DID. */
  readonly plc?: Readonly<Record<string, WebAnswer>>
  /** TXT records, by name. */
  readonly txt?: Readonly<Record<string, TxtAnswer>>
  /** Pages of the public internet, by URL. */
  readonly web?: Readonly<Record<string, WebAnswer>>
  readonly allowEndpoints?: readonly string[]
  readonly timeoutMs?: number
  readonly ttlMs?: number
}

/** An internet on loopback: real name servers, directories and web servers, behind a real guard. */
export interface Network {
  readonly identity: IdentityResolver
  readonly guard: EndpointGuard
  readonly http: HttpClient
  readonly plc: TestServer
  /** All hosts of the public internet. Requests name the host. */
  readonly web: TestServer
  readonly visited: string[]
  readonly asked: string[]
  readonly nameserver: string
}

/** Each host of `hosts` gets a name in a certificate of its own kind: these. */
const publicNames = ['*.example.com', '*.example.org', 'example.com', 'example.org']

/** Makes one for the test that calls this. */
export async function network(options: NetworkOptions = {}): Promise<Network> {
  const { plc: documents = {}, txt = {}, web: pages = {}, timeoutMs = 20_000, ttlMs = 0 } = options
  const plc = await httpServer((request, response) => {
    answerWith(documents[decodeURIComponent(request.url?.slice(1) ?? '')] ?? 404, request, response)
  })
  const visited: string[] = []
  const web = await httpsServer(publicNames, (request, response) => {
    const url = `https://${request.headers.host}${request.url}`
    visited.push(url)
    answerWith(pages[url] ?? 404, request, response)
  })
  const hosts = new Set(Object.keys(pages).map((url) => new URL(url).hostname))
  const { address: nameserver, asked } = await dnsServer(txt)
  const guard = createEndpointGuard({
    allowEndpoints: [plc.origin, ...(options.allowEndpoints ?? [])],
    lookup: (host) =>
      hosts.has(host) || host === 'localhost'
        ? Promise.resolve([{ address: '127.0.0.1', family: 4 }])
        : Promise.reject(Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' })),
    isAllowedAddress: (address) => address === '127.0.0.1',
  })
  const connect = (url: URL): { ca?: string; port?: number } =>
    url.protocol === 'https:' ? { ca: web.ca, port: web.port } : {}
  const http = createHttpClient({ guard, connect })
  onTestFinished(() => http[Symbol.dispose]())
  const resolveTxt = createTxtResolver({ nameservers: [nameserver], timeoutMs: 500 })
  const identity = createIdentityResolver({ http, guard, resolveTxt, plcDirectory: plc.origin, timeoutMs, ttlMs })
  return { identity, guard, http, plc, web, visited, asked, nameserver }
}

function answerWith(answer: WebAnswer, request: IncomingMessage, response: ServerResponse): void {
  if (typeof answer === 'function') (answer as (...args: unknown[]) => void)(request, response)
  else if (typeof answer === 'number') response.writeHead(answer).end()
  else if (typeof answer === 'string') response.writeHead(200, { 'content-type': 'text/plain' }).end(answer)
  else response.writeHead(200, { 'content-type': 'application/did+ld+json' }).end(JSON.stringify(answer))
}

/** The document of an account. */
export function documentOf(did: string, handle: string, pds: string): object {
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/multikey/v1'],
    id: did,
    alsoKnownAs: [`at://${handle}`],
    verificationMethod: [
      {
        id: `${did}#atproto`,
        type: 'Multikey',
        controller: did,
        publicKeyMultibase: 'zQ3shXjHeiBuRCKmM36cuYnm7YEMzhGnCmCyW92sRJ9pribSF',
      },
    ],
    service: [{ id: '#atproto_pds', type: 'AtprotoPersonalDataServer', serviceEndpoint: pds }],
  }
}

/** DIDs of the form that the directory gives out. */
export const alice = 'did:plc:aliceaaaaaaaaaaaaaaaaaaa'
export const bob = 'did:plc:bobaaaaaaaaaaaaaaaaaaaaa'
