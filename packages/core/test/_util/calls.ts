import {
  type CallContext,
  type Dispatcher,
  type JsonObject,
  type JsonValue,
  type Outcome,
  RpcError,
  toValue,
} from '@atenea/mcpcompat'
import { type CreateCallerContextOptions, createCallerContext } from '@atenea/mcpcompat/transport'

/** Calls a dispatcher as its serving loop would. */
export async function outcomeOf(
  dispatcher: Dispatcher,
  method: string,
  params: JsonObject = {},
  context: CreateCallerContextOptions | CallContext = {},
): Promise<Outcome> {
  return dispatcher.call({ method, params }, 'scope' in context ? context : createCallerContext(context))
}

/** The result of a call that must have one. */
export async function resultOf(
  dispatcher: Dispatcher,
  method: string,
  params: JsonObject = {},
  context: CreateCallerContextOptions | CallContext = {},
): Promise<JsonObject> {
  const outcome = await outcomeOf(dispatcher, method, params, context)
  if (outcome.kind !== 'result') throw new Error(`the outcome is ${outcome.kind}, not a result`)
  return toValue(outcome.value) as JsonObject
}

/** The ask of a call that must have one. */
export async function askOf(
  dispatcher: Dispatcher,
  method: string,
  params: JsonObject = {},
  context: CreateCallerContextOptions | CallContext = {},
): Promise<Extract<Outcome, { kind: 'ask' }>> {
  const outcome = await outcomeOf(dispatcher, method, params, context)
  if (outcome.kind !== 'ask') throw new Error(`the outcome is ${outcome.kind}, not an ask`)
  return outcome
}

/** The error of a call that must fail, as it would go over the wire. */
export async function errorOf(
  dispatcher: Dispatcher,
  method: string,
  params: JsonObject = {},
  context: CreateCallerContextOptions | CallContext = {},
): Promise<{ code: number; message: string; data?: JsonValue }> {
  try {
    await outcomeOf(dispatcher, method, params, context)
  } catch (error) {
    if (!RpcError.is(error)) throw error
    const { code, message, data } = error
    return data === undefined ? { code, message } : { code, message, data: toValue(data) }
  }
  throw new Error('the call did not fail')
}

/** The first text of a tool's result. */
export function textOf(result: JsonObject): string {
  const [block] = result.content as readonly { text: string }[]
  if (block === undefined) throw new Error('the result has no content')
  return block.text
}
