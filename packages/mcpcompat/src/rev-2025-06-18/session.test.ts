import { afterEach, describe, expect, test } from 'vitest'
import type { Ask, Call, Outcome } from '../contract/call.ts'
import { createRevisionPolicy, legacyRevision, revisionsOf } from '../revisions.ts'
import { RpcError } from '../jsonrpc/errors.ts'
import type { JsonObject } from '../jsonrpc/json.ts'
import { JsonText } from '../jsonrpc/json-text.ts'
import { createManualClock } from '../../test/_util/manual-clock.ts'
import { turn } from '../../test/_util/raw-peer.ts'
import { callTool, initialize, legacy, notification } from '../../test/_util/requests.ts'
import {
  createScriptedDispatcher,
  deferred,
  type ScriptedDispatcher,
  text,
  untilAborted,
} from '../../test/_util/scripted-dispatcher.ts'
import { codes, endAll, lastCall, serve, serveLegacy } from '../../test/_util/served.ts'

afterEach(endAll)

const everything = createRevisionPolicy({ legacy: revisionsOf('legacy') })

describe('the handshake', () => {
  test('LG-LIFE-01, LG-LIFE-02, BR-101: is answered with what the dispatcher offers', async () => {
    const dispatcher = createScriptedDispatcher({
      tools: { listChanged: true },
      completions: {},
      extensions: { 'a.b/c': {} },
    })
    dispatcher.offered = { ...(await dispatcher.offered), instructions: 'Use it well.' }
    const peer = serve(dispatcher)
    peer.write(initialize(1))
    expect(await peer.read()).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: {
        protocolVersion: legacyRevision,
        capabilities: { tools: { listChanged: true }, completions: {} },
        serverInfo: { name: 'scripted', version: '1.0.0' },
        instructions: 'Use it well.',
      },
    })
    expect(dispatcher.calls).toEqual([])
  })

  test.each([
    ['2024-11-05', legacyRevision],
    ['2025-11-25', legacyRevision],
    ['2026-07-28', legacyRevision],
    ['1.0', legacyRevision],
    [legacyRevision, legacyRevision],
  ])(
    'LG-LIFE-07: a client that asks for %s is offered %s by default, never a modern one',
    async (requested, answered) => {
      const peer = serve()
      peer.write(initialize(1, {}, requested))
      expect(await peer.read()).toMatchObject({ result: { protocolVersion: answered } })
    },
  )

  test.each(revisionsOf('legacy'))('LG-LIFE-07: %s is served where the policy says so', async (revision) => {
    const peer = serve(createScriptedDispatcher(), { policy: everything })
    peer.write(initialize(1, {}, revision))
    expect(await peer.read()).toMatchObject({ result: { protocolVersion: revision } })
  })

  test.each([
    ['no version', { capabilities: {}, clientInfo: { name: 'a', version: '1' } }],
    ['no capabilities', { protocolVersion: legacyRevision, clientInfo: { name: 'a', version: '1' } }],
    ['no client', { protocolVersion: legacyRevision, capabilities: {} }],
    ['a client without version', { protocolVersion: legacyRevision, capabilities: {}, clientInfo: { name: 'a' } }],
  ])('one with %s is refused and opens nothing', async (_why, params) => {
    const peer = serve()
    peer.write(legacy(1, 'initialize', params))
    expect(await peer.read()).toMatchObject({ id: 1, error: { code: -32_602 } })
    peer.write(legacy(2, 'tools/list'))
    expect(await peer.read()).toMatchObject({ id: 2, error: { code: -32_602 } })
  })

  test('LG-PING-01: ping is answered with an empty result, before and after', async () => {
    const peer = serve()
    peer.write(legacy(1, 'ping'), initialize(2), legacy(3, 'ping', { _meta: { progressToken: 1 } }))
    expect(await peer.read()).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
    await peer.read()
    expect(await peer.read()).toEqual({ jsonrpc: '2.0', id: 3, result: {} })
  })

  test('LG-PING-01: ping is answered however much is in flight', async () => {
    const peer = await serveLegacy(createScriptedDispatcher().on('tool:hang', untilAborted), {}, { maxInFlight: 1 })
    peer.write(legacy(1, 'tools/call', callTool('hang')), legacy(2, 'tools/call', callTool('echo')), legacy(3, 'ping'))
    expect(await peer.rest()).toMatchObject([
      { id: 2, error: { code: -32_603 } },
      { id: 3, result: {} },
    ])
  })

  test('what a client sends behind its handshake without waiting is served', async () => {
    const dispatcher = createScriptedDispatcher()
    const ready = await dispatcher.offered
    const view = deferred<typeof ready>()
    dispatcher.offered = view.promise
    const peer = serve(dispatcher)
    peer.write(
      initialize(1, { elicitation: {} }),
      notification('notifications/initialized'),
      legacy(2, 'tools/call', callTool('echo', { text: 'early' })),
    )
    expect(await peer.read()).toMatchObject({ id: 2, result: { content: [{ text: 'early' }] } })
    expect(lastCall(peer).context.peer).toEqual({
      name: 'test',
      version: '1',
      info: { name: 'test', version: '1' },
      capabilities: { elicitation: { form: {} } },
    })
    view.resolve(ready)
    expect(await peer.read()).toMatchObject({ id: 1, result: { protocolVersion: legacyRevision } })
  })

  test('one that fails opens nothing', async () => {
    const dispatcher = createScriptedDispatcher()
    dispatcher.offered = Promise.reject(new RpcError(-32_603, 'no backend'))
    const peer = serve(dispatcher)
    peer.write(initialize(1))
    expect(await peer.read()).toMatchObject({ id: 1, error: { code: -32_603, message: 'no backend' } })
    peer.write(legacy(2, 'tools/list'))
    expect(await peer.read()).toMatchObject({ id: 2, error: { code: -32_602 } })
  })

  test('LG-CANC-02: cannot be cancelled', async () => {
    const dispatcher = createScriptedDispatcher()
    const ready = await dispatcher.offered
    const view = deferred<typeof ready>()
    dispatcher.offered = view.promise
    const peer = serve(dispatcher)
    peer.write(initialize(1), notification('notifications/cancelled', { requestId: 1 }))
    await turn()
    peer.write(notification('notifications/cancelled', { requestId: 1 }))
    await turn()
    view.resolve(ready)
    expect(await peer.read()).toMatchObject({ id: 1, result: {} })
  })

  test('a second one opens a new session: nothing of the first stays', async () => {
    const closed: string[] = []
    const dispatcher = createScriptedDispatcher({ tools: {}, logging: {} }).on('tool:keep', (_params, { scope }) => {
      scope.defer(() => void closed.push('first'))
      return text('')
    })
    const peer = await serveLegacy(dispatcher, { sampling: {} })
    peer.write(legacy(1, 'logging/setLevel', { level: 'debug' }), legacy(2, 'tools/call', callTool('keep')))
    await peer.read()
    await peer.read()
    expect(closed).toEqual([])
    peer.write(initialize(3, {}), legacy(4, 'tools/call', callTool('echo')))
    expect(await peer.read()).toMatchObject({ id: 3, result: {} })
    await peer.read()
    expect(closed).toEqual(['first'])
    expect(lastCall(peer).context).toMatchObject({ logLevel: 'info', peer: { capabilities: {} } })
  })

  test('all calls of a session share its scope, which is closed at its end', async () => {
    const scopes = new Set<unknown>()
    const closed: string[] = []
    const dispatcher = createScriptedDispatcher().on('tool:scope', (_params, { scope }) => {
      scopes.add(scope)
      scope.defer(() => void closed.push('x'))
      return text('')
    })
    const peer = await serveLegacy(dispatcher)
    peer.write(legacy(1, 'tools/call', callTool('scope')), legacy(2, 'tools/call', callTool('scope')))
    await peer.rest()
    expect(scopes.size).toBe(1)
    expect(closed).toEqual([])
    peer.end()
    await peer.done
    expect(closed).toEqual(['x', 'x'])
  })
})

describe('requests', () => {
  test('LG-MSG-06, BR-104, B1: results carry no modern members', async () => {
    const value = { tools: [], resultType: 'complete', ttlMs: 5, cacheScope: 'public', nextCursor: 'c' }
    const dispatcher = createScriptedDispatcher()
      .on('tools/list', () => ({ kind: 'result', value, hints: { ttlMs: 5, cacheScope: 'public' } }))
      .on('prompts/list', () => ({
        kind: 'result',
        value: new JsonText('{"prompts":[],"ttlMs":1,"resultType":"complete"}'),
      }))
    const peer = await serveLegacy(dispatcher)
    peer.write(legacy(1, 'tools/list'), legacy(2, 'prompts/list'))
    expect(await peer.read()).toEqual({ jsonrpc: '2.0', id: 1, result: { tools: [], nextCursor: 'c' } })
    expect(await peer.read()).toEqual({ jsonrpc: '2.0', id: 2, result: { prompts: [] } })
  })

  test('BR-105, LG-TOOL-02: structured content is an object, and there is text', async () => {
    const dispatcher = createScriptedDispatcher().on('tool:list', () => ({
      kind: 'result',
      value: { content: [], structuredContent: [1, 2] },
    }))
    const peer = await serveLegacy(dispatcher)
    peer.write(legacy(1, 'tools/call', callTool('list')))
    expect(await peer.read()).toMatchObject({
      result: { structuredContent: { result: [1, 2] }, content: [{ type: 'text', text: '[1,2]' }] },
    })
  })

  test('LG-RES-03, BR-128: a missing resource is -32002, other faults of params are not', async () => {
    const dispatcher = createScriptedDispatcher({ resources: {} }).on('resources/read', ({ uri }) => {
      throw new RpcError(-32_602, 'm', uri === 'a:gone' ? { data: { uri: uri as string } } : {})
    })
    const peer = await serveLegacy(dispatcher)
    peer.write(legacy(1, 'resources/read', { uri: 'a:gone' }), legacy(2, 'resources/read', { uri: 'a:b' }))
    expect(await peer.read()).toMatchObject({ id: 1, error: { code: -32_002, data: { uri: 'a:gone' } } })
    expect(await peer.read()).toMatchObject({ id: 2, error: { code: -32_602 } })
  })

  test('BR-127: no error number of the modern revision reaches a legacy client', async () => {
    const dispatcher = createScriptedDispatcher().on('tool:fail', ({ arguments: args }) => {
      const data = { requiredCapabilities: { sampling: {} } }
      throw new RpcError((args as { code: number }).code, 'm', { data })
    })
    const peer = await serveLegacy(dispatcher)
    peer.write(...[-32_020, -32_021, -32_022].map((code) => legacy(code, 'tools/call', callTool('fail', { code }))))
    const answers = await peer.rest()
    expect(answers.map(({ error }) => (error as JsonObject)['code'])).toEqual([-32_603, -32_603, -32_603])
    expect(answers[1]).toMatchObject({
      error: { message: expect.stringContaining('sampling'), data: { requiredCapabilities: { sampling: {} } } },
    })
  })

  test('BR-117, LG-LIFE-09: methods of the modern revision do not exist, others are for the dispatcher', async () => {
    const peer = await serveLegacy()
    peer.write(legacy(1, 'server/discover'), legacy(2, 'subscriptions/listen', { notifications: {} }), legacy(3, 'x/y'))
    const answers = await peer.rest()
    expect(answers.map(({ error }) => (error as JsonObject)['code'])).toEqual([-32_601, -32_601, -32_601])
    expect(peer.dispatcher.calls.map(({ call }) => call.method)).toEqual(['x/y'])
  })

  test('LG-PROG-01, LG-PROG-02, BR-112: progress comes back with the token, while the call is open', async () => {
    const dispatcher = createScriptedDispatcher().on('tool:work', async (_params, context) => {
      await context.emit({ method: 'notifications/progress', params: { progress: 0.5, message: 'half' } })
      await context.emit({ method: 'notifications/progress', params: { progress: 0.5 } })
      return text('')
    })
    const peer = await serveLegacy(dispatcher)
    peer.write(legacy(1, 'tools/call', { ...callTool('work'), _meta: { progressToken: 'p' } }))
    expect(await peer.rest()).toEqual([
      {
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progress: 0.5, message: 'half', progressToken: 'p' },
      },
      expect.objectContaining({ id: 1 }),
    ])
  })

  test('a token that cannot be echoed is refused', async () => {
    const peer = await serveLegacy()
    peer.write(legacy(1, 'tools/call', { ...callTool('echo'), _meta: { progressToken: 1.5 } }))
    expect(await peer.read()).toMatchObject({ id: 1, error: { code: -32_602 } })
  })

  test('LG-CANC-01, LG-CANC-03, B13: a cancel ends a call without an answer', async () => {
    const peer = await serveLegacy(createScriptedDispatcher().on('tool:hang', untilAborted))
    peer.write(legacy(1, 'tools/call', callTool('hang')))
    await turn()
    peer.write(notification('notifications/cancelled', { requestId: 1 }))
    expect(await peer.rest()).toEqual([])
    expect(lastCall(peer).context.signal.aborted).toBe(true)
  })

  test('BR-125: a result of an unknown type is an error that a model can read', async () => {
    const other: Outcome = { kind: 'other', resultType: 'task', raw: { resultType: 'task', taskId: '1' } }
    const peer = await serveLegacy(
      createScriptedDispatcher()
        .on('tool:task', () => other)
        .on('prompts/get', () => other),
    )
    peer.write(legacy(1, 'tools/call', callTool('task')), legacy(2, 'prompts/get', { name: 'a' }))
    expect(await peer.read()).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: { isError: true, content: [{ type: 'text', text: expect.stringContaining('task') }] },
    })
    expect(await peer.read()).toMatchObject({ id: 2, error: { code: -32_603 } })
  })
})

describe('log messages', () => {
  const logging = (): ScriptedDispatcher =>
    createScriptedDispatcher({ tools: {}, logging: {} }).on('tool:log', async (_params, context) => {
      for (const level of ['debug', 'info', 'error']) {
        await context.emit({ method: 'notifications/message', params: { level, data: level } })
      }
      return text('')
    })
  const levels = (messages: readonly JsonObject[]): unknown[] =>
    messages
      .filter(({ method }) => method === 'notifications/message')
      .map(({ params }) => (params as JsonObject)['level'])

  test('LG-LOG-02: a client that sets no level gets info and above', async () => {
    const peer = await serveLegacy(logging())
    peer.write(legacy(1, 'tools/call', callTool('log')))
    expect(levels(await peer.rest())).toEqual(['info', 'error'])
  })

  test('LG-LOG-01, BR-109: the level of the session goes with every later call', async () => {
    const peer = await serveLegacy(logging())
    peer.write(legacy(1, 'logging/setLevel', { level: 'error' }), legacy(2, 'tools/call', callTool('log')))
    const messages = await peer.rest()
    expect(messages[0]).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
    expect(levels(messages)).toEqual(['error'])
    expect(lastCall(peer).context.logLevel).toBe('error')
  })

  test('LG-LOG-01: an unknown level is refused, and the method does not exist without the capability', async () => {
    const peer = await serveLegacy(logging())
    peer.write(legacy(1, 'logging/setLevel', { level: 'loud' }), legacy(2, 'logging/setLevel'))
    expect(await peer.read()).toMatchObject({ id: 1, error: { code: -32_602 } })
    expect(await peer.read()).toMatchObject({ id: 2, error: { code: -32_602 } })
    const silent = await serveLegacy()
    silent.write(legacy(1, 'logging/setLevel', { level: 'info' }))
    expect(await silent.read()).toMatchObject({ id: 1, error: { code: -32_601 } })
  })
})

describe('questions to the client', () => {
  const form: Call = {
    method: 'elicitation/create',
    params: {
      mode: 'form',
      message: 'Who?',
      requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
    },
  }
  const sample: Call = { method: 'sampling/createMessage', params: { messages: [], maxTokens: 10 } }
  const roots: Call = { method: 'roots/list', params: {} }
  const ask = (requests: Record<string, Call>, requestState?: string): Outcome => {
    const asked: Ask = { inputRequests: new Map(Object.entries(requests)), raw: {} }
    return { kind: 'ask', ...asked, ...(requestState !== undefined && { requestState }) }
  }
  const all = { elicitation: {}, sampling: {}, roots: { listChanged: true } }

  /** Asks once and then tells what it was answered. */
  function asking(requests: Record<string, Call>, requestState?: string): ScriptedDispatcher {
    return createScriptedDispatcher().on('tool:ask', (_params, { resume }) =>
      resume === undefined ? ask(requests, requestState) : text(JSON.stringify(resume)),
    )
  }

  test('BR-121, LG-ELIC-01, F14: each becomes a request of its own, and the call goes on with the answers and the state', async () => {
    const peer = await serveLegacy(asking({ who: form, model: sample, where: roots }, 's==\n'), all)
    peer.write(legacy(1, 'tools/call', callTool('ask')))
    const questions = [await peer.read(), await peer.read(), await peer.read()]
    expect(questions).toEqual([
      {
        jsonrpc: '2.0',
        id: expect.any(Number),
        method: 'elicitation/create',
        params: { message: 'Who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } },
      },
      {
        jsonrpc: '2.0',
        id: expect.any(Number),
        method: 'sampling/createMessage',
        params: { messages: [], maxTokens: 10 },
      },
      { jsonrpc: '2.0', id: expect.any(Number), method: 'roots/list', params: {} },
    ])
    expect(new Set(questions.map(({ id }) => id)).size).toBe(3)
    const answer = (index: number, result: JsonObject): void =>
      peer.write({ jsonrpc: '2.0', id: questions[index]?.['id'] ?? null, result })
    answer(2, { roots: [] })
    answer(0, { action: 'accept', content: { name: 'x' } })
    expect(await peer.rest()).toEqual([])
    answer(1, { role: 'assistant', content: { type: 'text', text: 'hi' }, model: 'm' })
    const done = await peer.read()
    expect(done).toMatchObject({ id: 1 })
    const [{ text: told }] = (done['result'] as { content: [{ text: string }] }).content
    expect(JSON.parse(told)).toEqual({
      requestState: 's==\n',
      inputResponses: {
        who: { action: 'accept', content: { name: 'x' } },
        model: { role: 'assistant', content: { type: 'text', text: 'hi' }, model: 'm' },
        where: { roots: [] },
      },
    })
    expect(peer.dispatcher.calls.map(({ call }) => call)).toEqual([
      { method: 'tools/call', params: callTool('ask') },
      { method: 'tools/call', params: callTool('ask') },
    ])
  })

  test('E13: keys of questions are data', async () => {
    const peer = await serveLegacy(asking(Object.fromEntries([['__proto__', roots]])), all)
    peer.write(legacy(1, 'tools/call', callTool('ask')))
    const { id } = await peer.read()
    peer.write({ jsonrpc: '2.0', id: id ?? null, result: { roots: [] } })
    expect(await peer.read()).toMatchObject({
      result: { content: [{ text: '{"inputResponses":{"__proto__":{"roots":[]}}}' }] },
    })
  })

  test('MC-MRTR-06, BR-127, B11: only what the client declared is asked', async () => {
    const peer = await serveLegacy(asking({ who: form, model: sample }), { elicitation: {} })
    peer.write(legacy(1, 'tools/call', callTool('ask')))
    expect(await peer.rest()).toEqual([
      {
        jsonrpc: '2.0',
        id: 1,
        error: {
          code: -32_603,
          message: expect.stringContaining('sampling'),
          data: { requiredCapabilities: { sampling: {} } },
        },
      },
    ])
  })

  test('BR-124: a question that opens a url is not disguised as a form', async () => {
    const url: Call = {
      method: 'elicitation/create',
      params: { mode: 'url', message: 'm', url: 'https://example.com/' },
    }
    const peer = await serveLegacy(asking({ url }), { elicitation: { url: {} } })
    peer.write(legacy(1, 'tools/call', callTool('ask')))
    expect(await peer.rest()).toMatchObject([
      { id: 1, error: { code: -32_603, data: { requiredCapabilities: { elicitation: { url: {} } } } } },
    ])
  })

  test('a client of 2025-11-25 is asked with modes, urls and tools', async () => {
    const url: Call = {
      method: 'elicitation/create',
      params: { mode: 'url', message: 'm', url: 'https://example.com/' },
    }
    const tools: Call = { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1, tools: [] } }
    const peer = await serveLegacy(
      asking({ form, url, tools }),
      { elicitation: { form: {}, url: {} }, sampling: { tools: {} } },
      { policy: everything, revision: '2025-11-25' },
    )
    peer.write(legacy(1, 'tools/call', callTool('ask')))
    expect(await peer.rest()).toMatchObject([
      { params: { mode: 'form' } },
      { params: { mode: 'url', url: 'https://example.com/', elicitationId: expect.any(String) } },
      { params: { tools: [] } },
    ])
  })

  test('A-43, LG-CANC-01: a call that is cancelled asks nothing any more, whatever its dispatcher makes of that', async () => {
    const goOn = deferred<void>()
    const dispatcher = createScriptedDispatcher().on('tool:ask', async () => {
      await goOn.promise
      return ask({ who: form })
    })
    const peer = await serveLegacy(dispatcher, all)
    peer.write(legacy(1, 'tools/call', callTool('ask')))
    await turn()
    peer.write(notification('notifications/cancelled', { requestId: 1 }))
    await turn()
    goOn.resolve()
    await turn()
    peer.write(legacy(2, 'ping'))
    expect(await peer.read()).toMatchObject({ id: 2, result: {} })
  })

  test('a client of a revision without elicitation cannot be asked, whatever it declares', async () => {
    const peer = await serveLegacy(asking({ who: form }), all, { policy: everything, revision: '2025-03-26' })
    peer.write(legacy(1, 'tools/call', callTool('ask')))
    expect(await peer.rest()).toMatchObject([{ id: 1, error: { code: -32_603 } }])
  })

  test('BR-122: a form that is refused counts as cancelled', async () => {
    const peer = await serveLegacy(asking({ who: form }), all)
    peer.write(legacy(1, 'tools/call', callTool('ask')))
    const { id } = await peer.read()
    peer.write({ jsonrpc: '2.0', id: id ?? null, error: { code: -1, message: 'no' } })
    expect(await peer.read()).toMatchObject({
      id: 1,
      result: { content: [{ text: '{"inputResponses":{"who":{"action":"cancel"}}}' }] },
    })
  })

  test('BR-122, LG-SAMP-02, LG-ROOT-02: refused sampling or roots end the call: readable for a tool, an error otherwise', async () => {
    const dispatcher = asking({ model: sample, who: form }).on('prompts/get', () => ask({ where: roots }))
    const peer = await serveLegacy(dispatcher, all)
    peer.write(legacy(1, 'tools/call', callTool('ask')))
    const [sampling, elicitation] = [await peer.read(), await peer.read()]
    peer.write({ jsonrpc: '2.0', id: sampling['id'] ?? null, error: { code: -1, message: 'User rejected sampling' } })
    expect(await peer.rest()).toEqual([
      {
        jsonrpc: '2.0',
        method: 'notifications/cancelled',
        params: { requestId: elicitation['id'], reason: expect.any(String) },
      },
      {
        jsonrpc: '2.0',
        id: 1,
        result: { isError: true, content: [{ type: 'text', text: expect.stringContaining('User rejected sampling') }] },
      },
    ])
    peer.write(legacy(2, 'prompts/get', { name: 'p' }))
    const { id } = await peer.read()
    peer.write({ jsonrpc: '2.0', id: id ?? null, error: { code: -32_601, message: 'no roots' } })
    expect(await peer.read()).toMatchObject({ id: 2, error: { code: -32_603 } })
  })

  test('A-42, B10: rounds end after ten, and a round without questions waits 250 ms', async () => {
    const clock = createManualClock()
    const dispatcher = createScriptedDispatcher()
      .on('tool:spin', () => ({ kind: 'ask', requestState: 's', raw: {} }))
      .on('tool:nag', () => ask({ where: roots }))
    const peer = await serveLegacy(dispatcher, all, { clock })
    peer.write(legacy(1, 'tools/call', callTool('spin')))
    await turn()
    expect(dispatcher.calls).toHaveLength(1)
    clock.advance(249)
    await turn()
    expect(dispatcher.calls).toHaveLength(1)
    for (let round = 2; round <= 10; round++) {
      clock.advance(250)
      await turn()
      expect(dispatcher.calls).toHaveLength(round)
    }
    expect(await peer.rest()).toMatchObject([
      { id: 1, error: { code: -32_603, message: expect.stringContaining('10') } },
    ])
    expect(clock.waiting).toBe(0)
    peer.write(legacy(2, 'tools/call', callTool('nag')))
    for (let round = 1; round < 10; round++) {
      const { id } = await peer.read()
      peer.write({ jsonrpc: '2.0', id: id ?? null, result: { roots: [] } })
    }
    expect(await peer.read()).toMatchObject({ id: 2, error: { code: -32_603 } })
  })

  test('A-42: a call asks for a limited time, however often it asks and however long each answer may take', async () => {
    const clock = createManualClock()
    const dispatcher = createScriptedDispatcher().on('tool:nag', () => ask({ where: roots }))
    const peer = await serveLegacy(dispatcher, all, { clock, maxAskingMs: 10_000 })
    peer.write(legacy(1, 'tools/call', callTool('nag')))
    const { id: first } = await peer.read()
    clock.advance(6_000)
    peer.write({ jsonrpc: '2.0', id: first ?? null, result: { roots: [] } })
    const { id: second } = await peer.read()
    clock.advance(3_999)
    expect(await peer.rest()).toEqual([])
    clock.advance(1)
    expect(await peer.rest()).toMatchObject([
      { method: 'notifications/cancelled', params: { requestId: second } },
      { id: 1, error: { code: -32_603, message: expect.stringContaining('10000 ms') } },
    ])
    expect(dispatcher.calls).toHaveLength(2)
    expect(clock.waiting).toBe(0)
  })

  test('LG-CANC-01: when the call is cancelled its questions are too, and a late answer is dropped', async () => {
    const peer = await serveLegacy(asking({ where: roots, who: form }), all)
    peer.write(legacy(1, 'tools/call', callTool('ask')))
    const [first, second] = [await peer.read(), await peer.read()]
    peer.write(notification('notifications/cancelled', { requestId: 1 }))
    const ids = (await peer.rest()).map(({ method, params }) => [method, (params as JsonObject)['requestId']])
    expect(ids).toEqual([
      ['notifications/cancelled', first['id']],
      ['notifications/cancelled', second['id']],
    ])
    peer.write({ jsonrpc: '2.0', id: first['id'] ?? null, result: { roots: [] } })
    expect(await peer.rest()).toEqual([])
    expect(codes(peer)).toEqual(['cancelled', 'unexpected-response'])
    expect(peer.dispatcher.calls).toHaveLength(1)
  })

  test('LG-LIFE-10: a client that does not answer in time is told, and the call goes on without', async () => {
    const clock = createManualClock()
    const peer = await serveLegacy(asking({ who: form }), all, { clock, answerTimeoutMs: 1_000 })
    peer.write(legacy(1, 'tools/call', callTool('ask')))
    const { id } = await peer.read()
    clock.advance(1_000)
    expect(await peer.rest()).toMatchObject([
      { method: 'notifications/cancelled', params: { requestId: id } },
      { id: 1, result: { content: [{ text: '{"inputResponses":{"who":{"action":"cancel"}}}' }] } },
    ])
    expect(clock.waiting).toBe(0)
  })

  test('LG-LIFE-05: nothing is asked before the client has said that it is ready', async () => {
    const peer = serve(asking({ where: roots }))
    peer.write(initialize('i', all), legacy(1, 'tools/call', callTool('ask')))
    await peer.read()
    expect(await peer.rest()).toEqual([])
    peer.write(notification('notifications/initialized'))
    expect(await peer.read()).toMatchObject({ method: 'roots/list' })
  })

  test('LG-LIFE-05: a client that never says so is waited for as long as for an answer, and no longer than it is there', async () => {
    const clock = createManualClock()
    const peer = serve(asking({ where: roots }), { clock, answerTimeoutMs: 1_000 })
    peer.write(initialize('i', all), legacy(1, 'tools/call', callTool('ask')), legacy(2, 'tools/call', callTool('ask')))
    await peer.read()
    peer.write(notification('notifications/cancelled', { requestId: 2 }))
    expect(await peer.rest()).toEqual([])
    clock.advance(1_000)
    expect(await peer.read()).toMatchObject({ id: 1, result: { isError: true } })
    peer.write(legacy(3, 'tools/call', callTool('ask')))
    expect(await peer.rest()).toEqual([])
    peer.end()
    await peer.done
    expect(await peer.read()).toMatchObject({ id: 3, result: { isError: true } })
    expect(clock.waiting).toBe(0)
  })

  test('MC-MRTR-06: a client that cannot be asked is told so at once', async () => {
    const peer = serve(asking({ where: roots }))
    peer.write(initialize('i', {}), legacy(1, 'tools/call', callTool('ask')))
    await peer.read()
    expect(await peer.read()).toMatchObject({ id: 1, error: { code: -32_603 } })
  })

  test('a client that has closed its side is not waited for', async () => {
    const peer = await serveLegacy(asking({ where: roots }), all)
    peer.write(legacy(1, 'tools/call', callTool('ask')))
    await peer.read()
    peer.end()
    await peer.done
    expect(await peer.read()).toMatchObject({ id: 1, result: { isError: true } })
  })

  test('no more questions are open than allowed', async () => {
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`q${index}`, roots]))
    const peer = await serveLegacy(asking(many), all)
    peer.write(legacy(1, 'tools/call', callTool('ask')))
    expect(await peer.rest()).toMatchObject([
      { id: 1, error: { code: -32_603, message: 'Too many questions to the client are open' } },
    ])
  })

  test('the same context goes through all rounds: signal, progress and scope are the call’s', async () => {
    const dispatcher = createScriptedDispatcher().on('tool:ask', async (_params, context) => {
      if (context.resume === undefined) return ask({ where: roots })
      await context.emit({ method: 'notifications/progress', params: { progress: 1 } })
      return text('')
    })
    const peer = await serveLegacy(dispatcher, all)
    peer.write(legacy(1, 'tools/call', { ...callTool('ask'), _meta: { progressToken: 9 } }))
    const { id } = await peer.read()
    peer.write({ jsonrpc: '2.0', id: id ?? null, result: { roots: [] } })
    expect(await peer.rest()).toMatchObject([
      { method: 'notifications/progress', params: { progressToken: 9 } },
      { id: 1 },
    ])
  })

  test.each(['progress', 'roots/list_changed'])(
    'BR-113, BR-114: notifications/%s of the client is dropped',
    async (name) => {
      const peer = await serveLegacy()
      peer.write(notification(`notifications/${name}`, { progress: 1, progressToken: 1 }))
      expect(await peer.rest()).toEqual([])
      expect(peer.dispatcher.notices).toEqual([])
    },
  )
})

describe('what changes', () => {
  interface Source {
    readonly dispatcher: ScriptedDispatcher
    /** Listens that are open, oldest first. */
    readonly listens: {
      readonly filter: JsonObject
      emit(notice: Call): void
      end(): void
      fail(error: unknown): void
    }[]
    /** How many listens were ever opened. */
    opened: number
    /** Uris that are granted; all when undefined. */
    granted: ((uri: string) => boolean) | undefined
    /** Acknowledges later, when set. */
    hold: Promise<void> | undefined
  }

  const capabilities = { tools: { listChanged: true }, prompts: {}, resources: { subscribe: true, listChanged: true } }

  function source(offered: JsonObject = capabilities): Source {
    const dispatcher = createScriptedDispatcher(offered)
    const state: Source = { dispatcher, listens: [], opened: 0, granted: undefined, hold: undefined }
    dispatcher.on('subscriptions/listen', (params, context) => {
      state.opened++
      const filter = params['notifications'] as { resourceSubscriptions?: string[] } & JsonObject
      const over = deferred<Outcome>()
      const listen = {
        filter,
        emit: (notice: Call) => void context.emit(notice),
        end: () => over.resolve({ kind: 'result', value: {} }),
        fail: (error: unknown) => over.reject(error),
      }
      const leave = (): void => {
        const index = state.listens.indexOf(listen)
        if (index !== -1) state.listens.splice(index, 1)
      }
      context.signal.addEventListener('abort', () => {
        leave()
        over.reject(context.signal.reason)
      })
      const start = (): void => {
        const uris = filter.resourceSubscriptions?.filter((uri) => state.granted?.(uri) ?? true)
        state.listens.push(listen)
        const notifications = uris === undefined ? filter : { ...filter, resourceSubscriptions: uris }
        void context.emit({ method: 'notifications/subscriptions/acknowledged', params: { notifications } })
      }
      if (state.hold === undefined) start()
      else void state.hold.then(start)
      return over.promise.finally(leave)
    })
    return state
  }

  const updated = (uri: string): Call => ({ method: 'notifications/resources/updated', params: { uri } })
  const toolsChanged: Call = { method: 'notifications/tools/list_changed', params: {} }

  test('BR-102, BR-130, LG-TOOL-01: lists that are advertised are followed from initialized on, and told without tags', async () => {
    const { dispatcher, listens } = source()
    const peer = serve(dispatcher)
    peer.write(initialize('i'))
    await peer.read()
    await turn()
    expect(listens).toEqual([])
    peer.write(notification('notifications/initialized'))
    await turn()
    expect(listens.map(({ filter }) => filter)).toEqual([{ toolsListChanged: true, resourcesListChanged: true }])
    listens[0]?.emit(toolsChanged)
    expect(await peer.rest()).toEqual([{ jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: {} }])
  })

  test('also for a dispatcher that needs time to say what it offers', async () => {
    const changes = source()
    const ready = await changes.dispatcher.offered
    const view = deferred<typeof ready>()
    changes.dispatcher.offered = view.promise
    const peer = serve(changes.dispatcher)
    peer.write(initialize('i'), notification('notifications/initialized'))
    await turn()
    expect(changes.opened).toBe(0)
    view.resolve(ready)
    await peer.read()
    await turn()
    expect(changes.opened).toBe(1)
  })

  test('nothing is listened to when nothing is advertised', async () => {
    const changes = source({ tools: {} })
    await serveLegacy(changes.dispatcher)
    await turn()
    expect(changes.opened).toBe(0)
  })

  test('BR-107, LG-RES-02: a subscription is answered when it is in force, and updates come', async () => {
    const changes = source()
    const held = deferred<void>()
    const peer = await serveLegacy(changes.dispatcher)
    await turn()
    changes.hold = held.promise
    peer.write(legacy(1, 'resources/subscribe', { uri: 'a:1' }))
    expect(await peer.rest()).toEqual([])
    held.resolve(undefined)
    expect(await peer.read()).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
    expect(changes.listens.map(({ filter }) => filter)).toEqual([
      { toolsListChanged: true, resourcesListChanged: true, resourceSubscriptions: ['a:1'] },
    ])
    changes.listens[0]?.emit(updated('a:1'))
    expect(await peer.rest()).toEqual([
      { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'a:1' } },
    ])
  })

  test('BR-107, BR-130: while the listen is replaced nothing is lost and nothing told twice', async () => {
    const changes = source()
    const peer = await serveLegacy(changes.dispatcher)
    peer.write(legacy(1, 'resources/subscribe', { uri: 'a:1' }))
    await peer.read()
    const [old] = changes.listens
    const held = deferred<void>()
    changes.hold = held.promise
    peer.write(legacy(2, 'resources/subscribe', { uri: 'a:2' }))
    await turn()
    const everybody = (notice: Call): void => {
      for (const listen of changes.listens) listen.emit(notice)
    }
    everybody(updated('a:1'))
    everybody(toolsChanged)
    expect(await peer.rest()).toHaveLength(2)
    held.resolve(undefined)
    expect(await peer.read()).toMatchObject({ id: 2, result: {} })
    expect(changes.listens).toHaveLength(1)
    everybody(updated('a:1'))
    everybody(updated('a:2'))
    everybody(toolsChanged)
    expect(await peer.rest()).toHaveLength(3)
    // what was on its way in the old one when the new one took over
    old?.emit(toolsChanged)
    expect(await peer.rest()).toEqual([])
  })

  test('many at once are one more listen, not one each', async () => {
    const changes = source()
    const peer = await serveLegacy(changes.dispatcher)
    await turn()
    const before = changes.opened
    peer.write(...Array.from({ length: 50 }, (_, id) => legacy(id, 'resources/subscribe', { uri: `a:${id}` })))
    const answers = await peer.rest()
    expect(answers.filter(({ result }) => JSON.stringify(result) === '{}')).toHaveLength(50)
    expect(changes.opened - before).toBeLessThanOrEqual(2)
    expect(changes.listens).toHaveLength(1)
    expect(changes.listens[0]?.filter['resourceSubscriptions']).toHaveLength(50)
  })

  test('subscribing twice is subscribing once', async () => {
    const changes = source()
    const peer = await serveLegacy(changes.dispatcher)
    peer.write(legacy(1, 'resources/subscribe', { uri: 'a:1' }))
    await peer.read()
    const before = changes.opened
    peer.write(legacy(2, 'resources/subscribe', { uri: 'a:1' }))
    expect(await peer.read()).toMatchObject({ id: 2, result: {} })
    expect(changes.opened).toBe(before)
    changes.listens[0]?.emit(updated('a:1'))
    expect(await peer.rest()).toHaveLength(1)
  })

  test('BR-107: what is not granted is refused, and the other subscriptions stay', async () => {
    const changes = source()
    changes.granted = (uri) => uri !== 'a:no'
    const peer = await serveLegacy(changes.dispatcher)
    peer.write(legacy(1, 'resources/subscribe', { uri: 'a:1' }), legacy(2, 'resources/subscribe', { uri: 'a:no' }))
    const answers = await peer.rest()
    expect(answers).toMatchObject([
      { id: 1, result: {} },
      { id: 2, error: { code: -32_602, data: { uri: 'a:no' } } },
    ])
    changes.listens[0]?.emit(updated('a:1'))
    expect(await peer.rest()).toHaveLength(1)
    peer.write(legacy(3, 'resources/subscribe', { uri: 'a:3' }))
    await peer.rest()
    expect(changes.listens.map(({ filter }) => filter['resourceSubscriptions'])).toEqual([['a:1', 'a:3']])
  })

  test('BR-107, LG-RES-01: without the capability the methods do not exist; a uri must be given', async () => {
    const peer = await serveLegacy(source({ resources: {} }).dispatcher)
    peer.write(legacy(1, 'resources/subscribe', { uri: 'a:1' }), legacy(2, 'resources/unsubscribe', { uri: 'a:1' }))
    expect(await peer.rest()).toMatchObject([
      { id: 1, error: { code: -32_601 } },
      { id: 2, error: { code: -32_601 } },
    ])
    const other = await serveLegacy(source().dispatcher)
    other.write(legacy(1, 'resources/subscribe', {}))
    expect(await other.read()).toMatchObject({ error: { code: -32_602 } })
  })

  test('BR-108: after unsubscribe nothing more is told, and what lies below a subscribed resource still is (A-32)', async () => {
    const changes = source()
    const peer = await serveLegacy(changes.dispatcher)
    peer.write(legacy(1, 'resources/subscribe', { uri: 'a:1' }), legacy(2, 'resources/subscribe', { uri: 'a:2' }))
    await peer.rest()
    const held = deferred<void>()
    changes.hold = held.promise
    peer.write(legacy(3, 'resources/unsubscribe', { uri: 'a:1' }))
    expect(await peer.read()).toEqual({ jsonrpc: '2.0', id: 3, result: {} })
    changes.listens[0]?.emit(updated('a:1'))
    changes.listens[0]?.emit(updated('a:2/part'))
    expect(await peer.rest()).toMatchObject([{ params: { uri: 'a:2/part' } }])
    held.resolve(undefined)
    await turn()
    expect(changes.listens.map(({ filter }) => filter['resourceSubscriptions'])).toEqual([['a:2']])
    peer.write(legacy(4, 'resources/unsubscribe', { uri: 'a:never' }))
    expect(await peer.read()).toEqual({ jsonrpc: '2.0', id: 4, result: {} })
  })

  test('when the last wish is gone, so is the listen', async () => {
    const changes = source({ resources: { subscribe: true } })
    const peer = await serveLegacy(changes.dispatcher)
    peer.write(legacy(1, 'resources/subscribe', { uri: 'a:1' }))
    await peer.read()
    expect(changes.listens).toHaveLength(1)
    peer.write(legacy(2, 'resources/unsubscribe', { uri: 'a:1' }))
    await peer.rest()
    expect(changes.listens).toHaveLength(0)
  })

  test('a dispatcher that refuses the listen refuses the subscription, and the session goes on', async () => {
    const changes = source({ resources: { subscribe: true } })
    const peer = await serveLegacy(changes.dispatcher)
    changes.dispatcher.on('subscriptions/listen', () => {
      throw new RpcError(-32_603, 'Too many subscriptions')
    })
    peer.write(legacy(1, 'resources/subscribe', { uri: 'a:1' }), legacy(2, 'ping'))
    expect(await peer.rest()).toMatchObject([
      { id: 2, result: {} },
      { id: 1, error: { code: -32_603, message: 'Too many subscriptions' } },
    ])
  })

  test.each(['end', 'fail'] as const)(
    'BR-131: a listen that is lost (%s) is opened again, and what was missed announced',
    async (how) => {
      const clock = createManualClock()
      const changes = source()
      const peer = await serveLegacy(changes.dispatcher, {}, { clock })
      peer.write(legacy(1, 'resources/subscribe', { uri: 'a:1' }))
      await peer.read()
      const before = changes.opened
      if (how === 'end') changes.listens[0]?.end()
      else changes.listens[0]?.fail(new Error('gone'))
      await turn()
      expect(changes.opened).toBe(before)
      clock.advance(1_000)
      await turn()
      expect(changes.opened).toBe(before + 1)
      expect((await peer.rest()).map(({ method, params }) => [method, params])).toEqual([
        ['notifications/tools/list_changed', {}],
        ['notifications/resources/list_changed', {}],
        ['notifications/resources/updated', { uri: 'a:1' }],
      ])
      changes.listens[0]?.emit(updated('a:1'))
      expect(await peer.rest()).toHaveLength(1)
    },
  )

  test('BR-131: it is tried again ever more slowly', async () => {
    const clock = createManualClock()
    const changes = source()
    const peer = await serveLegacy(changes.dispatcher, {}, { clock })
    await turn()
    const attempts: number[] = []
    changes.dispatcher.on('subscriptions/listen', () => {
      attempts.push(clock.now())
      throw new RpcError(-32_603, 'not now')
    })
    changes.listens[0]?.end()
    await turn()
    for (let second = 0; second < 100; second++) {
      clock.advance(1_000)
      await turn()
    }
    expect(attempts).toEqual([1_000, 3_000, 7_000, 15_000, 31_000, 61_000, 91_000])
    expect(new Set(codes(peer))).toEqual(new Set(['listen-failed']))
    peer.end()
    await peer.done
    expect(clock.waiting).toBe(0)
  })

  test('BR-116: the end of the session ends the listen', async () => {
    const changes = source()
    const peer = await serveLegacy(changes.dispatcher)
    await turn()
    expect(changes.listens).toHaveLength(1)
    peer.end()
    await peer.done
    expect(changes.listens).toHaveLength(0)
    expect(peer.written).toHaveLength(1)
  })
})
