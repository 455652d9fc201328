import {
  type Call,
  type JsonObject,
  type Outcome,
  type Principal,
  RpcError,
  TransportError,
  toObject,
} from '@atenea/mcpcompat'
import {
  type ClientConnection,
  createCallerContext,
  type CreateCallerContextOptions,
} from '@atenea/mcpcompat/transport'
import { describe, expect, vi } from 'vitest'
import { verifies } from './verifies.ts'

export interface DispatcherSuiteSetup {
  /**
   * Connects to a fresh server of `createServedCore`, in the given era, as a client that can be asked for `suiteCapabilities`.
   * The suite disposes the connection.
   */
  open(era: SuiteEra): Promise<ClientConnection>
  /** Who the server takes the client for. Default the client itself; somebody between them may speak for several. */
  readonly clientSeen?: ((era: SuiteEra) => JsonObject) | undefined
  /** Resolves when the servers of all connections have ended and nothing of them is left; fails when something stays. */
  allGone(): Promise<void>
}

export type SuiteEra = 'modern' | 'legacy'

/** What the client of the suite can be asked, in the form of the modern revision. */
export const suiteCapabilities: JsonObject = { elicitation: { form: {} }, sampling: {}, roots: {} }

const principal: Principal = { id: 'suite', authenticated: true }
const peer = { name: 'suite', version: '1.0.0', capabilities: suiteCapabilities }

/**
 * What a server owes to its client whatever carries the calls and whichever era they are in: a real core, really served, called by a
 * real client. What differs between the eras is what the toolkit is there to hide, so each expectation stands here once.
 */
export function dispatcherSuite(carrier: string, setup: DispatcherSuiteSetup): void {
  for (const era of ['modern', 'legacy'] as const) {
    describe(`calls over ${carrier}, ${era}`, () => {
      listsAndCalls(connecting(setup, era), setup.clientSeen?.(era) ?? { name: 'suite', version: '1.0.0' })
      whileCallsRun(connecting(setup, era))
      questions(connecting(setup, era))
      changes(connecting(setup, era))
      ends(connecting(setup, era))
    })
  }
}

/** A connection in the hands of a test. */
interface Caller {
  readonly connection: ClientConnection
  readonly call: (method: string, params?: JsonObject, options?: CreateCallerContextOptions) => Promise<Outcome>
  /** Calls a tool and gives its result, or throws. */
  readonly tool: (name: string, args?: JsonObject, options?: CreateCallerContextOptions) => Promise<JsonObject>
}

type Connecting = (use: (caller: Caller) => Promise<void>) => () => Promise<void>

function connecting(setup: DispatcherSuiteSetup, era: SuiteEra): Connecting {
  return (use) => async () => {
    const connection = await setup.open(era)
    const call: Caller['call'] = async (method, params = {}, options = {}) =>
      await connection.call({ method, params }, createCallerContext({ peer, principal, ...options }))
    try {
      await use({
        connection,
        call,
        tool: async (name, args = {}, options) =>
          resultOf(await call('tools/call', { name, arguments: args }, options)),
      })
    } finally {
      await connection[Symbol.asyncDispose]()
    }
    await setup.allGone()
  }
}

function resultOf(outcome: Outcome): JsonObject {
  if (outcome.kind !== 'result') throw new Error(`${outcome.kind} in place of a result`)
  return toObject(outcome.value)
}

function textOf(result: JsonObject): unknown {
  return (result['content'] as readonly { readonly text: unknown }[])[0]?.text
}

async function failureOf(outcome: Promise<unknown>): Promise<unknown> {
  try {
    await outcome
  } catch (error) {
    return error
  }
  throw new Error('it did not fail')
}

function listsAndCalls(connected: Connecting, clientSeen: JsonObject): void {
  verifies(
    'MC-DISC-05, MC-DISC-06, LG-LIFE-02',
    'the server says who it is and exactly what it offers',
    connected(async ({ connection }) => {
      expect(connection.server).toMatchObject({
        info: { name: 'served', version: '1.0.0' },
        instructions: 'For tests.',
        capabilities: {
          tools: { listChanged: true },
          prompts: {},
          resources: { subscribe: true, listChanged: true },
          completions: {},
          logging: {},
        },
      })
      await Promise.resolve()
    }),
  )

  verifies(
    'MC-TOOL-01, MC-TOOL-03, LG-TOOL-01',
    'tools are listed, the same every time',
    connected(async ({ call }) => {
      const [first, second] = [resultOf(await call('tools/list')), resultOf(await call('tools/list'))]
      expect(first['tools']).toEqual(second['tools'])
      expect((first['tools'] as JsonObject[])[0]).toMatchObject({
        name: 'echo',
        title: 'Echo',
        annotations: { readOnlyHint: true },
        inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
      })
    }),
  )

  verifies(
    'MC-TOOL-07, D19',
    'text of every kind comes back as it was, well-formed',
    connected(async ({ tool }) => {
      for (const text of ['', 'a\nb\r\nc', '読み🎉é', '\u2028\u0000\ufeff', '"\\__proto__']) {
        expect(textOf(await tool('echo', { text }))).toBe(text)
      }
      expect(textOf(await tool('sliced'))).toBe('x\ufffd')
      const big = '読x'.repeat(500_000)
      expect(textOf(await tool('echo', { text: big }))).toBe(big)
    }),
  )

  verifies(
    'MC-TOOL-06, MC-TOOL-08, LG-TOOL-03',
    'structured results fit their schema and have a text copy',
    connected(async ({ tool }) => {
      const result = await tool('list')
      expect(result['structuredContent']).toEqual({ values: [1, 2, 3] })
      expect(JSON.parse(textOf(result) as string)).toEqual({ values: [1, 2, 3] })
    }),
  )

  verifies(
    'MC-ERR-13, MC-TOOL-11, LG-TOOL-04, E13',
    'an unknown tool is -32602, whatever it is called',
    connected(async ({ tool }) => {
      for (const name of ['nothing', '', 'constructor', '__proto__', 'toString']) {
        const error = await failureOf(tool(name))
        expect(RpcError.is(error)).toBe(true)
        expect(error).toMatchObject({ code: -32_602 })
      }
    }),
  )

  verifies(
    'MC-ERR-12, BR-117',
    'an unknown method is -32601',
    connected(async ({ call }) => {
      expect(await failureOf(call('foo/bar'))).toMatchObject({ code: -32_601 })
    }),
  )

  verifies(
    'A-27, MC-TOOL-12',
    'arguments that do not fit, and tools that refuse, are results that a model can read',
    connected(async ({ tool }) => {
      expect(await tool('echo', { text: 1 })).toMatchObject({ isError: true, content: [{ type: 'text' }] })
      expect(await tool('refuses')).toMatchObject({ isError: true, content: [{ type: 'text', text: 'Not today.' }] })
    }),
  )

  verifies(
    'MC-TOOL-12, MC-ERR-14',
    'a handler that breaks tells nothing of its text, and the server lives',
    connected(async ({ tool }) => {
      const result = await tool('fails')
      expect(result).toMatchObject({ isError: true })
      expect(JSON.stringify(result)).not.toContain('secret')
      expect(textOf(await tool('echo', { text: 'on' }))).toBe('on')
    }),
  )

  verifies(
    'MC-META-11, E10',
    'a handler knows its client, and gets foreign metadata and no envelope',
    connected(async ({ tool }) => {
      const { structuredContent } = await tool('who', {}, { meta: { 'com.example/trace': [1], traceparent: '00-1' } })
      expect(structuredContent).toMatchObject({
        client: { ...clientSeen, capabilities: suiteCapabilities },
        meta: { 'com.example/trace': [1], traceparent: '00-1' },
      })
      expect(Object.keys((structuredContent as { meta: object }).meta)).toHaveLength(2)
    }),
  )

  verifies(
    'MC-PRM-01, MC-PRM-04, LG-PRM-01',
    'prompts are listed and given, bad ones refused',
    connected(async ({ call }) => {
      expect(resultOf(await call('prompts/list'))).toMatchObject({ prompts: [{ name: 'greet' }] })
      expect(resultOf(await call('prompts/get', { name: 'greet', arguments: { who: 'Ada' } }))).toMatchObject({
        messages: [{ role: 'user', content: { type: 'text', text: 'Say hello to Ada.' } }],
      })
      expect(await failureOf(call('prompts/get', { name: 'greet' }))).toMatchObject({ code: -32_602 })
      expect(await failureOf(call('prompts/get', { name: 'nothing' }))).toMatchObject({ code: -32_602 })
    }),
  )

  verifies(
    'MC-CMP-01, MC-CMP-03, LG-CMP-01',
    'arguments are completed',
    connected(async ({ call }) => {
      const ref = { type: 'ref/prompt', name: 'greet' }
      expect(resultOf(await call('completion/complete', { ref, argument: { name: 'who', value: 'A' } }))).toMatchObject(
        {
          completion: { values: ['Ada', 'Alan'] },
        },
      )
    }),
  )

  verifies(
    'MC-RES-01, MC-RES-07, MC-RES-08',
    'resources are listed and read, text and bytes, from templates too',
    connected(async ({ call }) => {
      expect(resultOf(await call('resources/list'))).toMatchObject({
        resources: [{ uri: 'note:///today' }, { uri: 'note:///other' }, { uri: 'note:///bytes' }],
      })
      expect(resultOf(await call('resources/templates/list'))).toMatchObject({
        resourceTemplates: [{ uriTemplate: 'note:///day/{day}' }],
      })
      const contents = async (uri: string): Promise<unknown> =>
        (resultOf(await call('resources/read', { uri }))['contents'] as unknown[])[0]
      expect(await contents('note:///today')).toMatchObject({ uri: 'note:///today', text: 'Tuesday' })
      expect(await contents('note:///bytes')).toMatchObject({ uri: 'note:///bytes', blob: 'AP+A' })
      expect(await contents('note:///day/7')).toMatchObject({ uri: 'note:///day/7', text: 'day 7' })
    }),
  )

  verifies(
    'MC-RES-03, MC-ERR-09, BR-128, BR-232',
    'a missing resource is -32602 and named',
    connected(async ({ call }) => {
      expect(await failureOf(call('resources/read', { uri: 'note:///gone' }))).toMatchObject({
        code: -32_602,
        data: { uri: 'note:///gone' },
      })
    }),
  )
}

function whileCallsRun(connected: Connecting): void {
  verifies(
    'D16, MC-STL-02',
    'a slow call holds nothing up, and many run at once',
    connected(async ({ tool }) => {
      const done: string[] = []
      const slow = tool('sleep', { ms: 300 }).then(() => done.push('slow'))
      await tool('echo').then(() => done.push('quick'))
      const many = await Promise.all(Array.from({ length: 64 }, (_, index) => tool('echo', { text: String(index) })))
      expect(many.map(textOf)).toEqual(many.map((_, index) => String(index)))
      await slow
      expect(done).toEqual(['quick', 'slow'])
    }),
  )

  verifies(
    'MC-PROG-03, MC-PROG-04, MC-LOG-03, LG-PROG-02',
    'progress and log messages come before the result, as far as they were asked for',
    connected(async ({ tool }) => {
      const notices: Call[] = []
      const options = {
        progressToken: 'p',
        logLevel: 'warning',
        onNotice: (notice: Call) => void notices.push(notice),
      } as const
      expect(textOf(await tool('works', {}, options))).toBe('worked')
      expect(notices).toEqual([
        { method: 'notifications/progress', params: { progress: 1, total: 3, message: 'one' } },
        { method: 'notifications/message', params: { level: 'warning', logger: 'works', data: { loud: true } } },
        { method: 'notifications/progress', params: { progress: 2, total: 3 } },
      ])
    }),
  )

  verifies(
    'MC-LOG-02, MC-PROG-05',
    'and nothing comes that was not',
    connected(async ({ tool }) => {
      const notices: Call[] = []
      await tool('works', {}, { onNotice: (notice) => void notices.push(notice) })
      expect(notices).toEqual([])
    }),
  )

  verifies(
    'MC-CANC-01, MC-CANC-06, MC-CANC-09, LG-CANC-03, B13',
    'a call that is given up rejects with the reason, its handler is stopped, and others go on',
    connected(async ({ tool }) => {
      const stop = new AbortController()
      const failure = failureOf(tool('sleep', { ms: 60_000 }, { signal: stop.signal }))
      const other = tool('sleep', { ms: 50 })
      await tool('echo')
      const reason = new Error('enough')
      stop.abort(reason)
      expect(await failure).toBe(reason)
      expect(textOf(await other)).toBe('slept')
      // The next call may go by another connection than the cancel, which then is in no hurry to be there before it.
      await vi.waitFor(async () => expect(textOf(await tool('aborted'))).toBe('1'), { timeout: 10_000, interval: 10 })
    }),
  )

  verifies(
    'MC-CANC-05',
    'a call that was given up before is not made',
    connected(async ({ tool }) => {
      const reason = new Error('before')
      expect(await failureOf(tool('sleep', { ms: 60_000 }, { signal: AbortSignal.abort(reason) }))).toBe(reason)
      expect(textOf(await tool('aborted'))).toBe('0')
    }),
  )

  verifies(
    'MC-TMO-01, LG-LIFE-10',
    'a time limit ends a call',
    connected(async ({ tool }) => {
      const failure = await failureOf(tool('sleep', { ms: 60_000 }, { signal: AbortSignal.timeout(50) }))
      expect(failure).toMatchObject({ name: 'TimeoutError' })
    }),
  )
}

function questions(connected: Connecting): void {
  const answers = {
    name: { action: 'accept', content: { name: 'Ada' } },
    model: { role: 'assistant', model: 'm-1', content: { type: 'text', text: 'Hi' } },
    folders: { roots: [{ uri: 'file:///home' }] },
  }

  /** Answers by what is asked, since the keys of a legacy server's questions are the client's. */
  function answer(asked: Outcome): JsonObject {
    if (asked.kind !== 'ask') throw new Error(`${asked.kind} in place of an ask`)
    const byMethod: Record<string, JsonObject> = {
      'elicitation/create': answers.name,
      'sampling/createMessage': answers.model,
      'roots/list': answers.folders,
    }
    return Object.fromEntries([...(asked.inputRequests ?? [])].map(([key, { method }]) => [key, byMethod[method]]))
  }

  function stateOf(asked: Outcome): string {
    if (asked.kind !== 'ask' || asked.requestState === undefined) throw new Error('no ask with a state')
    return asked.requestState
  }

  const params = { name: 'asks', arguments: { greeting: 'Hello' } }

  verifies(
    'MC-MRTR-02, MC-MRTR-04, MC-MRTR-16, BR-121, BR-221, F14',
    'a tool asks, the client answers, and the call goes on',
    connected(async ({ call }) => {
      const asked = await call('tools/call', params)
      if (asked.kind !== 'ask') throw new Error(`${asked.kind} in place of an ask`)
      expect([...(asked.inputRequests?.values() ?? [])].map(({ method }) => method).sort()).toEqual([
        'elicitation/create',
        'roots/list',
        'sampling/createMessage',
      ])
      const resume = { requestState: stateOf(asked), inputResponses: answer(asked) }
      expect(textOf(resultOf(await call('tools/call', params, { resume })))).toBe(
        'Hello, Ada of file:///home, says m-1',
      )
    }),
  )

  verifies(
    'MC-MRTR-12, MC-MRTR-23, BR-225',
    'answers that are missing are asked for again',
    connected(async ({ call }) => {
      const first = await call('tools/call', params)
      const again = await call('tools/call', params, { resume: { requestState: stateOf(first), inputResponses: {} } })
      const resume = { requestState: stateOf(again), inputResponses: answer(again) }
      expect(textOf(resultOf(await call('tools/call', params, { resume })))).toContain('Ada')
    }),
  )

  verifies(
    'MC-MRTR-08, MC-MRTR-09, MC-MRTR-10',
    'a state that was made up, or belongs to another call, is refused',
    connected(async ({ call }) => {
      const asked = await call('tools/call', params)
      const inputResponses = answer(asked)
      const other = { ...params, arguments: { greeting: 'Bye' } }
      for (const [retried, requestState] of [
        [params, 'made-up'],
        [other, stateOf(asked)],
      ] as const) {
        const failure = await failureOf(call('tools/call', retried, { resume: { requestState, inputResponses } }))
        expect(failure).toMatchObject({ code: -32_602 })
      }
    }),
  )
}

function changes(connected: Connecting): void {
  /** Listens until stopped; `next` waits for the next notice. */
  function listen(
    { call }: Caller,
    notifications: JsonObject,
  ): { next(): Promise<Call>; stop(reason: Error): void; outcome: Promise<Outcome> } {
    const notices: Call[] = []
    let wake = (): void => undefined
    const stop = new AbortController()
    const onNotice = (notice: Call): void => {
      notices.push(notice)
      wake()
    }
    const outcome = call('subscriptions/listen', { notifications }, { signal: stop.signal, onNotice })
    outcome.catch(() => undefined)
    return {
      outcome,
      stop: (reason) => stop.abort(reason),
      async next() {
        while (notices.length === 0) {
          await new Promise<void>((resolve, reject) => {
            const deadline = setTimeout(() => reject(new Error('no notice came')), 5_000)
            wake = () => {
              clearTimeout(deadline)
              resolve()
            }
            outcome.catch(reject)
          })
        }
        return notices.shift() as Call
      },
    }
  }

  verifies(
    'MC-SUB-02, MC-SUB-03, MC-SUB-05, MC-SUB-16, BR-102, BR-206',
    'a subscription is acknowledged with what can be had, then tells of that and nothing else',
    connected(async (caller) => {
      const all = listen(caller, {
        toolsListChanged: true,
        promptsListChanged: true,
        resourceSubscriptions: ['note:///today'],
      })
      expect(await all.next()).toEqual({
        method: 'notifications/subscriptions/acknowledged',
        params: { notifications: { toolsListChanged: true, resourceSubscriptions: ['note:///today'] } },
      })
      expect(textOf(await caller.tool('changes'))).toBe('changed')
      const told = [await all.next(), await all.next()].sort((a, b) => a.method.localeCompare(b.method))
      expect(told).toEqual([
        { method: 'notifications/resources/updated', params: { uri: 'note:///today' } },
        { method: 'notifications/tools/list_changed', params: {} },
      ])
      const only = listen(caller, { resourceSubscriptions: ['note:///other'] })
      await only.next()
      await caller.tool('changes')
      expect(await only.next()).toEqual({ method: 'notifications/resources/updated', params: { uri: 'note:///other' } })
    }),
  )

  verifies(
    'MC-SUB-09, MC-SUB-10, BR-207',
    'ends when it is given up, and others go on',
    connected(async (caller) => {
      const [first, second] = [listen(caller, { toolsListChanged: true }), listen(caller, { toolsListChanged: true })]
      await first.next()
      await second.next()
      const reason = new Error('enough')
      first.stop(reason)
      expect(await failureOf(first.outcome)).toBe(reason)
      await caller.tool('changes')
      expect(await second.next()).toMatchObject({ method: 'notifications/tools/list_changed' })
    }),
  )

  verifies(
    'MC-SUB-11, MC-SUB-12',
    'draining ends it with its result',
    connected(async (caller) => {
      const following = listen(caller, { toolsListChanged: true })
      await following.next()
      await caller.connection.drain()
      expect(await following.outcome).toMatchObject({ kind: 'result' })
      expect(textOf(await caller.tool('echo', { text: 'on' }))).toBe('on')
    }),
  )

  verifies(
    'A-31',
    'an empty wish is acknowledged as such and stays open; a malformed one is refused',
    connected(async (caller) => {
      const nothing = listen(caller, {})
      expect(await nothing.next()).toMatchObject({ params: { notifications: {} } })
      const failure = await failureOf(
        caller.call('subscriptions/listen', { notifications: { toolsListChanged: 'yes' } }),
      )
      expect(failure).toMatchObject({ code: -32_602 })
    }),
  )
}

function ends(connected: Connecting): void {
  verifies(
    'D14, MC-ERR-11',
    'when the connection goes, open calls fail at once with what cannot be taken for an answer',
    connected(async ({ connection, tool, call }) => {
      const open = failureOf(tool('sleep', { ms: 60_000 }))
      const listening = failureOf(call('subscriptions/listen', { notifications: { toolsListChanged: true } }))
      await tool('echo')
      await connection[Symbol.asyncDispose]()
      const failures = await Promise.all([open, listening])
      expect(failures.map((failure) => TransportError.is(failure) && failure.kind)).toEqual([
        'unknown-outcome',
        'closed',
      ])
      expect(failures.some((failure) => RpcError.is(failure))).toBe(false)
      expect(await failureOf(tool('echo'))).toMatchObject({ kind: 'closed' })
    }),
  )
}
