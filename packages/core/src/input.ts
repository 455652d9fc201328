import {
  type Ask,
  type CallContext,
  type Call,
  type JsonObject,
  type JsonValue,
  type Peer,
  RpcError,
  isJsonObject,
  method,
  rpcCode,
} from '@atenea/mcpcompat'
import { inputRequestFault, missingCapability, missingForInput } from '@atenea/mcpcompat/transport'
import { DefinitionError } from './definition-error.ts'
import type { OpenedState } from './request-state.ts'
import { createFormSchema } from './schema/form.ts'
import type { AnySchema, SchemaOutput } from './schema/schema-types.ts'

/** Something that a client can be asked, and how its answer is read. */
export interface InputRequest<Answer> {
  readonly call: Call
  /** Whether it is left out, in place of failing the call, for a client that cannot be asked this. */
  readonly optional: boolean
  /** The answer, or `undefined` for one that is malformed or does not fit, which counts as missing (A-41, MC-MRTR-23). */
  readonly read: (response: JsonObject) => Answer | undefined
}

/** What a user did with a form; `content` fits the schema of the form. */
export type FormAnswer<Content> =
  | { readonly action: 'accept'; readonly content: Content }
  | { readonly action: 'decline' | 'cancel' }

/** What a user did with a link. `accept` means consent, not that anything was done there (MC-ELIC-08). */
export interface LinkAnswer {
  readonly action: 'accept' | 'decline' | 'cancel'
}

/** A folder or file that the client works with (MC-ROOT-02). */
export interface Root {
  /** A `file:` URI. */
  readonly uri: string
  readonly name?: string
}

/** What the client's model wrote. */
export interface SampledMessage extends JsonObject {
  readonly role: 'assistant' | 'user'
  readonly model: string
}

const actions: ReadonlySet<unknown> = new Set(['accept', 'decline', 'cancel'])

export interface ElicitFormOptions<S extends AnySchema> {
  /** What the user is told. */
  readonly message: string
  /**
   * A flat object of strings, numbers, booleans and choices, as JSON Schema or by a schema library (MC-ELIC-05). Never ask for
   * secrets in a form (MC-ELIC-09).
   */
  readonly schema: S
}

/** Asks the user to fill in a form. A `DefinitionError` when no form can be made of the schema. */
export function elicitForm<S extends AnySchema>(
  options: ElicitFormOptions<S>,
): InputRequest<FormAnswer<SchemaOutput<S>>> {
  const { message } = options
  const form = createFormSchema<SchemaOutput<S>>(options.schema)
  const params: JsonObject = { mode: 'form', message, requestedSchema: form.json }
  return request(method.elicit, params, (response) => {
    const { action, content } = response
    if (!actions.has(action)) return undefined
    if (action !== 'accept') return { action: action as 'decline' | 'cancel' }
    const read = form.read(content ?? {})
    return read === undefined ? undefined : { action, content: read.value }
  })
}

export interface ElicitUrlOptions {
  readonly message: string
  /** Holds no sensitive data and lets nobody in by itself (MC-ELIC-13). */
  readonly url: string
}

/** Asks the user to open a page, for what must not pass through the client. */
export function elicitUrl({ message, url }: ElicitUrlOptions): InputRequest<LinkAnswer> {
  return request(method.elicit, { mode: 'url', message, url }, ({ action }) =>
    actions.has(action) ? { action: action as LinkAnswer['action'] } : undefined,
  )
}

/** Asks the client's model. `messages` and `maxTokens` are required (MC-SAMP-03). Deprecated upstream; works in both eras. */
export function createMessage(params: JsonObject): InputRequest<SampledMessage> {
  const asked = request(method.createMessage, params, (response) =>
    typeof response.role === 'string' && typeof response.model === 'string' && response.content !== undefined
      ? (response as SampledMessage)
      : undefined,
  )
  checkToolResults(params.messages as readonly JsonObject[])
  return asked
}

/** Asks which folders the client works with. Deprecated upstream; works in both eras. */
export function listRoots(): InputRequest<readonly Root[]> {
  return request(method.listRoots, {}, ({ roots }) =>
    Array.isArray(roots) && roots.every(isRoot) ? (roots as readonly Root[]) : undefined,
  )
}

function isRoot(value: JsonValue): boolean {
  return isJsonObject(value) && typeof value.uri === 'string' && value.uri.startsWith('file://')
}

/** The same request, left out for clients that cannot be asked it. */
export function optional<Answer>(asked: InputRequest<Answer>): InputRequest<Answer> {
  return { ...asked, optional: true }
}

function request<Answer>(
  name: string,
  params: JsonObject,
  read: (response: JsonObject) => Answer | undefined,
): InputRequest<Answer> {
  const fault = inputRequestFault({ method: name, params })
  if (fault !== undefined) throw new DefinitionError(`${name}: the request ${fault}`)
  return { call: { method: name, params }, optional: false, read }
}

/** Tool results stand alone in a user message, and each tool use is answered in the message that follows (MC-SAMP-04). */
function checkToolResults(messages: readonly JsonObject[]): void {
  let open: (JsonValue | undefined)[] = []
  for (const message of messages) {
    const blocks = (Array.isArray(message.content) ? message.content : [message.content]) as (JsonObject | undefined)[]
    const results = blocks.filter((block) => block?.type === 'tool_result')
    if (results.length > 0 && results.length < blocks.length) {
      throw new DefinitionError('sampling/createMessage: a message with tool results holds something else as well')
    }
    const answered = results.map((block) => block?.toolUseId)
    if (open.length !== answered.length || !open.every((id) => answered.includes(id))) {
      throw new DefinitionError('sampling/createMessage: each tool use needs its result in the message that follows')
    }
    open = blocks.filter((block) => block?.type === 'tool_use').map((block) => block?.id)
  }
}

/** Whether a client declared what this request needs (MC-MRTR-06). */
export function supportsInput(client: Peer, { call }: InputRequest<unknown>): boolean {
  return missingForInput(client.capabilities, call) === undefined
}

/** What a handler gets back from an earlier round. */
export interface Input {
  /** What `ask` was given as `state`, verified; `undefined` in the first round, and when the client brought none. */
  readonly state: JsonValue | undefined
  /** How many rounds with state this call has gone through; 0 when the client brought none. For handlers that give up at some point. */
  readonly round: number
  /**
   * The answer to a request under the key that it was asked by; `undefined` when there is none yet, or none that can be used.
   * Ask again then: a client may bring some answers, all, or none (MC-MRTR-12).
   */
  get<Answer>(key: string, asked: InputRequest<Answer>): Answer | undefined
}

const noInput: Input = { state: undefined, round: 0, get: () => undefined }

/** Reads answers. A value that is no object is a fault of the request (MC-MRTR-21); keys that nobody asks for are ignored (MC-MRTR-22). */
export function createInput(responses: JsonObject | undefined, opened: OpenedState | undefined): Input {
  if (responses === undefined) return noInput
  return {
    state: opened?.state,
    round: opened?.round ?? 0,
    get(key, asked) {
      const response = Object.hasOwn(responses, key) ? responses[key] : undefined
      if (response === undefined) return undefined
      if (!isJsonObject(response)) {
        throw new RpcError(rpcCode.invalidParams, `inputResponses: the answer ${JSON.stringify(key)} must be an object`)
      }
      return asked.read(response)
    },
  }
}

export interface AskOptions {
  /** What the handler wants back with the answers: JSON, sealed for this caller and this very request. */
  readonly state?: JsonValue | undefined
  /** Milliseconds until the state expires. Default: ten minutes. */
  readonly ttlMs?: number | undefined
  /**
   * Whether this process takes the state only once (MC-MRTR-11). Where several replicas serve one client, keep a workflow and
   * put its id into the state instead.
   */
  readonly once?: boolean | undefined
}

/** What a handler returns in place of a result when it needs more input. Made by `ask`. */
export class AskReturn {
  readonly requests: Readonly<Record<string, InputRequest<unknown>>>
  readonly options: AskOptions

  constructor(requests: Readonly<Record<string, InputRequest<unknown>>>, options: AskOptions) {
    this.requests = requests
    this.options = options
  }
}

/**
 * Ends this round of a call by asking for input. The client comes back with the same call, with `context.input` filled: at any
 * time, with any part of the answers, or never. Only for tools, prompts and resources (MC-MRTR-02).
 */
export function ask(requests: Readonly<Record<string, InputRequest<unknown>>>, options: AskOptions = {}): AskReturn {
  return new AskReturn(requests, options)
}

/** The requests of an ask that this client may get. An `RpcError` -32021 when it must declare more (MC-REQ-08, MC-MRTR-06). */
export function admittedRequests(asked: AskReturn, context: CallContext): Map<string, Call> {
  const admitted = new Map<string, Call>()
  let missing: JsonObject | undefined
  let missingOptional: JsonObject | undefined
  for (const [key, { call, optional: isOptional }] of Object.entries(asked.requests)) {
    const lack = missingForInput(context.peer.capabilities, call)
    if (lack === undefined) admitted.set(key, withoutContext(call, context.peer))
    else if (isOptional) missingOptional = merge(missingOptional, lack)
    else missing = merge(missing, lack)
  }
  if (missing === undefined && admitted.size === 0) missing = missingOptional
  if (missing !== undefined) throw missingCapabilityError(missing)
  return admitted
}

/** The error for a call that needs capabilities which its client did not declare. */
export function missingCapabilityError(missing: JsonObject): RpcError {
  const { code, message, data } = missingCapability(missing)
  return new RpcError(code, message, data === undefined ? undefined : { data })
}

/** The part of `required` that `declared` lacks, one level below the capabilities included; `undefined` when that is nothing. */
export function missingCapabilities(required: JsonObject, declared: JsonObject): JsonObject | undefined {
  const missing: Record<string, JsonObject> = {}
  for (const [name, wanted] of Object.entries(required)) {
    const own = Object.hasOwn(declared, name) ? declared[name] : undefined
    const modes = isJsonObject(wanted) ? Object.keys(wanted) : []
    if (!isJsonObject(own)) missing[name] = isJsonObject(wanted) ? wanted : {}
    else {
      const lacking = modes.filter((mode) => !isJsonObject(own[mode]) && !isBareForm(name, mode, own))
      if (lacking.length > 0) missing[name] = Object.fromEntries(lacking.map((mode) => [mode, {}]))
    }
  }
  return Object.keys(missing).length === 0 ? undefined : missing
}

/** `elicitation: {}` means forms (MC-ELIC-02). */
function isBareForm(name: string, mode: string, declared: JsonObject): boolean {
  return name === 'elicitation' && mode === 'form' && Object.keys(declared).length === 0
}

function merge(into: JsonObject | undefined, more: JsonObject): JsonObject {
  const merged: Record<string, JsonValue | undefined> = { ...into }
  for (const [name, value] of Object.entries(more))
    merged[name] = { ...(merged[name] as JsonObject), ...(value as JsonObject) }
  return merged
}

/** `includeContext` goes only to clients that declared it (MC-SAMP-05). */
function withoutContext(call: Call, client: Peer): Call {
  if (call.method !== method.createMessage) return call
  const { includeContext, ...params } = call.params as JsonObject
  const { sampling } = client.capabilities
  const mayInclude = isJsonObject(sampling) && isJsonObject(sampling.context)
  return includeContext === undefined || includeContext === 'none' || mayInclude ? call : { ...call, params }
}

/** An ask in the neutral model. `A-39`: it holds at least one of requests and state. */
export function toAsk(requests: ReadonlyMap<string, Call>, requestState: string | undefined): Ask {
  const raw = {
    ...(requests.size > 0 && { inputRequests: Object.fromEntries(requests) as unknown as JsonObject }),
    ...(requestState !== undefined && { requestState }),
  }
  return {
    ...(requests.size > 0 && { inputRequests: requests }),
    ...(requestState !== undefined && { requestState }),
    raw,
  }
}
