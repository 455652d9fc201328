import { modernRevision } from '@atenea/mcpcompat'
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from '@modelcontextprotocol/client'
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as Stdio1, type StdioServerParameters } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport as Transport1 } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { until } from '../_util/processes.ts'
import { Recording } from './recording.ts'
import { SocketTransport } from './socket-transport.ts'

/** How a client reaches the proxy: what it starts, or where it asks. */
export type Front =
  | { readonly carrier: 'stdio'; readonly child: StdioServerParameters }
  | { readonly carrier: 'http'; readonly url: string }
  | { readonly carrier: 'socket'; readonly path: string }

export interface ToolAnswer {
  readonly content?: unknown
  readonly structuredContent?: unknown
  readonly isError?: unknown
}

export interface ToolOptions {
  readonly signal?: AbortSignal
  readonly onprogress?: (progress: unknown) => void
}

/** What the matrix asks of a client, whichever SDK it is made with. */
export interface MatrixClient {
  readonly recording: Recording
  /** URIs of resources that were told to have changed. */
  readonly updated: string[]
  /** How often the list of tools was told to have changed. */
  readonly changes: () => number
  tools(): Promise<string[]>
  call(name: string, args?: Record<string, unknown>, options?: ToolOptions): Promise<ToolAnswer>
  read(uri: string): Promise<unknown>
  /** Resolves when the server has agreed to tell of changes of this resource, and of the list of tools. */
  subscribe(uri: string): Promise<void>
  prompt(name: string): Promise<unknown>
  close(): Promise<void>
}

const info = { name: 'matrix', version: '1' }

/** SDK 1.32, which speaks legacy only. */
export async function connectV1(front: Front): Promise<MatrixClient> {
  const recording = new Recording()
  const updated: string[] = []
  let changes = 0
  const client = new Client1(info)
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void updated.push(params.uri))
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void (changes += 1))
  const transport =
    front.carrier === 'stdio'
      ? new Stdio1(front.child)
      : front.carrier === 'http'
        ? new Http1(new URL(front.url), { fetch: recording.fetch })
        : new SocketTransport(front.path, recording)
  await client.connect(recording.watch(transport) as Transport1)
  return {
    recording,
    updated,
    changes: () => changes,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}, options = {}) =>
      (await client.callTool({ name, arguments: args }, undefined, options)) as ToolAnswer,
    read: async (uri) => (await client.readResource({ uri })).contents,
    async subscribe(uri) {
      // A server that is told nothing of what it tells goes over this stream, which the client opens by itself.
      if (front.carrier === 'http') await until(() => recording.streams > 0)
      await client.subscribeResource({ uri })
    },
    prompt: async (name) => await client.getPrompt({ name }),
    close: async () => await client.close(),
  }
}

/** SDK 2.4, held to the modern revision. */
export async function connectV2(front: Front): Promise<MatrixClient> {
  const recording = new Recording()
  const updated: string[] = []
  let changes = 0
  const client = new Client2(info, { versionNegotiation: { mode: { pin: modernRevision } } })
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void updated.push(params.uri))
  client.setNotificationHandler('notifications/tools/list_changed', () => void (changes += 1))
  const transport =
    front.carrier === 'stdio'
      ? new Stdio2(front.child)
      : front.carrier === 'http'
        ? new Http2(new URL(front.url), { fetch: recording.fetch })
        : new SocketTransport(front.path, recording)
  await client.connect(recording.watch(transport) as Parameters<typeof client.connect>[0])
  return {
    recording,
    updated,
    changes: () => changes,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}, options = {}) => await client.callTool({ name, arguments: args }, options),
    read: async (uri) => (await client.readResource({ uri })).contents,
    async subscribe(uri) {
      const wanted = { resourceSubscriptions: [uri], toolsListChanged: true }
      const { honoredFilter } = await client.listen(wanted)
      const { resourceSubscriptions, toolsListChanged } = honoredFilter
      if (resourceSubscriptions?.includes(uri) !== true || toolsListChanged !== true)
        throw new Error(`the server agreed to ${JSON.stringify(honoredFilter)} only`)
    },
    prompt: async (name) => await client.getPrompt({ name }),
    close: async () => await client.close(),
  }
}
