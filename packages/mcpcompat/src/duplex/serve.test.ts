import { afterEach, describe, expect, test } from 'vitest'
import type { Call } from '../contract/call.ts'
import { RpcError, TransportError } from '../jsonrpc/errors.ts'
import type { JsonObject } from '../jsonrpc/json.ts'
import { JsonText } from '../jsonrpc/json-text.ts'
import { metaKey } from '../meta.ts'
import { createRevisionPolicy, legacyRevision, modernRevision } from '../revisions.ts'
import { createManualClock } from '../../test/_util/manual-clock.ts'
import { turn } from '../../test/_util/raw-peer.ts'
import { callTool, initialize, legacy, modern, modernMeta, notification } from '../../test/_util/requests.ts'
import {
  createScriptedDispatcher,
  deferred,
  type ScriptedDispatcher,
  text,
  untilAborted,
} from '../../test/_util/scripted-dispatcher.ts'
import { codes, endAll, lastCall, serve } from '../../test/_util/served.ts'

afterEach(endAll)

const serverInfo = { [metaKey.serverInfo]: { name: 'scripted', version: '1.0.0' } }

describe('a modern request', () => {
  test('MC-RT-01, MC-META-10, B1: is answered with a complete result that names the server', async () => {
    const peer = serve()
    peer.write(modern(1, 'tools/call', callTool('echo', { text: 'hi' })))
    expect(await peer.read()).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: { resultType: 'complete', _meta: serverInfo, content: [{ type: 'text', text: 'hi' }] },
    })
  })

  test('MC-STL-01, MC-REQ-10: knows its sender from its own envelope only', async () => {
    const seen: unknown[] = []
    const peer = serve(
      createScriptedDispatcher().on('tool:who', (_params, { peer: sender }) => {
        seen.push(sender)
        return text('')
      }),
    )
    const rich = {
      [metaKey.clientCapabilities]: { sampling: {} },
      [metaKey.clientInfo]: { name: 'rich', version: '2' },
    }
    peer.write(modern(1, 'tools/call', callTool('who'), rich), modern(2, 'tools/call', callTool('who')))
    await peer.rest()
    expect(seen).toEqual([
      { name: 'rich', version: '2', info: { name: 'rich', version: '2' }, capabilities: { sampling: {} } },
      { name: 'test', version: '1', info: { name: 'test', version: '1' }, capabilities: {} },
    ])
  })

  test('the dispatcher gets params without the envelope, and the rest of _meta', async () => {
    const peer = serve()
    const meta = { 'com.example/trace': 7, traceparent: '00-1', [metaKey.logLevel]: 'info', progressToken: 't' }
    peer.write(
      modern(
        1,
        'tools/call',
        { ...callTool('echo', { text: 'x' }), requestState: 's', inputResponses: { a: {} } },
        meta,
      ),
    )
    await peer.rest()
    const { call, context } = lastCall(peer)
    expect(call).toEqual({ method: 'tools/call', params: { name: 'echo', arguments: { text: 'x' } } })
    expect(context.meta).toEqual({ 'com.example/trace': 7, traceparent: '00-1' })
    expect(context.progressToken).toBe('t')
    expect(context.logLevel).toBe('info')
    expect(context.resume).toEqual({ requestState: 's', inputResponses: { a: {} } })
  })

  test.each([
    ['MC-REQ-05: no params', { jsonrpc: '2.0', id: 1, method: 'tools/list' }, -32_602],
    ['MC-REQ-05: no capabilities', without(metaKey.clientCapabilities), -32_602],
    ['MC-ERR-07, MC-VER-01, MC-VER-06: another revision', claiming('2099-01-01'), -32_022],
    ['MC-VER-06: a version of another form', claiming('v9'), -32_022],
    ['A-26: a legacy revision', claiming(legacyRevision), -32_022],
    ['a version that is no string', claiming(7), -32_602],
    ['MC-DEP-02: ping', modern(1, 'ping'), -32_601],
    ['MC-DEP-02: initialize', modern(1, 'initialize'), -32_601],
    ['MC-DEP-02: logging/setLevel', modern(1, 'logging/setLevel', { level: 'info' }), -32_601],
    ['MC-DEP-02: resources/subscribe', modern(1, 'resources/subscribe', { uri: 'a:b' }), -32_601],
    ['MC-ERR-12: an unknown method', modern(1, 'foo/bar'), -32_601],
    ['MC-TOOL-20, MC-ERR-13: a tool without name', modern(1, 'tools/call', {}), -32_602],
    ['MC-TOOL-20: arguments that are no object', modern(1, 'tools/call', { name: 'echo', arguments: [] }), -32_602],
    ['MC-SUB-01, A-31: a listen without filter', modern(1, 'subscriptions/listen'), -32_602],
    ['A-38: a state that is no string', modern(1, 'tools/call', { ...callTool('echo'), requestState: 1 }), -32_602],
    [
      'MC-MRTR-21: answers that are no object',
      modern(1, 'tools/call', { ...callTool('echo'), inputResponses: 1 }),
      -32_602,
    ],
  ])('%s is refused, and the dispatcher not asked', async (_why, message, code) => {
    const peer = serve()
    peer.write(message)
    expect(await peer.read()).toMatchObject({ jsonrpc: '2.0', id: 1, error: { code } })
    expect(peer.dispatcher.calls.filter(({ call }) => call.method !== 'foo/bar')).toEqual([])
  })

  test('MC-ERR-07, A-25: a wrong version is answered with those that are served', async () => {
    const peer = serve()
    peer.write(claiming('2099-01-01'))
    expect(await peer.read()).toMatchObject({
      error: { data: { supported: [modernRevision, legacyRevision], requested: '2099-01-01' } },
    })
  })

  test('MC-DISC-01, MC-DISC-04, MC-DISC-05, MC-DISC-07, MC-DISC-08: discovery is made of the view', async () => {
    const peer = serve(createScriptedDispatcher({ tools: { listChanged: true } }))
    peer.write(modern(1, 'server/discover'))
    expect(await peer.read()).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: {
        resultType: 'complete',
        supportedVersions: [modernRevision, legacyRevision],
        capabilities: { tools: { listChanged: true } },
        ttlMs: 0,
        cacheScope: 'private',
        _meta: serverInfo,
      },
    })
    expect(peer.dispatcher.calls).toEqual([])
  })

  test('a dispatcher that needs time to say what it is holds nobody up', async () => {
    const dispatcher = createScriptedDispatcher()
    const view = deferred<Awaited<typeof dispatcher.offered>>()
    const ready = await dispatcher.offered
    dispatcher.offered = view.promise
    const peer = serve(dispatcher)
    peer.write(modern(1, 'server/discover'), modern(2, 'tools/call', callTool('echo', { text: 'a' })))
    expect(await peer.read()).toMatchObject({ id: 2, result: { content: [{ text: 'a' }] } })
    view.resolve(ready)
    expect(await peer.read()).toMatchObject({ id: 1, result: { capabilities: { tools: {} } } })
    peer.write(modern(3, 'tools/call', callTool('echo', { text: 'a' })))
    expect(await peer.read()).toMatchObject({ id: 3, result: { _meta: serverInfo } })
  })

  test('MC-ERR-01, MC-ERR-14: what a handler throws by accident stays here', async () => {
    const dispatcher = createScriptedDispatcher()
      .on('tool:sync', () => {
        throw new Error('secret-1')
      })
      .on('tool:async', () => Promise.reject(new TypeError('secret-2')))
      .on('tool:string', async () => {
        await Promise.resolve()
        // oxlint-disable-next-line typescript/only-throw-error -- handlers of users do
        throw 'secret-3'
      })
      .on('tool:unwritable', () => ({ kind: 'result', value: { n: 1n as unknown as number } }))
    const peer = serve(dispatcher)
    const names = ['sync', 'async', 'string', 'unwritable']
    peer.write(...names.map((name, id) => modern(id, 'tools/call', callTool(name))))
    for (const _name of names) {
      expect(await peer.read()).toMatchObject({ error: { code: -32_603, message: 'Internal error' } })
    }
    expect(peer.written.join()).not.toContain('secret')
    expect(codes(peer)).toEqual(['handler-failed', 'handler-failed', 'handler-failed', 'handler-failed'])
  })

  test('MC-ERR-14: a dispatcher that gives nonsense harms no other call', async () => {
    const nonsense = (value: unknown) => () => value as ReturnType<typeof text>
    const dispatcher = createScriptedDispatcher()
    const values = [undefined, null, 1, 'x', {}, { kind: 'odd' }, Promise.resolve(undefined), Promise.resolve({})]
    for (const [index, value] of values.entries()) dispatcher.on(`tool:${index}`, nonsense(value))
    const peer = serve(dispatcher)
    peer.write(...values.map((_value, index) => modern(index, 'tools/call', callTool(String(index)))))
    const answers = await peer.rest()
    expect(answers.map(({ error }) => (error as JsonObject)['code'])).toEqual(values.map(() => -32_603))
    peer.write(modern('next', 'tools/call', callTool('echo', { text: 'on' })))
    expect(await peer.read()).toMatchObject({ id: 'next', result: {} })
  })

  test('a listener of diagnostics that fails harms nobody', async () => {
    const heard: string[] = []
    const peer = serve(createScriptedDispatcher(), {
      onDiagnostic: ({ code }) => {
        heard.push(code)
        throw new Error('a bad listener')
      },
    })
    peer.write('garbage', '{"jsonrpc":"2.0","id":"never-asked","result":{}}', modern(1, 'tools/call', callTool('echo')))
    expect((await peer.rest()).map(({ id }) => id)).toEqual([undefined, 1])
    expect(heard).toEqual(['not-json', 'unexpected-response'])
  })

  test('MC-MRTR-06, MC-REQ-08, B11: an ask that the request does not allow never leaves', async () => {
    const dispatcher = createScriptedDispatcher().on('tool:ask', () => ({
      kind: 'ask',
      inputRequests: new Map([['a', { method: 'roots/list', params: {} }]]),
      raw: {},
    }))
    const peer = serve(dispatcher)
    peer.write(modern(1, 'tools/call', callTool('ask')))
    expect(await peer.read()).toMatchObject({
      id: 1,
      error: { code: -32_021, data: { requiredCapabilities: { roots: {} } } },
    })
    peer.write(modern(2, 'tools/call', callTool('ask'), { [metaKey.clientCapabilities]: { roots: {} } }))
    expect(await peer.read()).toMatchObject({ id: 2, result: { resultType: 'input_required' } })
  })

  test('MC-ERR-02, MC-ERR-04, MC-ERR-08: only codes of this revision leave', async () => {
    const thrown = [-32_000, -32_002, -32_042, -32_050, -32_021, -32_602, -1, 1001]
    const dispatcher = createScriptedDispatcher().on('tool:fail', ({ arguments: args }) => {
      throw new RpcError((args as { code: number }).code, 'm', { data: { kept: 1 } })
    })
    const peer = serve(dispatcher)
    peer.write(...thrown.map((code, id) => modern(id, 'tools/call', callTool('fail', { code }))))
    const answers = await peer.rest()
    expect(answers.map(({ error }) => (error as JsonObject)['code'])).toEqual([
      -32_603, -32_602, -32_603, -32_603, -32_021, -32_602, -1, 1001,
    ])
  })

  test('E1, MC-MSG-04: ids keep their type and value, 1 and "1" are two', async () => {
    const wait = deferred<ReturnType<typeof text>>()
    const peer = serve(createScriptedDispatcher().on('tool:wait', () => wait.promise))
    const ids = ['1', 1, '01', '', 0, -1, 9_007_199_254_740_991, '1.0']
    peer.write(...ids.map((id) => modern(id, 'tools/call', callTool('wait'))))
    await turn()
    wait.resolve(text(''))
    const answers = await peer.rest()
    expect(answers.map(({ id }) => id)).toEqual(ids)
  })

  test('E13: prototype names are names', async () => {
    const peer = serve()
    for (const name of ['constructor', '__proto__', 'toString']) {
      peer.write(modern(name, 'tools/call', callTool(name)))
      expect(await peer.read()).toMatchObject({ id: name, error: { code: -32_602 } })
    }
    peer.write(
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","__proto__":{"admin":true},"arguments":{"__proto__":{"admin":true},"text":"a"},"_meta":${JSON.stringify(modernMeta())}}}`,
    )
    await peer.read()
    const { params } = lastCall(peer).call
    expect(JSON.stringify(params)).toBe(
      '{"name":"echo","__proto__":{"admin":true},"arguments":{"__proto__":{"admin":true},"text":"a"}}',
    )
    expect((params as { admin?: unknown }).admin).toBeUndefined()
  })

  test('results that are source text go out as they are', async () => {
    const raw = '"structuredContent":{"id":9007199254740993,"x":1.0,"e":1e400,"z":-0},"content":[]'
    const peer = serve(
      createScriptedDispatcher().on('tool:raw', () => ({ kind: 'result', value: new JsonText(`{${raw}}`) })),
    )
    peer.write(modern(1, 'tools/call', callTool('raw')))
    await peer.read()
    expect(peer.written[0]).toContain(raw)
  })
})

describe('calls that take time', () => {
  test('D16, MC-STL-02: run side by side and are answered as they finish', async () => {
    const slow = deferred<ReturnType<typeof text>>()
    const peer = serve(createScriptedDispatcher().on('tool:slow', () => slow.promise))
    peer.write(
      modern('slow', 'tools/call', callTool('slow')),
      modern('quick', 'tools/call', callTool('echo', { text: 'q' })),
    )
    expect(await peer.read()).toMatchObject({ id: 'quick' })
    slow.resolve(text('s'))
    expect(await peer.read()).toMatchObject({ id: 'slow', result: { content: [{ text: 's' }] } })
  })

  test('MC-CANC-06, MC-CANC-07, MS-CANC-02, E8: a cancelled call aborts, and nothing is written for it any more', async () => {
    const finish = deferred<void>()
    let reason: unknown
    const dispatcher = createScriptedDispatcher().on('tool:stubborn', async (_params, { signal, progressToken }) => {
      expect(progressToken).toBe('t')
      signal.addEventListener('abort', () => (reason = signal.reason))
      await finish.promise
      return text('late')
    })
    dispatcher.on('tool:talks', async (_params, context) => {
      await finish.promise
      await context.emit({ method: 'notifications/progress', params: { progress: 1 } })
      return text('late')
    })
    const peer = serve(dispatcher)
    peer.write(
      modern(1, 'tools/call', callTool('stubborn'), { progressToken: 't' }),
      modern(2, 'tools/call', callTool('talks'), { progressToken: 'u' }),
    )
    await turn()
    peer.write(
      notification('notifications/cancelled', { requestId: 1, reason: 'no more need' }),
      notification('notifications/cancelled', { requestId: 2 }),
    )
    await turn()
    expect(reason).toMatchObject({ name: 'AbortError', message: 'no more need' })
    finish.resolve()
    expect(await peer.rest()).toEqual([])
    peer.write(modern(3, 'tools/call', callTool('echo', { text: 'on' })))
    expect(await peer.read()).toMatchObject({ id: 3 })
  })

  test('a cancel is seen before work that came with it: the call is not even started', async () => {
    const peer = serve()
    peer.write(
      modern(1, 'tools/call', callTool('echo', { text: 'never' })),
      modern(2, 'tools/call', callTool('echo', { text: 'yes' })),
      notification('notifications/cancelled', { requestId: 1 }),
    )
    const answers = await peer.rest()
    expect(answers.map(({ id }) => id)).toEqual([2])
    expect(peer.dispatcher.calls).toHaveLength(1)
  })

  test('the signal of a running call aborts before calls of the same chunk are started', async () => {
    const order: string[] = []
    const dispatcher = createScriptedDispatcher()
      .on('tool:run', (params, context) => {
        context.signal.addEventListener('abort', () => order.push('aborted'))
        return untilAborted(params, context, { method: '', params: {} })
      })
      .on('tool:next', () => {
        order.push('next')
        return text('')
      })
    const peer = serve(dispatcher)
    peer.write(modern(1, 'tools/call', callTool('run')))
    await turn()
    peer.write(modern(2, 'tools/call', callTool('next')), notification('notifications/cancelled', { requestId: 1 }))
    await turn()
    expect(order).toEqual(['aborted', 'next'])
  })

  test('MC-CANC-08, MC-CANC-10, MC-CANC-11: cancels of nothing are ignored', async () => {
    const peer = serve()
    peer.write(
      notification('notifications/cancelled'),
      notification('notifications/cancelled', {}),
      notification('notifications/cancelled', { requestId: {} }),
      notification('notifications/cancelled', { requestId: 'unknown' }),
      modern(1, 'tools/call', callTool('echo', { text: '' })),
    )
    await peer.read()
    peer.write(notification('notifications/cancelled', { requestId: 1 }), modern(1, 'tools/call', callTool('echo')))
    expect(await peer.read()).toMatchObject({ id: 1 })
  })

  test('C20, MC-ID-03, A-21: a second request with an open id is dropped, the first gets its answer; a cancel frees the id', async () => {
    const slow = deferred<ReturnType<typeof text>>()
    const peer = serve(
      createScriptedDispatcher()
        .on('tool:slow', () => slow.promise)
        .on('tool:hang', untilAborted),
    )
    peer.write(modern(5, 'tools/call', callTool('slow')))
    await turn()
    peer.write(modern(5, 'tools/call', callTool('echo', { text: 'second' })))
    expect(await peer.rest()).toEqual([])
    expect(codes(peer)).toEqual(['duplicate-id'])
    slow.resolve(text('first'))
    expect(await peer.read()).toMatchObject({ id: 5, result: { content: [{ text: 'first' }] } })
    peer.write(modern(5, 'tools/call', callTool('hang')))
    await turn()
    peer.write(
      notification('notifications/cancelled', { requestId: 5 }),
      modern(5, 'tools/call', callTool('echo', { text: 'third' })),
    )
    expect(await peer.read()).toMatchObject({ id: 5, result: { content: [{ text: 'third' }] } })
  })

  test('no more calls than allowed run at once; handlers of cancelled calls count until they return', async () => {
    const finish = deferred<ReturnType<typeof text>>()
    const peer = serve(
      createScriptedDispatcher().on('tool:wait', () => finish.promise),
      { maxInFlight: 2 },
    )
    peer.write(...[1, 2, 3].map((id) => modern(id, 'tools/call', callTool('wait'))))
    expect(await peer.read()).toMatchObject({ id: 3, error: { code: -32_603 } })
    peer.write(notification('notifications/cancelled', { requestId: 1 }), modern(4, 'tools/call', callTool('wait')))
    expect(await peer.read()).toMatchObject({ id: 4, error: { code: -32_603 } })
    finish.resolve(text(''))
    expect(await peer.read()).toMatchObject({ id: 2 })
    peer.write(modern(5, 'tools/call', callTool('echo')))
    expect(await peer.read()).toMatchObject({ id: 5, result: {} })
  })

  test('the scope of a call is closed before its answer is written, on success, error and cancel', async () => {
    const log: string[] = []
    const closes = (name: string, wait?: Promise<unknown>) => async (): Promise<void> => {
      await wait
      log.push(`closed ${name}`)
    }
    const dispatcher = createScriptedDispatcher()
      .on('tool:sync', (_params, { scope }) => {
        scope.defer(() => void log.push('closed sync'))
        return text('')
      })
      .on('tool:async', (_params, { scope }) => {
        scope.defer(closes('async', turn()))
        return text('')
      })
      .on('tool:fails', (_params, { scope }) => {
        scope.defer(closes('fails'))
        return Promise.reject(new RpcError(-1, 'no'))
      })
      .on('tool:cancelled', (params, context, call) => {
        context.scope.defer(() => void log.push('closed cancelled'))
        return untilAborted(params, context, call)
      })
    const peer = serve(dispatcher)
    peer.onSend = (message) => log.push(`sent ${message['id'] as string}`)
    for (const name of ['sync', 'async', 'fails']) {
      peer.write(modern(name, 'tools/call', callTool(name)))
      await peer.read()
    }
    peer.write(modern('cancelled', 'tools/call', callTool('cancelled')))
    await turn()
    peer.write(notification('notifications/cancelled', { requestId: 'cancelled' }))
    await turn()
    expect(log).toEqual([
      'closed sync',
      'sent sync',
      'closed async',
      'sent async',
      'closed fails',
      'sent fails',
      'closed cancelled',
    ])
  })

  test('a disposer that fails is reported and the answer still comes', async () => {
    const dispatcher = createScriptedDispatcher().on('tool:bad', (_params, { scope }) => {
      scope.defer(() => {
        throw new Error('disposer')
      })
      return text('fine')
    })
    const peer = serve(dispatcher)
    peer.write(modern(1, 'tools/call', callTool('bad')))
    expect(await peer.read()).toMatchObject({ result: { content: [{ text: 'fine' }] } })
    expect(codes(peer)).toEqual(['scope-failed'])
  })
})

describe('notices of a call', () => {
  const talk: Call[] = [
    { method: 'notifications/progress', params: { progress: 1, total: 2 } },
    { method: 'notifications/progress', params: { progress: 1 } },
    { method: 'notifications/progress', params: { progress: 2 } },
    { method: 'notifications/message', params: { level: 'info', data: 'i' } },
    { method: 'notifications/message', params: { level: 'error', data: 'e' } },
    { method: 'notifications/tools/list_changed', params: {} },
  ]
  const talking = createScriptedDispatcher().on('tool:talk', async (_params, context) => {
    for (const notice of talk) await context.emit(notice)
    return text('done')
  })

  test('MC-PROG-03, MC-PROG-04, MC-LOG-03, E10: are written while it is in flight, with its token, growing, from its level on', async () => {
    const peer = serve(talking)
    peer.write(modern(1, 'tools/call', callTool('talk'), { progressToken: 7, [metaKey.logLevel]: 'warning' }))
    await turn()
    expect(await peer.rest()).toEqual([
      { jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 1, total: 2, progressToken: 7 } },
      { jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 2, progressToken: 7 } },
      { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'error', data: 'e' } },
      expect.objectContaining({ id: 1 }),
    ])
  })

  test('MC-LOG-02: nothing that was not asked for', async () => {
    const peer = serve(talking)
    peer.write(modern(1, 'tools/call', callTool('talk')))
    expect(await peer.rest()).toEqual([expect.objectContaining({ id: 1 })])
  })

  test('MC-PROG-06, E8: nothing after the answer', async () => {
    let later: (() => void) | undefined
    const dispatcher = createScriptedDispatcher().on('tool:leak', (_params, context) => {
      later = () => void context.emit({ method: 'notifications/progress', params: { progress: 5 } })
      return text('')
    })
    const peer = serve(dispatcher)
    peer.write(modern(1, 'tools/call', callTool('leak'), { progressToken: 1 }))
    await peer.read()
    later?.()
    expect(await peer.rest()).toEqual([])
  })
})

describe('subscriptions', () => {
  function listening(): {
    dispatcher: ScriptedDispatcher
    emit: (notice: Call) => void
    end: () => void
    aborted: () => unknown
  } {
    let emit: (notice: Call) => void = () => undefined
    let reason: unknown
    const ended = deferred<{ kind: 'result'; value: JsonObject }>()
    const dispatcher = createScriptedDispatcher({ tools: { listChanged: true } }).on(
      'subscriptions/listen',
      (params, context) => {
        emit = (notice) => void context.emit(notice)
        context.signal.addEventListener('abort', () => {
          reason = context.signal.reason
          ended.reject(reason)
        })
        void context.emit({
          method: 'notifications/subscriptions/acknowledged',
          params: { notifications: params['notifications'] },
        })
        return ended.promise
      },
    )
    return {
      dispatcher,
      emit: (notice) => emit(notice),
      end: () => ended.resolve({ kind: 'result', value: {} }),
      aborted: () => reason,
    }
  }
  const filter = { notifications: { toolsListChanged: true } }
  const tag = (id: string | number): JsonObject => ({ [metaKey.subscriptionId]: id })

  test('MC-SUB-03, MC-SUB-07, MC-META-09: are acknowledged first and stay open, tagged, while other calls run', async () => {
    const { dispatcher, emit } = listening()
    const peer = serve(dispatcher)
    peer.write(modern('L', 'subscriptions/listen', filter), modern(1, 'tools/call', callTool('echo')))
    expect(await peer.read()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { toolsListChanged: true }, _meta: tag('L') },
    })
    expect(await peer.read()).toMatchObject({ id: 1 })
    emit({ method: 'notifications/tools/list_changed', params: {} })
    expect(await peer.read()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/tools/list_changed',
      params: { _meta: tag('L') },
    })
  })

  test('MC-SUB-02, MC-SUB-15: carry only what was asked for, and neither progress nor logs', async () => {
    const { dispatcher, emit } = listening()
    const peer = serve(dispatcher)
    peer.write(modern('L', 'subscriptions/listen', filter, { progressToken: 1, [metaKey.logLevel]: 'debug' }))
    await peer.read()
    emit({ method: 'notifications/prompts/list_changed', params: {} })
    emit({ method: 'notifications/resources/updated', params: { uri: 'a:b' } })
    emit({ method: 'notifications/progress', params: { progress: 1 } })
    emit({ method: 'notifications/message', params: { level: 'error', data: 1 } })
    expect(await peer.rest()).toEqual([])
  })

  test('MC-SUB-11, MC-SUB-12, MC-CANC-12, A-07: end with their result and then the notice', async () => {
    const { dispatcher, end } = listening()
    const peer = serve(dispatcher)
    peer.write(modern('L', 'subscriptions/listen', filter))
    await peer.read()
    end()
    await turn()
    expect(await peer.rest()).toEqual([
      { jsonrpc: '2.0', id: 'L', result: { resultType: 'complete', _meta: { ...tag('L'), ...serverInfo } } },
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'L', _meta: tag('L') } },
    ])
  })

  test('A-44, MC-SUB-10: nothing more is written after the client has cancelled', async () => {
    const { dispatcher, emit, aborted } = listening()
    const peer = serve(dispatcher)
    peer.write(modern('L', 'subscriptions/listen', filter))
    await peer.read()
    peer.write(notification('notifications/cancelled', { requestId: 'L' }))
    await turn()
    expect(aborted()).toMatchObject({ name: 'AbortError' })
    emit({ method: 'notifications/tools/list_changed', params: {} })
    expect(await peer.rest()).toEqual([])
  })

  test('MC-SUB-11: end in order at shutdown and when the peer closes its side, and are released', async () => {
    for (const stop of ['signal', 'end'] as const) {
      const { dispatcher, aborted } = listening()
      const shutdown = new AbortController()
      const peer = serve(dispatcher, { signal: shutdown.signal })
      peer.write(modern('L', 'subscriptions/listen', filter))
      await peer.read()
      if (stop === 'signal') shutdown.abort()
      else peer.end()
      expect(await peer.read()).toMatchObject({ id: 'L', result: { resultType: 'complete' } })
      expect(await peer.read()).toMatchObject({ method: 'notifications/cancelled' })
      await peer.done
      expect(aborted()).toMatchObject({ name: 'AbortError' })
      expect(peer.closed).toBe(true)
    }
  })
})

describe('both eras on one pipe', () => {
  test('A-36, MC-ERA-01, MC-ERA-02, MC-ERA-03, MC-ERA-14: are told apart message by message', async () => {
    const peer = serve()
    peer.write(modern(1, 'tools/call', callTool('echo', { text: 'm' })))
    expect(await peer.read()).toMatchObject({ id: 1, result: { resultType: 'complete' } })
    peer.write(initialize(2))
    expect(await peer.read()).toMatchObject({ id: 2, result: { protocolVersion: legacyRevision } })
    peer.write(legacy(3, 'tools/call', callTool('echo', { text: 'l' })))
    expect(await peer.read()).toEqual({ jsonrpc: '2.0', id: 3, result: { content: [{ type: 'text', text: 'l' }] } })
    peer.write(modern(4, 'tools/call', callTool('echo', { text: 'm' })))
    expect(await peer.read()).toMatchObject({ id: 4, result: { resultType: 'complete' } })
  })

  test('A8: discovery, however often, does not pin the era', async () => {
    const peer = serve()
    peer.write(modern(1, 'server/discover'), modern(2, 'server/discover'), initialize(3))
    const answers = await peer.rest()
    expect(answers.map(({ id }) => id)).toEqual([1, 2, 3])
    expect(answers[2]).toMatchObject({ result: { protocolVersion: legacyRevision } })
  })

  test('A-35, A10: without a claim and before initialize only ping is answered', async () => {
    const peer = serve()
    peer.write(legacy(1, 'ping'), legacy(2, 'tools/list'))
    expect(await peer.read()).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
    expect(await peer.read()).toMatchObject({
      id: 2,
      error: { code: -32_602, message: expect.stringMatching(/protocolVersion.*initialize/) },
    })
    expect(peer.dispatcher.calls).toEqual([])
  })

  test('MC-ERA-12, MC-VER-05, A-24: a modern-only server names its versions to a legacy client', async () => {
    const peer = serve(createScriptedDispatcher(), { policy: createRevisionPolicy({ legacy: [] }) })
    peer.write(initialize(1))
    expect(await peer.read()).toMatchObject({
      id: 1,
      error: {
        code: -32_022,
        message: expect.stringContaining(modernRevision),
        data: { supported: [modernRevision], requested: legacyRevision },
      },
    })
  })

  test('a legacy-only server serves no modern request', async () => {
    const peer = serve(createScriptedDispatcher(), { policy: createRevisionPolicy({ modern: [] }) })
    peer.write(modern(1, 'tools/call', callTool('echo')))
    expect(await peer.read()).toMatchObject({ id: 1, error: { code: -32_022, data: { supported: [legacyRevision] } } })
  })

  test('E1, B13: ids and cancels are shared by both eras', async () => {
    const peer = serve(createScriptedDispatcher().on('tool:hang', untilAborted))
    peer.write(initialize('i'))
    await peer.read()
    peer.write(legacy(1, 'tools/call', callTool('hang')))
    await turn()
    peer.write(modern(1, 'tools/call', callTool('echo')))
    expect(await peer.rest()).toEqual([])
    expect(codes(peer)).toEqual(['duplicate-id'])
    peer.write(notification('notifications/cancelled', { requestId: 1, _meta: modernMeta() }))
    await turn()
    peer.write(modern(1, 'tools/call', callTool('echo')))
    expect(await peer.read()).toMatchObject({ id: 1, result: { resultType: 'complete' } })
  })

  test('MC-MSG-08, MC-MSG-09: notifications are never answered, extensions reach the dispatcher', async () => {
    const peer = serve()
    peer.write(
      notification('notifications/initialized'),
      notification('notifications/unknown'),
      notification('notifications/x', { a: 1, _meta: modernMeta() }),
      notification('notifications/roots/list_changed', { _meta: modernMeta() }),
    )
    expect(await peer.rest()).toEqual([])
    expect(peer.dispatcher.notices.map(({ method }) => method)).toEqual(['notifications/x'])
  })
})

describe('payloads that are left as source text, as a relay wants them', () => {
  test('E11: are served alike in both eras, and arguments reach the dispatcher as they were written', async () => {
    const arrived: string[] = []
    const dispatcher = createScriptedDispatcher()
      .on('tool:raw', (_params, _context, call) => {
        arrived.push(JsonText.is(call.params) ? (call.params.member('arguments')?.text ?? '') : 'parsed')
        return text('')
      })
      .on('tool:hang', untilAborted)
    const peer = serve(dispatcher, { payload: 'text' })
    const call = (id: number, meta: string): string =>
      `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"arguments":{"n":9007199254740993, "e":1e400},"name":"raw"${meta}}}`
    peer.write(call(1, `,"_meta":${JSON.stringify(modernMeta({ progressToken: 'p' }))}`), initialize(2), call(3, ''))
    expect(await peer.rest()).toMatchObject([{ id: 1 }, { id: 2 }, { id: 3 }])
    expect(arrived).toEqual(['{"n":9007199254740993, "e":1e400}', '{"n":9007199254740993, "e":1e400}'])
    expect(dispatcher.calls[0]?.context.progressToken).toBe('p')
    peer.write(legacy(4, 'tools/call', callTool('hang')))
    await turn()
    peer.write(notification('notifications/cancelled', { requestId: 4 }))
    await turn()
    expect(lastCall(peer).context.signal.aborted).toBe(true)
    peer.write(modern(5, 'tools/call', { name: 'raw', arguments: [] }), legacy(6, 'tools/call', {}))
    expect(await peer.rest()).toMatchObject([
      { id: 5, error: { code: -32_602 } },
      { id: 6, error: { code: -32_602 } },
    ])
  })
})

describe('what is no message', () => {
  test('D5, E2, A-11, MC-MSG-06, MC-MSG-15: is answered without an id that could not be read, and serving goes on', async () => {
    const peer = serve()
    peer.write('{"jsonrpc":"2.0","method":"x","params":')
    expect(await peer.read()).toEqual({
      jsonrpc: '2.0',
      error: { code: -32_700, message: expect.stringMatching(/^Parse error/) },
    })
    peer.write(legacy(1, 'ping'))
    expect(await peer.read()).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
  })

  test('lines that are not JSON are answered at most once a second', async () => {
    const clock = createManualClock()
    const peer = serve(createScriptedDispatcher(), { clock })
    peer.write('nope', 'nope', 'nope')
    expect(await peer.rest()).toHaveLength(1)
    clock.advance(999)
    peer.write('nope')
    expect(await peer.rest()).toEqual([])
    clock.advance(1)
    peer.write('nope')
    expect(await peer.rest()).toHaveLength(1)
    expect(codes(peer)).toEqual(Array(5).fill('not-json'))
  })

  test.each([
    [
      'E4, MC-MSG-13, LG-MSG-05: a batch',
      [modern(1, 'tools/call', callTool('echo')), { jsonrpc: '2.0', id: 2, method: 'ping' }],
    ],
    ['E4: an empty batch', []],
    ['E4: a batch of nothing', [1]],
    ['E5: a number', '123'],
    ['E5: a string', '"x"'],
    ['E5: an id that is null', { jsonrpc: '2.0', id: null, method: 'ping' }],
    ['E1: an id that is a fraction', { jsonrpc: '2.0', id: 1.5, method: 'ping' }],
  ])('%s: one -32600 without id, nothing is run', async (_why, line) => {
    const peer = serve()
    peer.write(line)
    expect(await peer.rest()).toEqual([{ jsonrpc: '2.0', error: { code: -32_600, message: expect.any(String) } }])
    expect(peer.dispatcher.calls).toEqual([])
  })

  test.each([
    ['E5: another jsonrpc', { jsonrpc: '1.0', id: 1, method: 'ping' }],
    ['E5: no jsonrpc', { id: 1, method: 'ping' }],
    ['E5: a method that is no string', { jsonrpc: '2.0', id: 1, method: 7 }],
    ['E5: params that are an array', { jsonrpc: '2.0', id: 1, method: 'ping', params: [] }],
    ['A-23: params that are null', { jsonrpc: '2.0', id: 1, method: 'ping', params: null }],
  ])('%s: -32600 with the id', async (_why, line) => {
    const peer = serve()
    peer.write(line)
    expect(await peer.rest()).toEqual([
      { jsonrpc: '2.0', id: 1, error: { code: -32_600, message: expect.any(String) } },
    ])
  })

  test('MC-MSG-08: broken notifications and responses are not answered', async () => {
    const peer = serve()
    peer.write(
      { jsonrpc: '2.0', method: 'notifications/x', params: [] },
      { jsonrpc: '2.0', id: 1, result: {}, error: { code: 1, message: 'm' } },
      { jsonrpc: '2.0', id: 1, result: {} },
    )
    expect(await peer.rest()).toEqual([])
    expect(codes(peer)).toEqual(['not-a-message', 'not-a-message', 'unexpected-response'])
  })

  test('a broken message with the id of an open call is not answered in its place', async () => {
    const wait = deferred<ReturnType<typeof text>>()
    const peer = serve(createScriptedDispatcher().on('tool:wait', () => wait.promise))
    peer.write(modern(1, 'tools/call', callTool('wait')))
    await turn()
    peer.write({ jsonrpc: '2.0', id: 1, method: 7 })
    expect(await peer.rest()).toEqual([])
    wait.resolve(text('whole'))
    expect(await peer.read()).toMatchObject({ id: 1, result: { content: [{ text: 'whole' }] } })
  })
})

describe('the end', () => {
  test('D11: calls that were accepted finish and are answered after the peer has closed its side', async () => {
    const slow = deferred<ReturnType<typeof text>>()
    const peer = serve(createScriptedDispatcher().on('tool:slow', () => slow.promise))
    peer.write(initialize(1), notification('notifications/initialized'), legacy(2, 'tools/call', callTool('slow')))
    peer.end()
    await turn()
    slow.resolve(text('made it'))
    await peer.done
    expect(peer.written.map((line) => JSON.parse(line) as JsonObject)).toMatchObject([
      { id: 1 },
      { id: 2, result: { content: [{ text: 'made it' }] } },
    ])
    expect(peer.closed).toBe(true)
  })

  test('D11, D10: but only for a bounded time; then they are aborted and told so', async () => {
    const clock = createManualClock()
    let reason: unknown
    const dispatcher = createScriptedDispatcher().on('tool:hang', (params, context, call) => {
      context.signal.addEventListener('abort', () => (reason = context.signal.reason))
      return untilAborted(params, context, call)
    })
    const peer = serve(dispatcher, { clock, flushTimeoutMs: 5_000 })
    peer.write(modern(1, 'tools/call', callTool('hang')))
    peer.end()
    await turn()
    clock.advance(4_999)
    expect(await peer.rest()).toEqual([])
    clock.advance(1)
    await peer.done
    expect(await peer.read()).toMatchObject({ id: 1, error: { code: -32_603 } })
    expect(reason).toMatchObject({ name: 'AbortError' })
  })

  test('D10: with nothing in flight it is over at once', async () => {
    const peer = serve()
    peer.end()
    await peer.done
    expect(peer.closed).toBe(true)
  })

  test('a broken connection aborts its calls at once and writes nothing more', async () => {
    let reason: unknown
    const dispatcher = createScriptedDispatcher().on('tool:hang', (params, context, call) => {
      context.signal.addEventListener('abort', () => (reason = context.signal.reason))
      return untilAborted(params, context, call)
    })
    const peer = serve(dispatcher)
    peer.write(modern(1, 'tools/call', callTool('hang')))
    await turn()
    peer.break()
    await peer.done
    expect(reason).toMatchObject({ kind: 'closed' })
    expect(peer.written).toEqual([])
    expect(codes(peer)).toEqual(['connection-broken'])
  })

  test('D7: a peer that cannot be understood is told of as something to mend, one that left is not', async () => {
    const [mistaken, gone] = [serve(), serve()]
    mistaken.break(new TransportError('protocol', 'Content-Length framing'))
    gone.break()
    await Promise.all([mistaken.done, gone.done])
    expect(mistaken.diagnostics).toMatchObject([{ level: 'warning', code: 'connection-broken' }])
    expect(gone.diagnostics).toMatchObject([{ level: 'info', code: 'connection-broken' }])
  })

  test('a handler that will not let go is left behind after a moment, and reported', async () => {
    const clock = createManualClock()
    const peer = serve(
      createScriptedDispatcher().on('tool:stuck', () => new Promise(() => undefined)),
      { clock },
    )
    peer.write(modern(1, 'tools/call', callTool('stuck')))
    await turn()
    peer.break()
    await turn()
    clock.advance(1_000)
    await peer.done
    expect(codes(peer)).toEqual(['connection-broken', 'handler-stuck'])
    expect(clock.waiting).toBe(0)
  })

  test('shutdown: running calls finish, new ones are refused, then the connection is closed', async () => {
    const shutdown = new AbortController()
    const slow = deferred<ReturnType<typeof text>>()
    const peer = serve(
      createScriptedDispatcher().on('tool:slow', () => slow.promise),
      { signal: shutdown.signal },
    )
    peer.write(modern(1, 'tools/call', callTool('slow')))
    await turn()
    shutdown.abort()
    peer.write(modern(2, 'tools/call', callTool('echo')))
    expect(await peer.read()).toMatchObject({ id: 2, error: { code: -32_603, message: 'The server is shutting down' } })
    expect(peer.closed).toBe(false)
    slow.resolve(text('done'))
    expect(await peer.read()).toMatchObject({ id: 1, result: {} })
    await peer.done
    expect(peer.closed).toBe(true)
  })

  test('a signal that has aborted before ends it at once', async () => {
    const peer = serve(createScriptedDispatcher(), { signal: AbortSignal.abort() })
    await peer.done
    expect(peer.closed).toBe(true)
  })

  test('the dispatcher is never drained: other connections may use it', async () => {
    const dispatcher = createScriptedDispatcher()
    let drained = false
    dispatcher.drain = () => {
      drained = true
      return Promise.resolve()
    }
    const peer = serve(dispatcher)
    peer.end()
    await peer.done
    expect(drained).toBe(false)
  })
})

describe('a peer that does not read', () => {
  test('is not read from either until it does; answers do not pile up', async () => {
    const peer = serve()
    peer.stopReading()
    peer.write(modern(1, 'tools/call', callTool('echo')))
    peer.write(modern(2, 'tools/call', callTool('echo')))
    await turn()
    expect(peer.dispatcher.calls).toHaveLength(1)
    peer.drink()
    await turn()
    expect(peer.dispatcher.calls).toHaveLength(2)
  })

  test('holds back the handler that waits for its notices', async () => {
    let taken = false
    const dispatcher = createScriptedDispatcher().on('tool:talk', async (_params, context) => {
      await context.emit({ method: 'notifications/progress', params: { progress: 1 } })
      taken = true
      return text('')
    })
    const peer = serve(dispatcher)
    peer.stopReading()
    peer.write(modern(1, 'tools/call', callTool('talk'), { progressToken: 1 }))
    await turn()
    expect(taken).toBe(false)
    peer.drink()
    await turn()
    expect(taken).toBe(true)
  })
})

function claiming(version: unknown): JsonObject {
  return modern(1, 'tools/list', {}, { [metaKey.protocolVersion]: version as string })
}

function without(key: string): JsonObject {
  const meta = Object.fromEntries(Object.entries(modernMeta()).filter(([name]) => name !== key))
  return { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } }
}
