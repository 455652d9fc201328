import {
  type JsonObject,
  type LogLevel,
  type Outcome,
  createRevisionPolicy,
  legacyRevision,
  modernRevision,
  revisionsOf,
  toValue,
} from '@atenea/mcpcompat'
import {
  type ClientConnection,
  type Connection,
  type RpcMessage,
  connectDuplex,
  createCallerContext,
  createMemoryPair,
  metaKey,
  serveConnection,
} from '@atenea/mcpcompat/transport'
import { afterEach, describe, expect, test } from 'vitest'
import { createConformanceCore } from '../src/conformance-core.ts'
import { specFaults } from '../src/spec-schemas.ts'

type Era = 'modern' | 'legacy'
const revisionOf = { modern: modernRevision, legacy: legacyRevision } as const
const everything: JsonObject = { sampling: {}, elicitation: {}, roots: {} }

/** The specification's types of what a server writes, by method. */
const resultTypes: Readonly<Record<string, string>> = {
  initialize: 'InitializeResult',
  'server/discover': 'DiscoverResult',
  'tools/list': 'ListToolsResult',
  'tools/call': 'CallToolResult',
  'prompts/list': 'ListPromptsResult',
  'prompts/get': 'GetPromptResult',
  'resources/list': 'ListResourcesResult',
  'resources/templates/list': 'ListResourceTemplatesResult',
  'resources/read': 'ReadResourceResult',
  'completion/complete': 'CompleteResult',
  'subscriptions/listen': 'SubscriptionsListenResult',
}
const messageTypes: Readonly<Record<string, string>> = {
  'notifications/progress': 'ProgressNotification',
  'notifications/message': 'LoggingMessageNotification',
  'notifications/cancelled': 'CancelledNotification',
  'notifications/tools/list_changed': 'ToolListChangedNotification',
  'notifications/prompts/list_changed': 'PromptListChangedNotification',
  'notifications/resources/list_changed': 'ResourceListChangedNotification',
  'notifications/resources/updated': 'ResourceUpdatedNotification',
  'notifications/subscriptions/acknowledged': 'SubscriptionsAcknowledgedNotification',
  'elicitation/create': 'ElicitRequest',
  'sampling/createMessage': 'CreateMessageRequest',
  'roots/list': 'ListRootsRequest',
}

/** What the specification objects to in messages of a server. */
class Inspector {
  readonly faults: string[] = []
  /** Requests of the client. */
  readonly sent: { readonly method: string; readonly params: JsonObject }[] = []
  readonly #methods = new Map<unknown, string>()
  readonly #revision: string

  constructor(revision: string) {
    this.#revision = revision
  }

  asked(message: RpcMessage): void {
    if (message.kind !== 'request') return
    this.sent.push({ method: message.method, params: toValue(message.params ?? {}) as JsonObject })
    this.#methods.set(message.id, message.method)
  }

  answered(message: RpcMessage): void {
    if (message.kind === 'result') {
      const method = this.#methods.get(message.id) ?? ''
      const result = toValue(message.result) as JsonObject
      const type =
        result.resultType === 'input_required' ? 'InputRequiredResult' : (resultTypes[method] ?? 'EmptyResult')
      this.#check(type, result)
    } else if (message.kind === 'error') {
      this.#check(this.#revision === modernRevision ? 'Error' : 'JSONRPCError', errorOf(this.#revision, message))
    } else {
      const { method } = message
      const params = message.params === undefined ? undefined : toValue(message.params)
      this.#check(messageTypes[method] ?? `a type for ${method}`, {
        jsonrpc: '2.0',
        id: 1,
        method,
        ...(params !== undefined && { params }),
      })
    }
  }

  #check(type: string, value: unknown): void {
    this.faults.push(...specFaults(this.#revision, type, value).map((fault) => `${type} ${fault}`))
  }
}

function errorOf(revision: string, { id, error }: Extract<RpcMessage, { kind: 'error' }>): object {
  const { code, message, data } = error
  const plain = { code, message, ...(data !== undefined && { data: toValue(data) }) }
  return revision === modernRevision ? plain : { jsonrpc: '2.0', id, error: plain }
}

/** A connection on which everything is inspected. */
function inspected(connection: Connection, inspector: Inspector): Connection {
  return {
    inbound: (async function* () {
      for await (const batch of connection.inbound) {
        for (const { message } of batch) if (message.kind !== 'reject') inspector.answered(message)
        yield batch
      }
    })(),
    send(message, options) {
      inspector.asked(message)
      return connection.send(message, options)
    },
    [Symbol.asyncDispose]: async () => connection[Symbol.asyncDispose](),
  }
}

/** What each client can be asked for. */
const capabilitiesOf = new WeakMap<ClientConnection, JsonObject>()
const open: { client: ClientConnection; inspector: Inspector }[] = []

async function connect(
  era: Era,
  capabilities: JsonObject = everything,
  revision: string = revisionOf[era],
): Promise<ClientConnection> {
  const policy = createRevisionPolicy({
    modern: [modernRevision],
    legacy: [era === 'legacy' ? revision : legacyRevision],
  })
  const [clientEnd, serverEnd] = createMemoryPair()
  void serveConnection(serverEnd, createConformanceCore(), { policy })
  const inspector = new Inspector(revision)
  const client = await connectDuplex(() => Promise.resolve(inspected(clientEnd, inspector)), {
    policy,
    mode: era,
    info: { name: 'test', version: '1' },
    capabilities,
    startsProcess: false,
  })
  capabilitiesOf.set(client, capabilities)
  open.push({ client, inspector })
  return client
}

afterEach(async () => {
  const faults: string[] = []
  for (const { client, inspector } of open.splice(0)) {
    await client[Symbol.asyncDispose]()
    faults.push(...inspector.faults)
  }
  if (faults.length > 0) throw new Error(`the specification objects:\n${faults.join('\n')}`)
})

interface CallOptions {
  readonly notices?: string[]
  readonly logLevel?: LogLevel
  readonly resume?: { inputResponses: JsonObject; requestState?: string | undefined }
}

async function outcomeOf(
  client: ClientConnection,
  method: string,
  params: JsonObject,
  options: CallOptions = {},
): Promise<Outcome> {
  const { notices, logLevel, resume } = options
  const { requestState, inputResponses } = resume ?? {}
  return client.call(
    { method, params },
    createCallerContext({
      peer: { name: 'test', version: '1', capabilities: capabilitiesOf.get(client) ?? {} },
      ...(notices && { progressToken: 'progress-test-1', onNotice: (notice) => void notices.push(notice.method) }),
      ...(logLevel && { logLevel }),
      ...(inputResponses && { resume: { inputResponses, ...(requestState !== undefined && { requestState }) } }),
    }),
  )
}

async function resultOf(
  client: ClientConnection,
  method: string,
  params: JsonObject = {},
  options: CallOptions = {},
): Promise<JsonObject> {
  const outcome = await outcomeOf(client, method, params, options)
  if (outcome.kind !== 'result') throw new Error(`the outcome of ${method} is ${outcome.kind}`)
  return toValue(outcome.value) as JsonObject
}

/** Answers what is asked, round after round, and gives the keys of each round and the result. */
async function answerAll(
  client: ClientConnection,
  method: string,
  params: JsonObject,
  answers: JsonObject,
): Promise<{ rounds: string[][]; result: JsonObject }> {
  const rounds: string[][] = []
  let options: CallOptions = {}
  for (;;) {
    const outcome = await outcomeOf(client, method, params, options)
    if (outcome.kind === 'result') return { rounds, result: toValue(outcome.value) as JsonObject }
    if (outcome.kind !== 'ask' || rounds.length > 3) throw new Error(`the outcome is ${outcome.kind}`)
    const asked = [...(outcome.inputRequests ?? [])]
    rounds.push(asked.map(([, { method: kind }]) => kind))
    const inputResponses = Object.fromEntries(
      asked.map(([key, call]) => [key, answers[key] ?? answers[call.method] ?? {}]),
    )
    options = { resume: { inputResponses, requestState: outcome.requestState } }
  }
}

const text = (result: JsonObject): string => ((result.content as JsonObject[])[0] as { text: string }).text
const accept = (content: JsonObject): JsonObject => ({ action: 'accept', content })

describe.each(['modern', 'legacy'] as const)('the conformance fixture in the %s era', (era) => {
  test('lists', async () => {
    const client = await connect(era)
    const { tools } = await resultOf(client, 'tools/list')
    expect((tools as JsonObject[]).map(({ name }) => name)).toContain('test_simple_text')
    expect(
      (tools as JsonObject[]).every(
        ({ description, inputSchema }) => Boolean(description) && inputSchema !== undefined,
      ),
    ).toBe(true)
    expect(await resultOf(client, 'tools/list')).toEqual(await resultOf(client, 'tools/list'))
    expect(((await resultOf(client, 'prompts/list')).prompts as unknown[]).length).toBe(5)
    expect(((await resultOf(client, 'resources/list')).resources as unknown[]).length).toBe(3)
    expect(((await resultOf(client, 'resources/templates/list')).resourceTemplates as unknown[]).length).toBe(1)
  })

  test.each([
    ['test_simple_text', ['text']],
    ['test_image_content', ['image']],
    ['test_audio_content', ['audio']],
    ['test_embedded_resource', ['resource']],
    ['test_multiple_content_types', ['text', 'image', 'resource']],
    ['test_error_handling', ['text']],
    ['test_x_mcp_header', ['text']],
  ])('%s gives %j', async (name, types) => {
    const result = await resultOf(await connect(era), 'tools/call', { name })
    expect((result.content as JsonObject[]).map(({ type }) => type)).toEqual(types)
    expect(result.isError).toBe(name === 'test_error_handling' ? true : undefined)
  })

  test('MC-TOOL-04, MC-SCH-09: a schema of many keywords is listed and checked', async () => {
    const client = await connect(era)
    const call = (args: JsonObject) =>
      resultOf(client, 'tools/call', { name: 'json_schema_2020_12_tool', arguments: args })
    expect((await call({ email: 'a' })).isError).toBeUndefined()
    expect((await call({ contactMethod: 'phone', email: 'a' })).isError).toBe(true)
  })

  test('progress and log messages', async () => {
    const client = await connect(era)
    const notices: string[] = []
    await resultOf(client, 'tools/call', { name: 'test_tool_with_progress' }, { notices })
    expect(notices).toEqual(Array(3).fill('notifications/progress'))
    notices.length = 0
    await resultOf(client, 'tools/call', { name: 'test_tool_with_logging' }, { notices, logLevel: 'debug' })
    expect(notices).toEqual(Array(3).fill('notifications/message'))
  })

  test('reading, prompts and completion', async () => {
    const client = await connect(era)
    const read = async (uri: string) =>
      ((await resultOf(client, 'resources/read', { uri })).contents as JsonObject[])[0]
    expect(await read('test://static-text')).toMatchObject({
      mimeType: 'text/plain',
      text: expect.stringContaining('static text') as string,
    })
    expect(await read('test://static-binary')).toMatchObject({
      mimeType: 'image/png',
      blob: expect.stringMatching(/^iVBOR/) as string,
    })
    expect(await read('test://template/123/data')).toMatchObject({ text: expect.stringContaining('123') as string })
    const uri = 'test://nonexistent-resource-for-conformance-testing'
    await expect(outcomeOf(client, 'resources/read', { uri })).rejects.toMatchObject({ data: { uri } })
    const get = async (name: string, args?: JsonObject) =>
      JSON.stringify((await resultOf(client, 'prompts/get', { name, ...(args && { arguments: args }) })).messages)
    expect(await get('test_simple_prompt')).toContain('simple prompt')
    expect(await get('test_prompt_with_arguments', { arg1: 'testValue1', arg2: 'testValue2' })).toMatch(
      /testValue1.*testValue2/,
    )
    expect(await get('test_prompt_with_embedded_resource', { resourceUri: 'test://x' })).toContain('"resource"')
    expect(await get('test_prompt_with_image')).toContain('"image"')
    const ref = { type: 'ref/prompt', name: 'test_prompt_with_arguments' }
    expect(
      await resultOf(client, 'completion/complete', { ref, argument: { name: 'arg1', value: 'test' } }),
    ).toMatchObject({
      completion: { values: ['testValue1'] },
    })
  })

  test.each<[name: string, rounds: string[][], answers: JsonObject, expected: string, params?: JsonObject]>([
    ['test_sampling', [['sampling/createMessage']], {}, 'LLM response', { prompt: 'Test prompt for sampling' }],
    ['test_elicitation', [['elicitation/create']], {}, 'testuser', { message: 'Please provide your information' }],
    [
      'test_elicitation_sep1034_defaults',
      [['elicitation/create']],
      { 'elicitation/create': accept({ age: 3 }) },
      '"age":3',
    ],
    [
      'test_input_required_result_elicitation',
      [['elicitation/create']],
      { user_name: accept({ name: 'Ada' }), 'elicitation/create': accept({ name: 'Ada' }) },
      'Hello, Ada!',
    ],
    ['test_input_required_result_sampling', [['sampling/createMessage']], {}, 'Paris'],
    ['test_input_required_result_list_roots', [['roots/list']], {}, 'file:///test/root'],
    [
      'test_input_required_result_multiple_inputs',
      [['elicitation/create', 'sampling/createMessage', 'roots/list']],
      { 'elicitation/create': accept({ name: 'Ada' }) },
      'file:///test/root',
    ],
    [
      'test_input_required_result_request_state',
      [['elicitation/create']],
      { 'elicitation/create': accept({ ok: true }) },
      'state-ok',
    ],
    [
      'test_input_required_result_multi_round',
      [['elicitation/create'], ['elicitation/create']],
      { 'elicitation/create': accept({ name: 'Ada', color: 'blue' }) },
      'Ada likes blue',
    ],
    ['test_streaming_elicitation', [['elicitation/create']], {}, 'done'],
  ])('%s asks for %j', async (name, rounds, answers, expected, args) => {
    const client = await connect(era)
    const known: JsonObject = {
      'elicitation/create': accept({ username: 'testuser', email: 'test@example.com' }),
      'sampling/createMessage': { role: 'assistant', content: { type: 'text', text: 'Paris' }, model: 'm' },
      'roots/list': { roots: [{ uri: 'file:///test/root' }] },
      ...answers,
    }
    const answered = await answerAll(client, 'tools/call', { name, ...(args && { arguments: args }) }, known)
    expect(answered.rounds).toEqual(rounds)
    expect(text(answered.result)).toContain(expected)
  })

  test('choices, as far as the revision knows them', async () => {
    const name = 'test_elicitation_sep1330_enums'
    const answered = answerAll(
      await connect(era),
      'tools/call',
      { name },
      { choices: accept({ titledSingle: 'value2' }) },
    )
    const told = await answered.then(
      ({ result }) => text(result),
      (error: Error) => error.message,
    )
    expect(told).toContain(era === 'modern' ? '"titledSingle":"value2"' : 'cannot show a field with several choices')
  })

  test('MC-MRTR-02: a prompt asks as well', async () => {
    const answers = { 'elicitation/create': accept({ context: 'testing' }) }
    const answered = await answerAll(
      await connect(era),
      'prompts/get',
      { name: 'test_input_required_result_prompt' },
      answers,
    )
    expect(answered.rounds).toEqual([['elicitation/create']])
    expect(JSON.stringify(answered.result)).toContain('Context: testing')
  })

  test('B11, A-55: only what the client can answer is asked', async () => {
    const client = await connect(era, { sampling: {} })
    const outcome = await outcomeOf(client, 'tools/call', { name: 'test_input_required_result_capabilities' })
    expect(outcome).toMatchObject({ kind: 'ask' })
    expect(
      [...((outcome as { inputRequests?: Map<string, { method: string }> }).inputRequests ?? [])].map(
        ([, { method }]) => method,
      ),
    ).toEqual(['sampling/createMessage'])
  })

  test('changes are told to whoever listens', async () => {
    const client = await connect(era)
    const controller = new AbortController()
    const heard: string[] = []
    const listening = Promise.resolve(
      client.call(
        {
          method: 'subscriptions/listen',
          params: { notifications: { toolsListChanged: true, resourceSubscriptions: ['test://watched-resource'] } },
        },
        createCallerContext({ signal: controller.signal, onNotice: (notice) => void heard.push(notice.method) }),
      ),
    )
    listening.catch(() => undefined)
    while (heard.length === 0) await new Promise((resolve) => setImmediate(resolve))
    await resultOf(client, 'tools/call', { name: 'test_trigger_prompt_change' })
    await resultOf(client, 'tools/call', { name: 'test_trigger_tool_change' })
    while (heard.length < 2) await new Promise((resolve) => setImmediate(resolve))
    controller.abort(new Error('enough'))
    await expect(listening).rejects.toThrow('enough')
    expect(heard).toEqual(['notifications/subscriptions/acknowledged', 'notifications/tools/list_changed'])
  })
})

test('a later legacy revision shows every choice', async () => {
  const [latest] = revisionsOf('legacy')
  const client = await connect('legacy', everything, latest)
  expect(client.observed).toBe(latest)
  const answers = { 'elicitation/create': accept({ titledSingle: 'value2', untitledMulti: ['option1', 'option3'] }) }
  const answered = await answerAll(client, 'tools/call', { name: 'test_elicitation_sep1330_enums' }, answers)
  expect(text(answered.result)).toContain('"untitledMulti":["option1","option3"]')
})

describe('what the modern era asks for by itself', () => {
  const code = async (client: ClientConnection, params: JsonObject, options: CallOptions = {}) =>
    outcomeOf(client, 'tools/call', params, options).then(
      (outcome) => outcome.kind,
      (error: { code: number; data?: unknown }) => ({ code: error.code, data: error.data }),
    )

  test('MC-MRTR-21, MC-MRTR-22, MC-MRTR-23: answers that come cold, are wrong, or are more than was asked', async () => {
    const client = await connect('modern')
    const name = 'test_input_required_result_elicitation'
    const retry = (inputResponses: JsonObject) => code(client, { name }, { resume: { inputResponses } })
    expect(await retry({ user_name: accept({ name: 'Ada' }) })).toBe('result')
    expect(await retry({ user_name: accept({ name: 'Ada' }), more: { a: 1 } })).toBe('result')
    expect(await retry({ wrong: accept({ name: 'Ada' }) })).toBe('ask')
    expect(await retry({ user_name: 12_345 })).toMatchObject({ code: -32_602 })
  })

  test('MC-MRTR-09: state that was tampered with is refused', async () => {
    const client = await connect('modern')
    const name = 'test_input_required_result_tampered_state'
    const outcome = await outcomeOf(client, 'tools/call', { name })
    const { requestState } = outcome as { requestState?: string }
    const resume = { inputResponses: { confirm: accept({ ok: true }) }, requestState: `${requestState}-TAMPERED` }
    expect(await code(client, { name }, { resume })).toMatchObject({ code: -32_602 })
  })

  test('MC-ERR-06, MC-REQ-08: a capability that is missing is named', async () => {
    const client = await connect('modern', {})
    expect(await code(client, { name: 'test_missing_capability' })).toMatchObject({
      code: -32_021,
      data: { requiredCapabilities: { sampling: {} } },
    })
  })

  test('MC-DISC-03, MC-ELIC-01, MC-SAMP-01, MC-REQ-02: the client asks discovery for nothing else, and declares itself each time', async () => {
    const client = await connect('modern')
    await resultOf(client, 'tools/list')
    await resultOf(client, 'tools/call', { name: 'test_simple_text' })
    const sent = open.at(-1)?.inspector.sent ?? []
    expect(sent.map(({ method }) => method)).toEqual(['server/discover', 'tools/list', 'tools/call'])
    expect(Object.keys(sent[0]?.params ?? {})).toEqual(['_meta'])
    const declared = sent.map(({ params }) => (params._meta as JsonObject)[metaKey.clientCapabilities])
    expect(declared).toEqual([everything, everything, everything])
  })

  test('MC-LOG-02: whoever asked for no logs gets none', async () => {
    const notices: string[] = []
    await resultOf(await connect('modern'), 'tools/call', { name: 'test_logging_tool' }, { notices })
    expect(notices).toEqual([])
  })
})
