import {
  type CreateRevisionPolicyOptions,
  type Dispatcher,
  type JsonObject,
  type JsonValue,
  type Principal,
  createRevisionPolicy,
  legacyRevision,
  modernRevision,
} from '@atenea/mcpcompat'
import {
  type RpcMessage,
  type ServeConnectionOptions,
  createMemoryPair,
  encodeMessage,
  metaKey,
  serveConnection,
} from '@atenea/mcpcompat/transport'

export interface OpenWireOptions extends Partial<ServeConnectionOptions> {
  readonly revisions?: CreateRevisionPolicyOptions
  readonly principal?: Principal
}

/** A client that writes messages itself, on a connection that a serving loop serves. */
export interface Wire extends AsyncDisposable {
  /** Every message that came, parsed, in order. */
  readonly heard: JsonObject[]
  send(message: JsonObject): void
  /** Sends a request as it is and waits for its answer. */
  ask(method: string, params?: JsonObject): Promise<JsonObject>
  /** The same with the metadata of the modern revision. */
  modern(method: string, params?: JsonObject, meta?: JsonObject): Promise<JsonObject>
  /** The next message for which `test` holds, also one that came before. */
  next(test: (message: JsonObject) => boolean): Promise<JsonObject>
  /** Opens a legacy session. */
  initialize(capabilities?: JsonObject): Promise<JsonObject>
  readonly served: Promise<void>
}

/** The metadata of a modern request. */
export function modernMeta(capabilities: JsonObject = {}): JsonObject {
  return {
    [metaKey.protocolVersion]: modernRevision,
    [metaKey.clientInfo]: { name: 'wire', version: '1' },
    [metaKey.clientCapabilities]: capabilities,
  }
}

export function openWire(dispatcher: Dispatcher, options: OpenWireOptions = {}): Wire {
  const { revisions, principal, ...serving } = options
  const [client, server] = createMemoryPair(principal === undefined ? {} : { principal })
  const served = serveConnection(server, dispatcher, { policy: createRevisionPolicy(revisions), ...serving })
  const heard: JsonObject[] = []
  const waiting = new Set<() => void>()
  let lastId = 0
  let isOver = false

  const reading = (async () => {
    for await (const batch of client.inbound) {
      for (const { message } of batch) {
        if (message.kind === 'reject') throw new Error(`the server wrote ${message.reason}`)
        heard.push(JSON.parse(encodeMessage(message)) as JsonObject)
      }
      for (const look of waiting) look()
    }
    isOver = true
    for (const look of waiting) look()
  })()

  const wire: Wire = {
    heard,
    served,
    send(message) {
      void client.send(toMessage(message))
    },
    next(test) {
      return new Promise((resolve, reject) => {
        const look = (): void => {
          const found = heard.find(test)
          if (found === undefined && !isOver) return
          waiting.delete(look)
          if (found === undefined) reject(new Error('the connection ended first'))
          else resolve(found)
        }
        waiting.add(look)
        look()
      })
    },
    ask(method, params) {
      const id = ++lastId
      wire.send({ id, method, ...(params && { params }) })
      return wire.next((message) => message.id === id && message.method === undefined)
    },
    modern(method, params = {}, meta = modernMeta()) {
      return wire.ask(method, { ...params, _meta: meta })
    },
    async initialize(capabilities = {}) {
      const answer = await wire.ask('initialize', {
        protocolVersion: legacyRevision,
        capabilities,
        clientInfo: { name: 'wire', version: '1' },
      })
      wire.send({ method: 'notifications/initialized' })
      return answer
    },
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]()
      await Promise.all([reading, served])
    },
  }
  return wire
}

function toMessage(message: JsonObject): RpcMessage {
  const { id, method, params, result } = message as Record<string, JsonValue>
  if (method === undefined) return { kind: 'result', id: id as string, result: result as JsonObject }
  const common = { method: method as string, params: params as JsonObject | undefined }
  return id === undefined ? { kind: 'notification', ...common } : { kind: 'request', id: id as string, ...common }
}
