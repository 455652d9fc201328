import { createRevisionPolicy, legacyRevision, type JsonObject, type Outcome } from '@atenea/mcpcompat'
import { createCallerContext } from '@atenea/mcpcompat/transport'
import { type HttpListener, listenHttp } from '@atenea/transport-http/node'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createServedCore } from '../src/served-core.ts'
import { until } from './_util/processes.ts'
import { httpConnector, Opened, passthroughTo } from './_util/proxied.ts'

let opened = new Opened()
let listener: HttpListener
beforeEach(async () => {
  opened = new Opened()
  listener = await listenHttp(createServedCore(), { policy: createRevisionPolicy({ modern: [] }) })
  opened.later(() => listener.close({ timeoutMs: 0 }))
})
afterEach(async () => {
  await opened[Symbol.asyncDispose]()
})

const peer = { name: 'modern', version: '1', capabilities: { elicitation: { form: {} }, sampling: {}, roots: {} } }
const asks = { method: 'tools/call', params: { name: 'asks', arguments: { greeting: 'Hello' } } }
const answers: Readonly<Record<string, JsonObject>> = {
  'elicitation/create': { action: 'accept', content: { name: 'Ada' } },
  'sampling/createMessage': { role: 'assistant', model: 'm-1', content: { type: 'text', text: 'Hi' } },
  'roots/list': { roots: [{ uri: 'file:///home' }] },
}

/** A modern caller in front of a legacy server over HTTP. */
function bridged(): (resume?: { requestState: string; inputResponses: JsonObject }) => Promise<Outcome> {
  const connect = httpConnector(listener.url, opened)
  const passthrough = passthroughTo([{ name: 'back', mode: 'legacy', connect }], opened, { bridgeInput: true })
  return async (resume) => await passthrough.call(asks, createCallerContext({ peer, ...(resume && { resume }) }))
}

function answered(outcome: Outcome): { requestState: string; inputResponses: JsonObject } {
  if (outcome.kind !== 'ask' || outcome.requestState === undefined) throw new Error('nothing was asked')
  const given = [...(outcome.inputRequests ?? [])].map(([key, { method }]) => [key, answers[method]] as const)
  return { requestState: outcome.requestState, inputResponses: Object.fromEntries(given) }
}

test('BR-221, BR-223: calls that wait share one session, each on its own stream', async () => {
  const call = bridged()
  const asked = await Promise.all(Array.from({ length: 20 }, async () => await call()))
  expect(listener.handler.sessions).toBe(1)
  const retries = await Promise.all(asked.reverse().map(async (outcome) => await call(answered(outcome))))
  for (const outcome of retries) {
    expect(JSON.stringify(outcome)).toContain('Hello, Ada of file:///home, says m-1')
  }
  expect(new Set(asked.map((outcome) => answered(outcome).requestState)).size).toBe(20)
})

test('BR-234, BR-235, BR-239: when the server is gone meanwhile the retry is -32603, and the call is not made again', async () => {
  const call = bridged()
  const asked = answered(await call())
  const { port } = new URL(listener.url)
  await listener.close({ timeoutMs: 0 })
  listener = await listenHttp(createServedCore(), {
    policy: createRevisionPolicy({ modern: [], legacy: [legacyRevision] }),
    port: Number(port),
  })
  opened.later(() => listener.close({ timeoutMs: 0 }))
  await expect(call(asked)).rejects.toMatchObject({
    code: -32_603,
    message: expect.stringMatching(/session ended|lost/),
  })
  // the session that was lost is not the end: a new call gets a new one
  const fresh = answered(await call())
  expect(fresh.requestState).not.toBe(asked.requestState)
  expect(JSON.stringify(await call(fresh))).toContain('Hello, Ada')
  await until(() => listener.handler.openCalls === 0)
})
