import {
  type Call,
  createRevisionPolicy,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  legacyRevision,
  method,
  type Outcome,
  parseRevision,
  type RevisionPolicy,
  toObject,
} from '@atenea/mcpcompat'
import { type ClientConnection, createCallerContext, nextRound, resumeOf } from '@atenea/mcpcompat/transport'
import { connectHttp } from '@atenea/transport-http'
import { createNodeSend } from '@atenea/transport-http/node'
import { conformanceSignIn } from './conformance-sign-in.ts'

const capabilities: JsonObject = { elicitation: { form: {} }, sampling: {}, roots: {} }
const info = { name: 'atenea-conformance-client', version: '1.0.0' }

/** The suite only kills the shell around us, so we end by ourselves. */
const watchdogMs = 80_000

/**
 * The client that the official suite drives: its words are the URL of a server, its environment says which scenario, at which revision and
 * with what. It finds out the era as any client of ours does.
 */
export async function main(words: readonly string[], env: Readonly<Record<string, string | undefined>>): Promise<void> {
  const url = words.at(-1)
  if (url === undefined) throw new Error('Usage: conformance-client URL')
  setTimeout(() => {
    throw new Error('the watchdog ended this client')
  }, watchdogMs).unref()
  const context = contextOf(env['MCP_CONFORMANCE_CONTEXT'])
  using send = createNodeSend()
  await using connection = await connectHttp(url, {
    policy: policyFor(env['MCP_CONFORMANCE_PROTOCOL_VERSION']),
    info,
    capabilities,
    send,
    authorization: conformanceSignIn(url, context, send),
    onDiagnostic: ({ level, code, message }) => process.stderr.write(`${level} ${code}: ${message}\n`),
  })
  process.stderr.write(`speaking ${connection.observed} (${connection.row ?? 'pinned'})\n`)
  await perform(env['MCP_CONFORMANCE_SCENARIO'] ?? '', new Driver(connection), context)
}

/** What a run at a revision is about is switched on beside what always is. */
function policyFor(revision: string | undefined): RevisionPolicy {
  const isLegacy = parseRevision(revision)?.era === 'legacy'
  return createRevisionPolicy({
    legacy: isLegacy && revision !== undefined ? [legacyRevision, revision] : [legacyRevision],
  })
}

function contextOf(text: string | undefined): JsonObject {
  const value = text === undefined ? {} : (JSON.parse(text) as JsonValue)
  return isJsonObject(value) ? value : {}
}

async function perform(scenario: string, driver: Driver, context: JsonObject): Promise<void> {
  switch (scenario) {
    case 'initialize':
    case 'request-metadata':
    case 'json-schema-ref-no-deref':
      await driver.listed(method.listTools, 'tools')
      return
    case 'tools_call':
      await driver.listed(method.listTools, 'tools')
      await driver.tool('add_numbers', { a: 5, b: 3 })
      return
    case 'elicitation-sep1034-client-defaults':
      await driver.listed(method.listTools, 'tools')
      await driver.tool('test_client_elicitation_defaults', {})
      return
    case 'sse-retry':
      await driver.listed(method.listTools, 'tools')
      await driver.tool('test_reconnection', {})
      return
    case 'http-standard-headers':
      await everyKind(driver)
      return
    case 'json-schema-2020-12-preservation':
      await echoSchema(driver)
      return
    case 'http-custom-headers':
      await driver.listed(method.listTools, 'tools')
      for (const call of objectsIn(context['toolCalls'])) {
        await driver.tool(textOf(call['name']), isJsonObject(call['arguments']) ? call['arguments'] : {})
      }
      return
    default:
      await everyTool(driver)
  }
}

/** Every tool that is listed, with the arguments that its schema wants. */
async function everyTool(driver: Driver): Promise<void> {
  for (const tool of await driver.listed(method.listTools, 'tools')) {
    await driver.tool(textOf(tool['name']), valuesFor(tool['inputSchema']))
  }
}

async function everyKind(driver: Driver): Promise<void> {
  await everyTool(driver)
  for (const { uri } of await driver.listed(method.listResources, 'resources')) {
    if (uri !== undefined) await driver.call({ method: method.readResource, params: { uri } })
  }
  for (const { name } of await driver.listed(method.listPrompts, 'prompts')) {
    if (name !== undefined) await driver.call({ method: method.getPrompt, params: { name } })
  }
}

async function echoSchema(driver: Driver): Promise<void> {
  const tools = await driver.listed(method.listTools, 'tools')
  const schema = tools.find(({ name }) => name === 'json_schema_2020_12_tool')?.['inputSchema']
  await driver.tool('json_schema_echo', { schema: schema ?? null })
}

/** Calls, with an answer to whatever is asked. */
class Driver {
  readonly #connection: ClientConnection

  constructor(connection: ClientConnection) {
    this.#connection = connection
  }

  async listed(name: string, member: string): Promise<readonly JsonObject[]> {
    return objectsIn((await this.call({ method: name, params: {} }))[member])
  }

  async tool(name: string, args: JsonObject): Promise<JsonObject> {
    return await this.call({ method: method.callTool, params: { name, arguments: args } })
  }

  async call(call: Call): Promise<JsonObject> {
    const peer = { ...info, capabilities }
    let outcome: Outcome = await this.#connection.call(call, createCallerContext({ peer }))
    for (let round = 1; outcome.kind === 'ask'; round++) {
      const next = nextRound(round, outcome)
      if (next.kind !== 'go') throw new Error(`${call.method} asked too often`)
      await new Promise((resolve) => setTimeout(resolve, next.pauseMs))
      const answers = [...(outcome.inputRequests ?? [])].map(([key, question]) => [key, answerTo(question)] as const)
      const resume = resumeOf(outcome, Object.fromEntries(answers))
      if ('error' in resume) throw new Error(resume.error)
      outcome = await this.#connection.call(call, createCallerContext({ peer, resume }))
    }
    if (outcome.kind === 'other') throw new Error(`${call.method} led to a result of type ${outcome.resultType}`)
    return toObject(outcome.value)
  }
}

function answerTo({ method: asked, params }: Call): JsonObject {
  switch (asked) {
    case method.elicit:
      return { action: 'accept', content: valuesFor(toObject(params)['requestedSchema']) }
    case method.createMessage:
      return { role: 'assistant', model: 'none', content: { type: 'text', text: 'An answer.' } }
    default:
      return { roots: [{ uri: 'file:///workspace', name: 'workspace' }] }
  }
}

/** A value for each property of an object schema: its default, its first choice, or the simplest of its type. */
function valuesFor(schema: JsonValue | undefined): JsonObject {
  const properties = isJsonObject(schema) ? schema['properties'] : undefined
  if (!isJsonObject(properties)) return {}
  return Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, valueFor(property)]))
}

function valueFor(schema: JsonValue | undefined): JsonValue {
  if (!isJsonObject(schema)) return null
  if (schema['default'] !== undefined) return schema['default']
  const choices = schema['enum']
  if (Array.isArray(choices) && choices.length > 0) return choices[0] as JsonValue
  return simplest[textOf(schema['type'])] ?? 'text'
}

const simplest: Readonly<Record<string, JsonValue>> = { boolean: true, integer: 1, number: 1, array: [], object: {} }

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

function objectsIn(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]).filter(isJsonObject) : []
}
