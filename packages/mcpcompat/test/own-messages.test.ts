import { afterEach, expect, test } from 'vitest'
import type { Call, Outcome } from '../src/contract/call.ts'
import { createCallerContext } from '../src/contract/caller-context.ts'
import { connectDuplex } from '../src/duplex/connect.ts'
import { createMemoryPair } from '../src/duplex/memory.ts'
import { serveConnection } from '../src/duplex/serve.ts'
import type { JsonObject } from '../src/jsonrpc/json.ts'
import { metaKey } from '../src/meta.ts'
import { createRevisionPolicy, modernRevision } from '../src/revisions.ts'
import { createManualClock } from './_util/manual-clock.ts'
import { turn } from './_util/raw-peer.ts'
import { callTool, legacy, modern, notification } from './_util/requests.ts'
import { createScriptedDispatcher, type Handler, text, untilAborted } from './_util/scripted-dispatcher.ts'
import { endAll, serve, serveLegacy } from './_util/served.ts'

afterEach(endAll)

const form: Call = {
  method: 'elicitation/create',
  params: { message: 'Who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } },
}
const asks: Handler = (_params, { resume }): Outcome =>
  resume === undefined ? { kind: 'ask', inputRequests: new Map([['who', form]]), raw: {} } : text('thanks')
const canFill = { [metaKey.clientCapabilities]: { elicitation: {} } }

test('MC-MSG-16: a modern server speaks versions, request and response, questions, and subscriptions', async () => {
  const listens: Handler = (params, context, call) => {
    const { notifications = {} } = params
    void context.emit({ method: 'notifications/subscriptions/acknowledged', params: { notifications } })
    void context.emit({ method: 'notifications/tools/list_changed', params: {} })
    return untilAborted(params, context, call)
  }
  const peer = serve(
    createScriptedDispatcher({ tools: { listChanged: true } })
      .on('tool:ask', asks)
      .on('subscriptions/listen', listens),
  )
  peer.write(modern(1, 'server/discover'))
  expect(await peer.read()).toMatchObject({
    id: 1,
    result: { supportedVersions: [modernRevision, expect.any(String)] },
  })
  peer.write(modern(2, 'tools/call', callTool('echo', { text: 'hi' })))
  expect(await peer.read()).toMatchObject({ id: 2, result: { resultType: 'complete', content: [{ text: 'hi' }] } })
  peer.write(modern(3, 'tools/call', callTool('ask'), canFill))
  expect(await peer.read()).toMatchObject({
    id: 3,
    result: { resultType: 'input_required', inputRequests: { who: form } },
  })
  const inputResponses = { who: { action: 'accept', content: { name: 'Ada' } } }
  peer.write(modern(4, 'tools/call', { ...callTool('ask'), inputResponses }, canFill))
  expect(await peer.read()).toMatchObject({ id: 4, result: { resultType: 'complete', content: [{ text: 'thanks' }] } })
  peer.write(modern(5, 'subscriptions/listen', { notifications: { toolsListChanged: true } }))
  expect(await peer.read()).toMatchObject({ method: 'notifications/subscriptions/acknowledged' })
  expect(await peer.read()).toMatchObject({ method: 'notifications/tools/list_changed' })
})

test('MC-CANC-13: a server that gives up a call says so to nobody', async () => {
  const clock = createManualClock()
  const shutdown = new AbortController()
  const peer = serve(createScriptedDispatcher().on('tool:hang', untilAborted), {
    clock,
    signal: shutdown.signal,
    flushTimeoutMs: 1_000,
  })
  peer.write(modern(1, 'tools/call', callTool('hang')), modern(2, 'tools/call', callTool('hang')))
  await turn()
  peer.write(notification('notifications/cancelled', { requestId: 1 }))
  await turn()
  shutdown.abort()
  await turn()
  clock.advance(5_000)
  await peer.done
  expect(peer.dispatcher.calls.map(({ context }) => context.signal.aborted)).toEqual([true, true])
  expect(peer.written.filter((line) => line.includes('notifications/cancelled'))).toEqual([])
})

test('LG-MSG-02: requests of ours have ids that are strings or integers, and none comes twice in a session', async () => {
  const asked = await serveLegacy(createScriptedDispatcher().on('tool:ask', asks), { elicitation: {} })
  const questions: JsonObject[] = []
  for (const id of [1, 2, 3]) {
    asked.write(legacy(id, 'tools/call', callTool('ask')))
    const question = await asked.read()
    questions.push(question)
    asked.write({ jsonrpc: '2.0', id: question['id'] ?? null, result: { action: 'decline' } })
    expect(await asked.read()).toMatchObject({ id, result: { content: [{ text: 'thanks' }] } })
  }

  const policy = createRevisionPolicy()
  const [theirs, ours] = createMemoryPair()
  const requests: unknown[] = []
  const dispatcher = createScriptedDispatcher()
  const spied = {
    ...ours,
    send: ours.send.bind(ours),
    inbound: (async function* () {
      for await (const batch of ours.inbound) {
        requests.push(...batch.flatMap(({ message }) => (message.kind === 'request' ? [message.id] : [])))
        yield batch
      }
    })(),
    [Symbol.asyncDispose]: () => ours[Symbol.asyncDispose](),
  }
  const served = serveConnection(spied, dispatcher, { policy })
  const info = { name: 'test', version: '1' }
  const client = await connectDuplex(async () => theirs, { policy, mode: 'legacy', info })
  const call = { method: 'tools/call', params: callTool('echo', { text: 'x' }) }
  await Promise.all(Array.from({ length: 5 }, async () => client.call(call, createCallerContext())))
  await client[Symbol.asyncDispose]()
  await served

  for (const ids of [questions.map((question) => question['id']), requests]) {
    expect(ids.length).toBeGreaterThanOrEqual(3)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.filter((id) => typeof id !== 'string' && !Number.isSafeInteger(id))).toEqual([])
  }
})

test('LG-MSG-04: a legacy notification is not answered, whether it is known, unknown or broken', async () => {
  const peer = await serveLegacy()
  peer.write(
    notification('notifications/initialized'),
    notification('notifications/roots/list_changed'),
    notification('notifications/cancelled', { requestId: 'no such request' }),
    notification('notifications/unknown', { a: 1 }),
    { jsonrpc: '2.0', method: 'notifications/unknown', params: [] },
  )
  expect(await peer.rest()).toEqual([])
})
