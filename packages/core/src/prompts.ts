import {
  type Call,
  type CallContext,
  type JsonObject,
  JsonText,
  type JsonValue,
  type OnDiagnostic,
  type Outcome,
  RpcError,
  isJsonObject,
  rpcCode,
  toObject,
  toText,
} from '@atenea/mcpcompat'
import { checkParams } from '@atenea/mcpcompat/transport'
import type { Completer } from './completion.ts'
import { checkMeta, encodeBlock, textBlock } from './content.ts'
import { checkDefinition } from './definition-checks.ts'
import { DefinitionError } from './definition-error.ts'
import type { Handler, HandlerRunner } from './handler-runner.ts'
import type { Prompt, PromptArgument, PromptMessage, PromptResult } from './prompt.ts'
import type { Finder, Registered } from './registry.ts'
import { requestFailure } from './request-failure.ts'
import { Invalid, createValidator, isStandard } from './schema/validator.ts'

/** A prompt that is ready to be listed and asked for. */
export interface RegisteredPrompt extends Registered {
  /** Names of all arguments, with their completers where they have one. */
  readonly completers: ReadonlyMap<string, Completer | undefined>
  /** Gives the values to go on with, an `Invalid`, or a promise of either. */
  readonly checkArguments: (args: JsonObject) => unknown
  readonly handler: Handler<unknown>
}

interface ArgumentPlan {
  readonly list: readonly ({ readonly name: string } & PromptArgument)[]
  readonly check: (args: JsonObject) => unknown
}

/** Makes a prompt ready. A `DefinitionError` says which prompt and what to do. */
export function registerPrompt(prompt: Prompt, report: OnDiagnostic): RegisteredPrompt {
  const { name, title, description, icons, _meta } = prompt
  if (typeof name !== 'string' || name === '') throw new DefinitionError('a prompt has no name')
  const where = `prompt ${JSON.stringify(name)}`
  checkDefinition(prompt, where)
  const { list, check } = planArguments(prompt, where)
  const completers = new Map<string, Completer | undefined>(list.map((argument) => [argument.name, undefined]))
  for (const [argument, completer] of Object.entries(prompt.complete ?? {})) {
    if (!completers.has(argument))
      throw new DefinitionError(`${where}: complete names ${JSON.stringify(argument)}, which is no argument`)
    completers.set(argument, completer)
  }
  const entry = { name, title, description, ...(list.length > 0 && { arguments: list }), icons, _meta }
  return {
    key: name,
    json: toText(entry as unknown as JsonObject),
    completers,
    checkArguments: check,
    handler: {
      label: where,
      mayAsk: true,
      timeoutMs: prompt.timeoutMs,
      invoke: (args, context) => prompt.handler(args, context),
      encode: encodePrompt,
      fail: requestFailure(where, report),
    },
  }
}

function planArguments(prompt: Prompt, where: string): ArgumentPlan {
  const declared = prompt.arguments ?? {}
  if (isStandard(declared)) {
    const { json, validate } = createValidator(declared, {
      where: `${where}: arguments`,
      root: 'arguments',
      side: 'input',
    })
    const required = new Set(json.required as readonly string[] | undefined)
    const list = Object.entries((json.properties ?? {}) as JsonObject).map(([name, schema]) => {
      const { title, description } = isJsonObject(schema) ? schema : {}
      return { name, ...texts(title, description), ...(required.has(name) && { required: true }) }
    })
    return { list, check: validate }
  }
  const list = Object.entries(declared).map(([name, argument]) => ({
    name,
    ...argument,
  }))
  return { list, check: (args) => pickArguments(list, args) }
}

function texts(title: JsonValue | undefined, description: JsonValue | undefined): PromptArgument {
  return {
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
  }
}

/** The declared arguments out of those that came, each a member of its own whatever its name (field report E13). */
function pickArguments(list: ArgumentPlan['list'], args: JsonObject): unknown {
  const missing = list.filter(({ name, required }) => required === true && !Object.hasOwn(args, name))
  if (missing.length > 0) return new Invalid(`missing ${missing.map(({ name }) => name).join(', ')}`)
  return Object.fromEntries(list.filter(({ name }) => Object.hasOwn(args, name)).map(({ name }) => [name, args[name]]))
}

function encodePrompt(returned: unknown): Outcome {
  const { messages, description, _meta } = asResult(returned)
  const keys = ['messages']
  let members = `"messages":[${messages.map(encodeMessage).join(',')}]`
  if (description !== undefined) {
    keys.push('description')
    members += `,"description":${toText(description)}`
  }
  if (_meta !== undefined) {
    checkMeta(_meta)
    keys.push('_meta')
    members += `,"_meta":${toText(_meta)}`
  }
  return { kind: 'result', value: JsonText.ofMembers(members, keys, _meta === undefined) }
}

function asResult(returned: unknown): PromptResult {
  if (typeof returned === 'string') return { messages: [{ role: 'user', content: returned }] }
  if (Array.isArray(returned)) return { messages: returned as readonly PromptMessage[] }
  if (typeof returned === 'object' && returned !== null && 'messages' in returned && Array.isArray(returned.messages)) {
    return returned as PromptResult
  }
  throw new TypeError('a prompt returns text, messages or a result')
}

function encodeMessage({ role, content }: PromptMessage): string {
  if (role !== 'user' && role !== 'assistant')
    throw new TypeError('a message of a prompt has the role user or assistant')
  return `{"role":"${role}","content":${typeof content === 'string' ? textBlock(content) : encodeBlock(content)}}`
}

/** The error for a prompt that does not exist, or that this principal may not use. */
export function unknownPrompt(name: string): RpcError {
  return new RpcError(rpcCode.invalidParams, `Unknown prompt: ${name}`)
}

/** Answers `prompts/get`. Whatever is wrong with the request is an error -32602 (MC-PRM-04). */
export function getPrompt(
  prompts: Finder<RegisteredPrompt>,
  runner: HandlerRunner,
  call: Call,
  context: CallContext,
): Outcome | Promise<Outcome> {
  const fault = checkParams(call.method, call.params)
  if (fault !== undefined) throw new RpcError(rpcCode.invalidParams, fault)
  const params = toObject(call.params)
  const name = params.name as string
  const prompt = prompts.find(name)
  if (prompt === undefined) throw unknownPrompt(name)
  const run = (args: unknown): Outcome | Promise<Outcome> => {
    if (args instanceof Invalid) {
      throw new RpcError(rpcCode.invalidParams, `Invalid arguments for ${prompt.handler.label}: ${args.reason}`)
    }
    return runner.run(prompt.handler, args, call, context)
  }
  let checked: unknown
  try {
    checked = prompt.checkArguments((params.arguments ?? {}) as JsonObject)
  } catch (error) {
    return prompt.handler.fail(error)
  }
  return checked instanceof Promise ? checked.then(run, prompt.handler.fail) : run(checked)
}
