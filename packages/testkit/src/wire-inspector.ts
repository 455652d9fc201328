import { isJsonObject, type JsonObject } from '@atenea/mcpcompat'
import { type Connection, encodeMessage, type Inbound, type RpcMessage } from '@atenea/mcpcompat/transport'
import { specDefinitions, specFaults } from './spec-schemas.ts'

/** The specification's types of what is asked and what comes back, by method; the same names in all revisions that have them. */
const exchanges: Readonly<Record<string, readonly [request: string, result: string]>> = {
  initialize: ['InitializeRequest', 'InitializeResult'],
  ping: ['PingRequest', 'EmptyResult'],
  'logging/setLevel': ['SetLevelRequest', 'EmptyResult'],
  'resources/subscribe': ['SubscribeRequest', 'EmptyResult'],
  'resources/unsubscribe': ['UnsubscribeRequest', 'EmptyResult'],
  'server/discover': ['DiscoverRequest', 'DiscoverResult'],
  'tools/list': ['ListToolsRequest', 'ListToolsResult'],
  'tools/call': ['CallToolRequest', 'CallToolResult'],
  'prompts/list': ['ListPromptsRequest', 'ListPromptsResult'],
  'prompts/get': ['GetPromptRequest', 'GetPromptResult'],
  'resources/list': ['ListResourcesRequest', 'ListResourcesResult'],
  'resources/templates/list': ['ListResourceTemplatesRequest', 'ListResourceTemplatesResult'],
  'resources/read': ['ReadResourceRequest', 'ReadResourceResult'],
  'completion/complete': ['CompleteRequest', 'CompleteResult'],
  'subscriptions/listen': ['SubscriptionsListenRequest', 'SubscriptionsListenResult'],
  'elicitation/create': ['ElicitRequest', 'ElicitResult'],
  'sampling/createMessage': ['CreateMessageRequest', 'CreateMessageResult'],
  'roots/list': ['ListRootsRequest', 'ListRootsResult'],
}

const notices: Readonly<Record<string, string>> = {
  'notifications/initialized': 'InitializedNotification',
  'notifications/cancelled': 'CancelledNotification',
  'notifications/progress': 'ProgressNotification',
  'notifications/message': 'LoggingMessageNotification',
  'notifications/tools/list_changed': 'ToolListChangedNotification',
  'notifications/prompts/list_changed': 'PromptListChangedNotification',
  'notifications/resources/list_changed': 'ResourceListChangedNotification',
  'notifications/resources/updated': 'ResourceUpdatedNotification',
  'notifications/subscriptions/acknowledged': 'SubscriptionsAcknowledgedNotification',
}

/** Who sent a message. */
export type Side = 'client' | 'server'

/** What the specification of one revision objects to in what two peers say to each other. */
export class WireInspector {
  /** What was found, by who sent it. */
  readonly faults: Readonly<Record<Side, string[]>> = { client: [], server: [] }
  readonly #revision: string
  /** Methods of requests that are open, by who sent them and their id. */
  readonly #asked: Readonly<Record<Side, Map<unknown, string>>> = { client: new Map(), server: new Map() }

  constructor(revision: string) {
    this.#revision = revision
  }

  /** Looks at one message, as the JSON object that goes over the wire. */
  look(from: Side, message: JsonObject): void {
    const { id, method } = message
    // Nothing but JSON-RPC says what an error without an id is, in revisions that want one.
    if (message['error'] === undefined || id !== undefined) this.#check(from, 'JSONRPCMessage', message)
    if (typeof method === 'string') this.#asks(from, id, method, message)
    else if (isJsonObject(message['result'])) this.#answers(from, id, message['result'])
  }

  #asks(from: Side, id: unknown, method: string, message: JsonObject): void {
    const type = id === undefined ? notices[method] : exchanges[method]?.[0]
    // What the specification does not know, it says nothing about.
    if (type !== undefined) this.#check(from, type, message)
    if (id !== undefined) this.#asked[from].set(id, method)
  }

  #answers(from: Side, id: unknown, result: JsonObject): void {
    const method = this.#asked[from === 'client' ? 'server' : 'client'].get(id)
    const type = exchanges[method ?? '']?.[1]
    if (type === undefined) this.faults[from].push(`an answer to nothing, ${String(id)}`)
    else this.#check(from, result['resultType'] === 'input_required' ? 'InputRequiredResult' : type, result)
  }

  #check(from: Side, type: string, value: unknown): void {
    if (specDefinitions(this.#revision)[type] === undefined) {
      // A client may ask for what its revision does not have, to be refused; a server may not say such things.
      if (from === 'server') this.faults[from].push(`${type} is not of this revision`)
      return
    }
    this.faults[from].push(...specFaults(this.#revision, type, value).map((fault) => `${type} ${fault}`))
  }
}

/** The connection of a client, with an inspector that sees what goes both ways. */
export function inspected(connection: Connection, inspector: WireInspector): Connection {
  const look = (from: Side, message: RpcMessage): void =>
    inspector.look(from, JSON.parse(encodeMessage(message)) as JsonObject)
  return {
    inbound: (async function* (): AsyncGenerator<readonly Inbound[]> {
      for await (const batch of connection.inbound) {
        for (const { message } of batch) if (message.kind !== 'reject') look('server', message)
        yield batch
      }
    })(),
    send(message, options) {
      look('client', message)
      return connection.send(message, options)
    },
    [Symbol.asyncDispose]: async () => connection[Symbol.asyncDispose](),
  }
}
