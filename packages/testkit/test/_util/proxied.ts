import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRevisionPolicy, type Dispatcher } from '@atenea/mcpcompat'
import {
  type ClientConnection,
  connectDuplex,
  type ConnectDuplexOptions,
  createMemoryPair,
  serveConnection,
} from '@atenea/mcpcompat/transport'
import { type BackendOptions, createPassthrough, type CreatePassthroughOptions } from '@atenea/passthrough'
import { connectHttp } from '@atenea/transport-http'
import { createNodeSend, listenHttp } from '@atenea/transport-http/node'
import { dialSocket, listenSocket, spawnServer } from '@atenea/transport-stdio'
import { createServedCore } from '../../src/served-core.ts'
import { fixture } from './fixtures.ts'

export type Era = 'legacy' | 'modern'
export type FrontCarrier = 'memory' | 'http' | 'socket'
export type BackCarrier = FrontCarrier | 'stdio'

const policy = createRevisionPolicy()

/** Everything that tests opened. */
export class Opened implements AsyncDisposable {
  readonly #closers: (() => unknown)[] = []
  readonly #ends: Promise<unknown>[] = []

  /** Runs at the end, last in first out. */
  later(close: () => unknown): void {
    this.#closers.unshift(close)
  }

  /** Has to come to its end by itself once everything is closed. */
  ends(promise: Promise<unknown>): void {
    this.#ends.push(promise)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const close of this.#closers.splice(0)) await close()
    await Promise.all(this.#ends.splice(0))
  }
}

/** How a passthrough reaches a server on a carrier, with a server of the shared core there where none is named. */
export async function backendOn(
  carrier: BackCarrier,
  mode: BackendOptions['mode'],
  opened: Opened,
  server: { readonly name: string; readonly fixture?: string } = { name: 'back' },
): Promise<BackendOptions> {
  const options = { name: server.name, mode }
  switch (carrier) {
    case 'memory': {
      // One server, however many connections are made to it.
      const core = createServedCore()
      const dial = (): Promise<ReturnType<typeof createMemoryPair>[0]> => {
        const [client, end] = createMemoryPair({ payload: 'text' })
        opened.ends(serveConnection(end, core, { policy }))
        return Promise.resolve(client)
      }
      return { ...options, connect: (given) => connectDuplex(dial, { ...given, startsProcess: false }) }
    }
    case 'stdio': {
      const dial = async ({ signal }: { readonly signal?: AbortSignal | undefined }): ReturnType<typeof spawnServer> =>
        await spawnServer({
          ...fixture(server.fixture ?? 'served'),
          stderr: 'ignore',
          payload: 'text',
          closeTimeoutMs: 1_000,
          termTimeoutMs: 500,
          signal,
        })
      return { ...options, connect: (given) => connectDuplex(dial, given) }
    }
    case 'socket': {
      const folder = mkdtempSync(join(tmpdir(), 'proxied-'))
      const core = createServedCore()
      const listener = await listenSocket(join(folder, 'back.sock'), async (connection) => {
        await serveConnection(connection, core, { policy })
      })
      opened.later(() => rmSync(folder, { recursive: true, force: true }))
      opened.later(() => listener.close())
      const dial = async ({ signal }: { readonly signal?: AbortSignal | undefined }): ReturnType<typeof dialSocket> =>
        await dialSocket(listener.path, { signal, payload: 'text' })
      return { ...options, connect: (given) => connectDuplex(dial, { ...given, startsProcess: false }) }
    }
    case 'http': {
      const listener = await listenHttp(createServedCore(), { policy })
      opened.later(() => listener.close({ timeoutMs: 0 }))
      return { ...options, connect: httpConnector(listener.url, opened) }
    }
  }
}

/** How a passthrough reaches a server over HTTP. */
export function httpConnector(url: string, opened: Opened): BackendOptions['connect'] {
  const send = createNodeSend()
  opened.later(() => send[Symbol.dispose]())
  return (given) => connectHttp(url, { ...given, send, payload: 'text' })
}

/** Serves a dispatcher on a carrier and connects our own client to it. */
export async function clientOn(
  carrier: FrontCarrier,
  dispatcher: Dispatcher,
  opened: Opened,
  options: Omit<ConnectDuplexOptions, 'policy' | 'startsProcess'>,
): Promise<ClientConnection> {
  switch (carrier) {
    case 'memory':
      return await connectDuplex(
        () => {
          const [client, end] = createMemoryPair()
          opened.ends(serveConnection(end, dispatcher, { policy }))
          return Promise.resolve(client)
        },
        { ...options, policy, startsProcess: false },
      )
    case 'socket': {
      const folder = mkdtempSync(join(tmpdir(), 'proxied-'))
      const listener = await listenSocket(
        join(folder, 'front.sock'),
        async (connection) => {
          await serveConnection(connection, dispatcher, { policy })
        },
        { payload: 'text' },
      )
      opened.later(() => rmSync(folder, { recursive: true, force: true }))
      opened.later(() => listener.close())
      return await connectDuplex(async ({ signal }) => await dialSocket(listener.path, { signal }), {
        ...options,
        policy,
        startsProcess: false,
      })
    }
    case 'http': {
      const { url } = await httpFront(dispatcher, opened)
      const send = createNodeSend()
      opened.later(() => send[Symbol.dispose]())
      return await connectHttp(url, { ...options, policy, send })
    }
  }
}

/** Serves a dispatcher over HTTP. */
export async function httpFront(dispatcher: Dispatcher, opened: Opened): Promise<{ readonly url: string }> {
  const listener = await listenHttp(dispatcher, { policy, payload: 'text' })
  opened.later(() => listener.close({ timeoutMs: 0 }))
  return listener
}

/** A passthrough in front of backends; closed with everything else. */
export function passthroughTo(
  backends: readonly BackendOptions[],
  opened: Opened,
  options: Partial<CreatePassthroughOptions> = {},
): ReturnType<typeof createPassthrough> {
  const passthrough = createPassthrough({ backends, policy, info: { name: 'proxy', version: '1.0.0' }, ...options })
  opened.later(() => passthrough[Symbol.asyncDispose]())
  return passthrough
}
