import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'
import { onTestFinished } from 'vitest'

/** Answers one method, as the test wants it. */
export type Answer = (request: IncomingMessage, response: ServerResponse, params: URLSearchParams) => unknown

/** A PDS written by hand that answers as it is told, and a directory that says of every DID that this is its PDS. */
export interface HostilePds {
  readonly origin: string
  /** An account whose DID document it serves itself. */
  readonly webDid: string
  /** Methods that were called, as `GET getBlob`. */
  readonly calls: string[]
  /** Bodies of uploads with their headers. */
  readonly uploads: { readonly headers: IncomingMessage['headers']; readonly body: Buffer }[]
  answers: Record<string, Answer>
  /** The PDS that the directory names in place of this one. */
  endpoint: string | undefined
  /** Flags for a server that talks to it. */
  readonly flags: readonly string[]
}

export const alice = 'did:plc:aliceaaaaaaaaaaaaaaaaaaa'
/** A token of this PDS: no pattern gives it away. */
export const opaqueToken = 'opaque-session-0f7a4c'

export async function hostilePds(): Promise<HostilePds> {
  const calls: string[] = []
  const uploads: HostilePds['uploads'] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    if (url.pathname.startsWith('/did')) {
      const did = decodeURIComponent(url.pathname.slice(1))
      json(response, 200, documentOf(did, pds.endpoint ?? pds.origin))
      return
    }
    if (url.pathname === '/.well-known/did.json') {
      json(response, 200, documentOf(pds.webDid, pds.endpoint ?? pds.origin))
      return
    }
    const name = url.pathname.split('.').at(-1) ?? ''
    calls.push(`${request.method} ${name}`)
    const answer = pds.answers[`${request.method} ${name}`] ?? pds.answers[name] ?? common[name]
    if (answer === undefined) json(response, 501, { error: 'MethodNotImplemented' })
    else void answer(request, response, url.searchParams)
  })
  const common: Record<string, Answer> = {
    createSession: (_, response) =>
      json(response, 200, { did: alice, accessJwt: opaqueToken, refreshJwt: `${opaqueToken}-refresh` }),
    describeServer: (_, response) => json(response, 200, {}),
    uploadBlob: async (request, response) => {
      const body = await buffer(request)
      uploads.push({ headers: request.headers, body })
      json(response, 200, { blob: blobObject(body, String(request.headers['content-type'])) })
    },
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`
  const pds: HostilePds = {
    origin,
    webDid: `did:web:${new URL(origin).host.replace(':', '%3A')}`,
    calls,
    uploads,
    answers: {},
    endpoint: undefined,
    flags: ['--plc-directory', origin, '--allow-endpoint', origin, '--nameserver', '127.0.0.1:9'],
  }
  return pds
}

export function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

/** Serves one blob as a good PDS does. */
export function serving(bytes: Buffer, type = 'application/octet-stream'): Answer {
  return (request, response) => {
    response.writeHead(200, { 'content-type': type, 'content-length': bytes.length })
    response.end(request.method === 'HEAD' ? undefined : bytes)
  }
}

export function blobObject(bytes: Buffer, mimeType: string): object {
  return { $type: 'blob', ref: { $link: cidOf(bytes) }, mimeType, size: bytes.length }
}

/** The CID of bytes, by another way than the server's. */
export function cidOf(bytes: Uint8Array, codec = 0x55): string {
  return CID.createV1(codec, createDigest(0x12, createHash('sha256').update(bytes).digest())).toString()
}

function documentOf(did: string, serviceEndpoint: string): object {
  return {
    id: did,
    alsoKnownAs: [],
    service: [{ id: '#atproto_pds', type: 'AtprotoPersonalDataServer', serviceEndpoint }],
  }
}
