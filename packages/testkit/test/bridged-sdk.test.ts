import { modernRevision } from '@atenea/mcpcompat'
import type { BackendOptions } from '@atenea/passthrough'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  type CreateMessageResult,
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  type ElicitResult,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { mark } from './_util/fixtures.ts'
import { startHttpFixture } from './_util/http-servers.ts'
import { processesWith, until } from './_util/processes.ts'
import { backendOn, type Era, httpConnector, httpFront, Opened, passthroughTo } from './_util/proxied.ts'

// Processes start slowly on a busy machine; these bounds only catch a hang.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })

let opened = new Opened()
beforeEach(() => {
  opened = new Opened()
})
afterEach(async () => {
  await opened[Symbol.asyncDispose]()
  await until(() => processesWith(mark).length === 0)
})

// the clients: what each is asked tells what it answers, so that an answer that strays shows

const info = { name: 'npm', version: '1' }
const capabilities = { elicitation: {}, sampling: {}, roots: {} }

function filledIn(message: string): ElicitResult {
  return { action: 'accept', content: { name: `name of ${message}` } }
}

function said(question: unknown): CreateMessageResult {
  return { role: 'assistant', model: 'm-1', content: { type: 'text', text: `words on ${textOf(question)}` } }
}

function textOf(content: unknown): string {
  const [block] = [content].flat() as { text?: string }[]
  return block?.text ?? ''
}

type Interview = (about: string) => Promise<unknown>

async function legacyClient(url: string, home: string): Promise<Interview> {
  const client = new Client1(info, { capabilities })
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => filledIn(params.message))
  client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => said(params.messages[0]?.content))
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: home }] }))
  await client.connect(new Transport1(new URL(url)))
  opened.later(() => client.close())
  return async (about) => (await client.callTool({ name: 'interview', arguments: { about } })).content
}

function newClient(mode: 'legacy' | { readonly pin: string }) {
  return async (url: string, home: string): Promise<Interview> => {
    const client = new Client(info, { capabilities, versionNegotiation: { mode } })
    client.setRequestHandler('elicitation/create', ({ params }) => filledIn(params.message))
    client.setRequestHandler('sampling/createMessage', ({ params }) => said(params.messages[0]?.content))
    client.setRequestHandler('roots/list', () => ({ roots: [{ uri: home }] }))
    await client.connect(new StreamableHTTPClientTransport(new URL(url)))
    opened.later(() => client.close())
    return async (about) => (await client.callTool({ name: 'interview', arguments: { about } })).content
  }
}

const answered = (about: string, home: string): unknown => [
  { type: 'text', text: `${about} | name of ${about} | words on ${about} | ${home}` },
]

const clients = {
  'SDK client 1.32': ['legacy', legacyClient],
  'SDK client 2.4, legacy': ['legacy', newClient('legacy')],
  'SDK client 2.4, modern': ['modern', newClient({ pin: modernRevision })],
} as const
const servers = {
  'SDK server 1.32': ['legacy', 'interview-sdk-v1', ['stdio', 'http']],
  // Its HTTP server keeps no sessions for legacy clients, which therefore cannot be asked there.
  'SDK server 2.4, legacy': ['legacy', 'interview-sdk-v2', ['stdio']],
  'SDK server 2.4, modern': ['modern', 'interview-sdk-v2', ['stdio', 'http']],
} as const

async function backend(carrier: 'stdio' | 'http', mode: Era, fixture: string): Promise<BackendOptions> {
  if (carrier === 'stdio') return await backendOn('stdio', mode, opened, { name: 'back', fixture })
  const server = await startHttpFixture(fixture)
  opened.later(() => server[Symbol.asyncDispose]())
  return { name: 'back', mode, connect: httpConnector(server.url, opened) }
}

/** The front of a passthrough that lets questions cross. */
async function bridge(back: BackendOptions): Promise<string> {
  return (await httpFront(passthroughTo([back], opened, { bridgeInput: true }), opened)).url
}

const cells = Object.entries(clients).flatMap(([client, [front, connect]]) =>
  Object.entries(servers).flatMap(([server, [mode, fixture, carriers]]) =>
    carriers.map((carrier) => ({ client, server, carrier, front, connect, mode, fixture })),
  ),
)

describe.each(cells)('$client, $server on $carrier', ({ connect, mode, fixture, carrier, front }) => {
  test(`BR-121, BR-221, BR-301, BR-307, F14: a person, a model and roots are asked in the middle of a call (${front} to ${mode})`, async () => {
    const url = await bridge(await backend(carrier, mode, fixture))
    const interview = await connect(url, 'file:///home')
    expect(await interview('Ada')).toEqual(answered('Ada', 'file:///home'))
    expect(await interview('Grüße 👋')).toEqual(answered('Grüße 👋', 'file:///home'))
  })
})

test('BR-223: a server on HTTP that asks outside of the streams of its calls is found out, and then asked in one call a session', async () => {
  const url = await bridge(await backend('http', 'legacy', 'sdk-v1'))
  const client = new Client(info, { capabilities, versionNegotiation: { mode: { pin: modernRevision } } })
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: {} }))
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  opened.later(() => client.close())
  const ask = async (): Promise<unknown> => (await client.callTool({ name: 'asks' })).content
  const accepted = [{ type: 'text', text: 'accept' }]
  expect(await ask()).toEqual(accepted)
  expect(await Promise.all(Array.from({ length: 12 }, ask))).toEqual(Array.from({ length: 12 }, () => accepted))
})

describe.each([
  ['legacy', 'modern', 'SDK client 1.32', 'interview-sdk-v2'],
  ['modern', 'legacy', 'SDK client 2.4, modern', 'interview-sdk-v1'],
] as const)('%s clients of a %s server', (_front, mode, client, fixture) => {
  const [, connect] = clients[client]

  test.each([
    ['http', 100],
    ['stdio', 10],
  ] as const)(
    'BR-223: over %s, %i interviews of four clients at once: every answer reaches the call that asked',
    async (carrier, count) => {
      const url = await bridge(await backend(carrier, mode, fixture))
      const homes = ['a', 'b', 'c', 'd'].map((name) => `file:///${name}`)
      const interviews = await Promise.all(homes.map(async (home) => await connect(url, home)))
      const calls = Array.from({ length: count }, (_, n) => ({
        about: `n${n}`,
        home: homes[n % 4] ?? '',
        interview: interviews[n % 4] as Interview,
      }))
      const told = await Promise.all(calls.map(async ({ about, interview }) => await interview(about)))
      expect(told).toEqual(calls.map(({ about, home }) => answered(about, home)))
    },
  )
})
