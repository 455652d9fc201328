import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { type BlobClient, createBlobClient, type CreateBlobClientOptions } from '../../src/blob-client.ts'
import { createMemoryStore } from '../../src/memory-store.ts'
import type { BlobStore } from '../../src/store.ts'
import { alice, bob, documentOf, network } from './network.ts'
import { httpServer, type TestServer } from './servers.ts'

/** Answers one method of XRPC. */
export type Method = (call: Call) => void | Promise<void>

export interface Call {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly params: URLSearchParams
  /** The body, read to its end. */
  body(): Promise<Buffer>
  /** Answers with JSON. */
  json(status: number, value: unknown, headers?: Readonly<Record<string, string>>): void
}

export interface PdsServer extends TestServer {
  /** Methods that were called, as `GET getBlob`. */
  readonly calls: string[]
  /** Headers of those calls. */
  readonly headers: IncomingMessage['headers'][]
}

/** A PDS written by hand for the test that calls this: it answers as it is told, and to all else with 501. */
export async function pdsServer(methods: Readonly<Record<string, Method>>): Promise<PdsServer> {
  const calls: string[] = []
  const headers: IncomingMessage['headers'][] = []
  const server = await httpServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    const name = url.pathname.split('.').at(-1) ?? ''
    calls.push(`${request.method} ${name}`)
    headers.push(request.headers)
    const json: Call['json'] = (status, value, extra = {}) =>
      void response.writeHead(status, { 'content-type': 'application/json', ...extra }).end(JSON.stringify(value))
    const call: Call = { request, response, params: url.searchParams, body: () => buffer(request), json }
    const method = methods[`${request.method} ${name}`] ?? methods[name]
    if (method === undefined) json(501, { error: 'MethodNotImplemented' })
    else void method(call)
  })
  return { ...server, calls, headers }
}

export interface Served {
  readonly client: BlobClient
  readonly store: BlobStore
}

/** A client for which the server is the PDS of alice and bob. */
export async function clientOf(server: TestServer, options: CreateBlobClientOptions = {}): Promise<Served> {
  const plc = {
    [alice]: documentOf(alice, 'alice.example.com', server.origin),
    [bob]: documentOf(bob, 'bob.example.com', server.origin),
  }
  const net = await network({ plc, txt: { '_atproto.alice.example.com': [`did=${alice}`] } })
  const store = options.store ?? createMemoryStore()
  const client = createBlobClient({
    store,
    plcDirectory: net.plc.origin,
    nameservers: [net.nameserver],
    ttlMs: 0,
    ...options,
    allowEndpoints: [server.origin, ...(options.allowEndpoints ?? [])],
  })
  onTestFinished(() => client[Symbol.dispose]())
  return { client, store }
}

/** Serves blobs as a PDS does: by account, in full, with type and length; HEAD too. */
export function serving(blobs: Readonly<Record<string, { readonly bytes: Buffer; readonly type?: string }>>): Method {
  return ({ request, response, params, json }) => {
    const blob = blobs[`${params.get('did')} ${params.get('cid')}`]
    if (blob === undefined) {
      json(400, { error: 'InvalidRequest', message: 'Blob not found' })
      return
    }
    const type = blob.type === undefined ? {} : { 'content-type': blob.type }
    response.writeHead(200, { ...type, 'content-length': blob.bytes.length })
    if (request.method === 'HEAD') response.end()
    else response.end(blob.bytes)
  }
}
