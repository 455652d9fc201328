import {
  createRevisionPolicy,
  type JsonObject,
  legacyRevision,
  modernRevision,
  type Principal,
} from '@atenea/mcpcompat'
import { connectDuplex, metaKey, serveConnection } from '@atenea/mcpcompat/transport'
import { type BackendOptions, createPassthrough, type Passthrough, type PassthroughEvent } from '../../src/index.ts'
import type { CreatePassthroughOptions } from '../../src/passthrough.ts'
import { createWire, type Line, type Message, type Wire } from './wire.ts'

export type Kind = 'legacy' | 'modern'

/** All four ways from a client to a backend. */
export const cells: readonly (readonly [front: Kind, back: Kind])[] = [
  ['legacy', 'legacy'],
  ['legacy', 'modern'],
  ['modern', 'legacy'],
  ['modern', 'modern'],
]

/** A backend in raw lines that knows how to be found out. */
export interface FakeBackend {
  /** Connections that were made, in order. */
  readonly wires: Wire[]
  /** What each handshake said. */
  readonly handshakes: JsonObject[]
  /** The latest connection. */
  readonly wire: Wire
  capabilities: JsonObject
  /** Whether subscriptions are acknowledged by themselves. */
  acknowledges: boolean
  /** The revision that a legacy backend insists on. */
  revision: string
  /** Set: connecting fails with it. */
  refuses: Error | undefined
  /** Called for each request that is no handshake; what it gives is the result. Without one, tests answer themselves. */
  onRequest: ((request: Message & { readonly method: string }, wire: Wire) => JsonObject | undefined) | undefined
  /** The next request of this method on the latest connection. */
  request(method: string): Promise<Line>
  readonly options: BackendOptions
}

export interface CreateBackendOptions extends Partial<Omit<BackendOptions, 'connect'>> {
  readonly kind: Kind
  readonly capabilities?: JsonObject
  readonly acknowledges?: boolean
}

const usual: JsonObject = {
  tools: { listChanged: true },
  prompts: {},
  resources: { subscribe: true, listChanged: true },
  logging: {},
  completions: {},
}

export function createBackend({
  kind,
  capabilities = usual,
  acknowledges = false,
  ...options
}: CreateBackendOptions): FakeBackend {
  const backend: FakeBackend = {
    wires: [],
    handshakes: [],
    capabilities,
    acknowledges,
    revision: legacyRevision,
    refuses: undefined,
    onRequest: undefined,
    get wire() {
      const wire = backend.wires.at(-1)
      if (wire === undefined) throw new Error('nobody has connected')
      return wire
    },
    async request(method) {
      return await backend.wire.next((message) => message.method === method)
    },
    options: {
      name: 'back',
      ...options,
      connect: (given) =>
        connectDuplex(
          () => {
            if (backend.refuses !== undefined) return Promise.reject(backend.refuses)
            const wire = createWire()
            backend.wires.push(wire)
            void answer(backend, wire, kind)
            return Promise.resolve(wire.connection)
          },
          { ...given, startsProcess: false },
        ),
    },
  }
  return backend
}

/** Answers the handshake, and whatever the test wants answered by itself. */
async function answer(backend: FakeBackend, wire: Wire, kind: Kind): Promise<void> {
  while (!wire.closed) {
    let line: Line
    try {
      line = await wire.next(
        ({ id, method }) =>
          method === 'server/discover' ||
          method === 'initialize' ||
          method === 'notifications/initialized' ||
          (method === 'subscriptions/listen' && backend.acknowledges) ||
          (id !== undefined && method !== undefined && backend.onRequest !== undefined),
      )
    } catch {
      continue
    }
    const { id, method, params } = line.value
    if (id === undefined || method === undefined) continue
    if (method === 'server/discover') {
      if (kind === 'legacy') {
        wire.write(errorOf(id, -32_601, 'Method not found'))
      } else {
        wire.write(
          resultOf(id, {
            resultType: 'complete',
            supportedVersions: [modernRevision],
            capabilities: backend.capabilities,
            ttlMs: 0,
            cacheScope: 'private',
            instructions: 'Use it well.',
            _meta: { [metaKey.serverInfo]: { name: 'fake', version: '1', title: 'Fake' } },
          }),
        )
      }
    } else if (method === 'initialize') {
      backend.handshakes.push(params ?? {})
      wire.write(
        resultOf(id, {
          protocolVersion: backend.revision,
          capabilities: backend.capabilities,
          serverInfo: { name: 'fake', version: '1', title: 'Fake' },
          instructions: 'Use it well.',
        }),
      )
    } else if (method === 'subscriptions/listen' && backend.acknowledges) {
      const notifications = params?.['notifications'] as JsonObject
      wire.acknowledged.push(id)
      wire.write({
        jsonrpc: '2.0',
        method: 'notifications/subscriptions/acknowledged',
        params: { notifications, _meta: { [metaKey.subscriptionId]: id } },
      })
    } else {
      const result = backend.onRequest?.({ ...line.value, method }, wire)
      if (result !== undefined) wire.write(resultOf(id, result))
    }
  }
}

/** The `_meta` of a request as it stood on the wire. */
export function metaIn({ value }: Line): JsonObject {
  return (value.params?.['_meta'] ?? {}) as JsonObject
}

export function resultOf(id: unknown, result: JsonObject): JsonObject {
  return { jsonrpc: '2.0', id: id as number, result }
}

export function errorOf(id: unknown, code: number, message = 'm', data?: JsonObject): JsonObject {
  return { jsonrpc: '2.0', id: id as number, error: { code, message, ...(data !== undefined && { data }) } }
}

/** A client of the proxy in raw lines. */
export interface FrontClient extends Wire {
  /** Sends a request in the words of its era, and gives the id. `more` are members of `_meta`. */
  send(method: string, params?: JsonObject, more?: JsonObject): number
  /** Sends a modern request whose params, but for `_meta`, are the text of members. */
  raw(method: string, members: string): number
  /** Sends a request and waits for its answer. */
  ask(method: string, params?: JsonObject, more?: JsonObject): Promise<Line>
  answerTo(id: number): Promise<Line>
  notify(method: string, params?: JsonObject): void
}

export interface Rig {
  readonly passthrough: Passthrough
  readonly events: PassthroughEvent[]
  /** Another client of the same proxy. */
  client(kind: Kind, options?: ClientOptions): Promise<FrontClient>
}

export interface ClientOptions {
  readonly capabilities?: JsonObject
  readonly info?: JsonObject
  readonly principal?: Principal
}

export const clientInfo = { name: 'client', version: '7', title: 'Client' }

const open: { passthrough: Passthrough; wires: FrontClient[]; served: Promise<void>[] }[] = []

export function createRig(backends: readonly FakeBackend[], options: Partial<CreatePassthroughOptions> = {}): Rig {
  const events: PassthroughEvent[] = []
  const passthrough = createPassthrough({
    backends: backends.map((backend) => backend.options),
    policy: createRevisionPolicy(),
    info: { name: 'proxy', version: '0' },
    onEvent: (event) => events.push(event),
    ...options,
  })
  const wires: FrontClient[] = []
  const served: Promise<void>[] = []
  open.push({ passthrough, wires, served })
  return {
    passthrough,
    events,
    async client(kind, { capabilities = {}, info = clientInfo, principal } = {}) {
      const wire = createWire(principal)
      served.push(serveConnection(wire.connection, passthrough, { policy: createRevisionPolicy() }))
      const client = createFront(wire, kind, capabilities, info)
      wires.push(client)
      if (kind === 'legacy') {
        await client.ask('initialize', { protocolVersion: legacyRevision, capabilities, clientInfo: info })
        client.notify('notifications/initialized')
      }
      return client
    },
  }
}

function createFront(wire: Wire, kind: Kind, capabilities: JsonObject, info: JsonObject): FrontClient {
  let ids = 100
  const front: Omit<FrontClient, keyof Wire> = {
    send(method, params = {}, more = {}) {
      const id = ++ids
      const meta =
        kind === 'legacy'
          ? more
          : {
              [metaKey.protocolVersion]: modernRevision,
              [metaKey.clientInfo]: info,
              [metaKey.clientCapabilities]: capabilities,
              ...more,
            }
      const withMeta = Object.keys(meta).length > 0 ? { ...params, _meta: meta } : params
      wire.write({ jsonrpc: '2.0', id, method, params: withMeta })
      return id
    },
    raw(method, members) {
      const id = ++ids
      const meta = JSON.stringify({
        [metaKey.protocolVersion]: modernRevision,
        [metaKey.clientInfo]: info,
        [metaKey.clientCapabilities]: capabilities,
      })
      wire.write(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{${members},"_meta":${meta}}}`)
      return id
    },
    async answerTo(id) {
      return await wire.next((message) => message.id === id && message.method === undefined)
    },
    async ask(method, params, more) {
      return await front.answerTo(front.send(method, params, more))
    },
    notify(method, params) {
      wire.write({ jsonrpc: '2.0', method, ...(params !== undefined && { params }) })
    },
  }
  return Object.assign(Object.create(wire) as Wire, front)
}

/** Ends everything that a test opened. For `afterEach`. */
export async function endAll(): Promise<void> {
  for (const { passthrough, wires, served } of open.splice(0)) {
    for (const wire of wires) if (!wire.closed) wire.break()
    await Promise.all(served)
    await passthrough[Symbol.asyncDispose]()
  }
}

/** One rig with one client and one backend. */
export async function connected(
  front: Kind,
  back: Kind,
  options: {
    readonly client?: ClientOptions
    readonly backend?: Partial<CreateBackendOptions>
    readonly passthrough?: Partial<CreatePassthroughOptions>
  } = {},
): Promise<{ readonly rig: Rig; readonly client: FrontClient; readonly backend: FakeBackend }> {
  const backend = createBackend({ kind: back, acknowledges: front === 'legacy', ...options.backend })
  const rig = createRig([backend], options.passthrough)
  const client = await rig.client(front, options.client)
  if (front === 'modern') await client.ask('server/discover')
  return { rig, client, backend }
}
