import type { Call, Outcome } from '../../src/contract/call.ts'
import type { CallContext } from '../../src/contract/context.ts'
import type { Dispatcher, ServerView } from '../../src/contract/dispatcher.ts'
import { method } from '../../src/contract/methods.ts'
import { RpcError, rpcCode } from '../../src/jsonrpc/errors.ts'
import { type JsonObject, toObject } from '../../src/jsonrpc/json.ts'

export type Handler = (params: JsonObject, context: CallContext, call: Call) => Outcome | Promise<Outcome>

export interface ScriptedDispatcher extends Dispatcher {
  /** Every call that came, in order. */
  readonly calls: { readonly call: Call; readonly context: CallContext }[]
  readonly notices: Call[]
  /** What a method does; tools are named `tool:<name>`. */
  on(name: string, handler: Handler): ScriptedDispatcher
  offered: ServerView | Promise<ServerView>
}

const echo: Handler = (params) => text((params['arguments'] as { text?: string }).text ?? '')

/** A complete result with one block of text. */
export function text(value: string): Outcome {
  return { kind: 'result', value: { content: [{ type: 'text', text: value }] } }
}

/** A dispatcher that does what a test tells it to, and nothing else. */
export function createScriptedDispatcher(capabilities: JsonObject = { tools: {} }): ScriptedDispatcher {
  const handlers = new Map<string, Handler>([['tool:echo', echo]])
  return {
    calls: [],
    notices: [],
    offered: {
      info: { name: 'scripted', version: '1.0.0' },
      capabilities,
      has: (name) => handlers.has(name),
      headerPlan: () => undefined,
    },
    on(name, handler) {
      handlers.set(name, handler)
      return this
    },
    call(call, context) {
      this.calls.push({ call, context })
      const params = toObject(call.params)
      const tool = call.method === method.callTool ? (params['name'] as string) : undefined
      const name = tool === undefined ? call.method : `tool:${tool}`
      const handler = handlers.get(name)
      if (handler === undefined) {
        throw tool === undefined
          ? new RpcError(rpcCode.methodNotFound, `Method not found: ${call.method}`)
          : new RpcError(rpcCode.invalidParams, `Unknown tool: ${tool}`)
      }
      return handler(params, context, call)
    },
    notify(notice) {
      this.notices.push(notice)
    },
    view() {
      return this.offered
    },
    drain: () => Promise.resolve(),
  }
}

/** A promise and the means to settle it. */
export interface Deferred<T> {
  readonly promise: Promise<T>
  resolve(value: T): void
  reject(reason: unknown): void
}

export function deferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => undefined
  let reject: (reason: unknown) => void = () => undefined
  const promise = new Promise<T>((done, failed) => {
    resolve = done
    reject = failed
  })
  return { promise, resolve, reject }
}

/** A handler that waits for its signal and rejects with the reason, as a well-behaved one does. */
export const untilAborted: Handler = (_params, { signal }) =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
