import {
  type Call,
  type CallContext,
  type JsonObject,
  type Outcome,
  RpcError,
  rpcCode,
  toObject,
} from '@atenea/mcpcompat'
import { checkParams } from '@atenea/mcpcompat/transport'
import type { HandlerContext } from './handler-context.ts'
import type { Handler, HandlerRunner } from './handler-runner.ts'

/** Values that fit what was typed so far, best first; at most 100 are sent (MC-CMP-03). */
export type CompletionReturn =
  | readonly string[]
  | { readonly values: readonly string[]; readonly total?: number | undefined; readonly hasMore?: boolean | undefined }

/** What is known when one argument is completed. */
export interface CompletionRequest {
  /** What was typed so far. */
  readonly value: string
  /** Arguments that are settled already. */
  readonly arguments: Readonly<Record<string, string>>
}

/** Suggests values for one argument. What it suggests must be what this principal may see (MC-CMP-05). */
export type Completer = (
  request: CompletionRequest,
  context: HandlerContext,
) => CompletionReturn | Promise<CompletionReturn>

/** Whose argument is completed, and which. */
export interface CompletionTarget {
  readonly ref:
    | { readonly type: 'ref/prompt'; readonly name: string }
    | { readonly type: 'ref/resource'; readonly uri: string }
  readonly argument: string
}

/** Completes whatever has no completer of its own. */
export type FallbackCompleter = (
  target: CompletionTarget,
  request: CompletionRequest,
  context: HandlerContext,
) => CompletionReturn | Promise<CompletionReturn>

const maxValues = 100

interface CompletionArguments {
  readonly target: CompletionTarget
  readonly request: CompletionRequest
  readonly completer: Completer | undefined
}

export interface CreateCompletionOptions {
  /** The completers of what is referred to. Throws for what does not exist or may not be used (MC-CMP-04). */
  readonly find: (ref: CompletionTarget['ref'], context: CallContext) => ReadonlyMap<string, Completer | undefined>
  readonly fallback: FallbackCompleter | undefined
  readonly runner: HandlerRunner
  readonly fail: Handler<unknown>['fail']
}

/** Answers `completion/complete`. An argument that nothing completes gets no suggestions. */
export function createCompletion(
  options: CreateCompletionOptions,
): (call: Call, context: CallContext) => Outcome | Promise<Outcome> {
  const { find, fallback, runner, fail } = options
  const handler: Handler<CompletionArguments> = {
    label: 'completion',
    mayAsk: false,
    timeoutMs: undefined,
    invoke({ completer, target, request }, context) {
      if (completer !== undefined) return completer(request, context)
      return fallback === undefined ? [] : fallback(target, request, context)
    },
    encode: encodeCompletion,
    fail,
  }
  return (call, context) => {
    const fault = checkParams(call.method, call.params)
    if (fault !== undefined) throw new RpcError(rpcCode.invalidParams, fault)
    const params = toObject(call.params)
    const ref = params.ref as unknown as CompletionTarget['ref']
    const { name, value } = params.argument as { name: string; value: string }
    const completers = find(ref, context)
    if (!completers.has(name)) throw new RpcError(rpcCode.invalidParams, `Unknown argument: ${name}`)
    const settled = (params.context as JsonObject | undefined)?.arguments ?? {}
    const request = { value, arguments: settled as Readonly<Record<string, string>> }
    return runner.run(
      handler,
      { target: { ref, argument: name }, request, completer: completers.get(name) },
      call,
      context,
    )
  }
}

function encodeCompletion(returned: unknown): Outcome {
  const given = (Array.isArray(returned) ? { values: returned } : returned) as Exclude<
    CompletionReturn,
    readonly string[]
  >
  if (!Array.isArray(given?.values) || !given.values.every((value) => typeof value === 'string')) {
    throw new TypeError('a completer returns a list of strings')
  }
  const isCut = given.values.length > maxValues
  const total = given.total ?? (isCut ? given.values.length : undefined)
  const hasMore = isCut || given.hasMore
  const completion: JsonObject = {
    values: given.values.slice(0, maxValues),
    ...(total !== undefined && { total }),
    ...(hasMore !== undefined && { hasMore }),
  }
  return { kind: 'result', value: { completion } }
}
