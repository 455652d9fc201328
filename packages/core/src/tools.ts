import {
  type Call,
  type CallContext,
  type HeaderPlan,
  type JsonObject,
  JsonText,
  type JsonValue,
  type OnDiagnostic,
  type Outcome,
  RpcError,
  isConformingToolName,
  isJsonObject,
  rpcCode,
  toObject,
  toText,
} from '@atenea/mcpcompat'
import { planHeaders } from '@atenea/mcpcompat/transport'
import { type ContentBlock, checkMeta, encodeContent, textContent } from './content.ts'
import { checkDefinition } from './definition-checks.ts'
import { DefinitionError } from './definition-error.ts'
import type { Handler, HandlerRunner } from './handler-runner.ts'
import { missingCapabilities, missingCapabilityError } from './input.ts'
import { type AnySchema, jsonSchema } from './schema/schema-types.ts'
import { Invalid, type Validator, createValidator } from './schema/validator.ts'
import { ToolError } from './tool-error.ts'
import type { Tool, ToolResult } from './tool.ts'
import type { Finder, Registered } from './registry.ts'

/** A tool that is ready to be listed and called. */
export interface RegisteredTool extends Registered {
  readonly headerPlan: HeaderPlan | undefined
  readonly requires: JsonObject | undefined
  /** Gives the arguments to go on with, an `Invalid`, or a promise of either. */
  readonly checkArguments: (args: unknown) => unknown
  readonly handler: Handler<unknown>
}

const anyObject = jsonSchema<JsonObject>({ type: 'object' })
const noArguments: JsonObject = Object.freeze({})

/** Makes a tool ready: schemas compiled, list entry written, header plan made. A `DefinitionError` says which tool and what to do. */
export function registerTool(tool: Tool, report: OnDiagnostic): RegisteredTool {
  const { name } = tool
  if (typeof name !== 'string' || name === '') throw new DefinitionError('a tool has no name')
  const where = `tool ${JSON.stringify(name)}`
  if (!isConformingToolName(name)) {
    report({
      level: 'warning',
      code: 'tool-name',
      message: `The name of ${where} should have 1 to 128 characters of A-Z a-z 0-9 _ - . (MC-TOOL-09); some clients refuse it.`,
    })
  }
  checkDefinition(tool, where)
  const input = createValidator(tool.inputSchema ?? anyObject, {
    where: `${where}: inputSchema`,
    root: 'arguments',
    side: 'input',
    json: tool.inputJsonSchema,
  })
  if (input.json.type !== 'object') {
    throw new DefinitionError(
      `${where}: inputSchema must have type: "object" at its root (MC-TOOL-04); put other values under a property`,
    )
  }
  const headers = planHeaders(input.json)
  if (!headers.ok) throw new DefinitionError(`${where}: inputSchema: ${headers.faults.join('; ')}`)
  const output = tool.outputSchema === undefined ? undefined : outputValidator(tool.outputSchema, tool, where)
  return {
    key: name,
    json: listEntry(tool, input, output),
    headerPlan: headers.plan.declarations.length > 0 ? headers.plan : undefined,
    requires: tool.requires,
    checkArguments: input.validate,
    handler: toolHandler(tool, where, output, report),
  }
}

function outputValidator(schema: AnySchema, tool: Tool, where: string): Validator {
  return createValidator(schema, {
    where: `${where}: outputSchema`,
    root: 'structuredContent',
    side: 'output',
    json: tool.outputJsonSchema,
  })
}

function listEntry(tool: Tool, input: Validator, output: Validator | undefined): string {
  const { name, title, description, annotations, icons, _meta } = tool
  const entry = {
    name,
    title,
    description,
    inputSchema: input.json,
    outputSchema: output?.json,
    annotations,
    icons,
    _meta,
  }
  return toText(entry as unknown as JsonObject)
}

function toolHandler(tool: Tool, label: string, output: Validator | undefined, report: OnDiagnostic): Handler<unknown> {
  return {
    label,
    mayAsk: true,
    timeoutMs: tool.timeoutMs,
    invoke: (args, context) => tool.handler(args, context),
    encode: output === undefined ? encodeReturned : (returned) => encodeStructured(returned, output),
    fail(error) {
      if (ToolError.is(error)) return errorResult(error.message)
      const isMismatch = error instanceof OutputMismatch
      report({
        level: 'error',
        code: isMismatch ? 'tool-output-mismatch' : 'handler-failed',
        message: isMismatch
          ? `The result of ${label} does not fit its outputSchema: ${error.message}`
          : `The ${label} failed.`,
        cause: error,
      })
      return errorResult(`The ${label} failed because of an error on the server.`)
    },
  }
}

/** A result that the model can read and act on (MC-TOOL-12, A-27). */
function errorResult(text: string): Outcome {
  return resultOf(`${textContent(text)},"isError":true`, ['content', 'isError'], true)
}

const contentOnly: readonly string[] = ['content']

/** `isLine` for members that we wrote whole, without source text of a handler in them. */
function resultOf(members: string, keys: readonly string[], isLine = false): Outcome {
  return { kind: 'result', value: JsonText.ofMembers(members, keys, isLine) }
}

/** What a tool without an `outputSchema` returned. */
function encodeReturned(returned: unknown): Outcome {
  if (typeof returned === 'string') return resultOf(textContent(returned), contentOnly, true)
  if (returned === undefined) return resultOf('"content":[]', contentOnly)
  if (Array.isArray(returned))
    return resultOf(`"content":${encodeContent(returned as readonly ContentBlock[])}`, contentOnly)
  if (!isResult(returned)) {
    throw new TypeError('a tool returns text, content or a result; for other values it needs an outputSchema')
  }
  return encodeResult(returned, returned.structuredContent)
}

/** The handler's value does not fit the tool's own schema. */
class OutputMismatch extends Error {}

/** What a tool with an `outputSchema` returned. */
function encodeStructured(returned: unknown, output: Validator): Outcome | Promise<Outcome> {
  const result = isWhole(returned) ? returned : undefined
  if (result?.isError === true) return encodeResult(result, result.structuredContent)
  const conclude = (checked: unknown): Outcome => {
    if (checked instanceof Invalid) throw new OutputMismatch(checked.reason)
    return encodeResult(result ?? {}, checked)
  }
  const checked = output.validate(result === undefined ? returned : result.structuredContent)
  return checked instanceof Promise ? checked.then(conclude) : conclude(checked)
}

function isResult(value: unknown): value is ToolResult {
  return (
    typeof value === 'object' &&
    value !== null &&
    ('content' in value || 'structuredContent' in value || 'isError' in value)
  )
}

/** Whether an object is a result rather than the structured value that the schema describes. */
function isWhole(value: unknown): value is ToolResult {
  if (typeof value !== 'object' || value === null) return false
  return 'structuredContent' in value || ('isError' in value && value.isError === true)
}

function encodeResult({ content, isError, _meta }: ToolResult, structured: unknown): Outcome {
  const keys = ['content']
  let members: string
  if (structured === undefined) members = `"content":${encodeContent(content ?? [])}`
  else {
    const text = toText(structured as JsonValue)
    keys.push('structuredContent')
    const shown = content === undefined ? textContent(text) : `"content":${encodeContent(content)}`
    members = `${shown},"structuredContent":${text}`
  }
  if (isError === true) {
    keys.push('isError')
    members += ',"isError":true'
  }
  if (_meta !== undefined) {
    checkMeta(_meta)
    keys.push('_meta')
    members += `,"_meta":${toText(_meta)}`
  }
  return resultOf(members, keys)
}

/**
 * Answers `tools/call`. What is not found is an error of the request; arguments that do not fit the tool's schema are a result,
 * so that the model can correct itself (A-27, MC-TOOL-11).
 */
export function callTool(
  tools: Finder<RegisteredTool>,
  runner: HandlerRunner,
  call: Call,
  context: CallContext,
): Outcome | Promise<Outcome> {
  const params = toObject(call.params)
  const { name } = params
  if (typeof name !== 'string') throw new RpcError(rpcCode.invalidParams, 'name must be a string')
  const tool = tools.find(name)
  if (tool === undefined) throw new RpcError(rpcCode.invalidParams, `Unknown tool: ${name}`)
  const given = params.arguments
  if (given !== undefined && !isJsonObject(given))
    throw new RpcError(rpcCode.invalidParams, 'arguments must be an object')
  if (tool.requires !== undefined) {
    const missing = missingCapabilities(tool.requires, context.peer.capabilities)
    if (missing !== undefined) throw missingCapabilityError(missing)
  }
  let checked: unknown
  try {
    checked = tool.checkArguments(given ?? noArguments)
  } catch (error) {
    return tool.handler.fail(error)
  }
  return checked instanceof Promise
    ? runLater(tool, checked, runner, call, context)
    : runChecked(tool, checked, runner, call, context)
}

/** By itself, since closures cost every call of the function that holds them. */
function runLater(
  tool: RegisteredTool,
  checked: Promise<unknown>,
  runner: HandlerRunner,
  call: Call,
  context: CallContext,
): Promise<Outcome> {
  return checked.then(
    (args) => runChecked(tool, args, runner, call, context),
    (error: unknown) => tool.handler.fail(error),
  )
}

function runChecked(
  tool: RegisteredTool,
  args: unknown,
  runner: HandlerRunner,
  call: Call,
  context: CallContext,
): Outcome | Promise<Outcome> {
  if (args instanceof Invalid) return errorResult(`Invalid arguments for ${tool.handler.label}: ${args.reason}.`)
  return runner.run(tool.handler, args, call, context)
}
