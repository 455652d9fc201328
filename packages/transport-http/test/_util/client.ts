import {
  type Call,
  createRevisionPolicy,
  type Diagnostic,
  type JsonObject,
  type Outcome,
  toObject,
} from '@atenea/mcpcompat'
import {
  type ClientConnection,
  createCallerContext,
  type CreateCallerContextOptions,
} from '@atenea/mcpcompat/transport'
import { type ConnectHttpOptions, connectHttp } from '../../src/client.ts'
import { createNodeSend, type NodeSend } from '../../src/node/send.ts'

const capabilities: JsonObject = { elicitation: { form: {} }, sampling: {}, roots: {} }
const peer = { name: 'me', version: '2.0.0', capabilities }

export interface Connected extends AsyncDisposable {
  readonly connection: ClientConnection
  readonly diagnostics: readonly Diagnostic[]
  call(method: string, params?: JsonObject, options?: CreateCallerContextOptions): Promise<Outcome>
  tool(name: string, args?: JsonObject, options?: CreateCallerContextOptions): Promise<JsonObject>
}

export type TestOptions = Partial<ConnectHttpOptions>

/** Connects with `createNodeSend`, as applications do. */
export async function connect(url: string, options: TestOptions = {}): Promise<Connected> {
  const diagnostics: Diagnostic[] = []
  const send: NodeSend | undefined = options.send === undefined ? createNodeSend() : undefined
  try {
    const connection = await connectHttp(url, {
      policy: createRevisionPolicy(),
      info: { name: 'me', version: '2.0.0' },
      capabilities,
      onDiagnostic: (diagnostic) => void diagnostics.push(diagnostic),
      ...(send !== undefined && { send }),
      ...options,
    })
    const call: Connected['call'] = async (method, params = {}, caller = {}) =>
      await connection.call({ method, params } satisfies Call, createCallerContext({ peer, ...caller }))
    return {
      connection,
      diagnostics,
      call,
      async tool(name, args = {}, caller) {
        const outcome = await call('tools/call', { name, arguments: args }, caller)
        if (outcome.kind !== 'result') throw new Error(`${outcome.kind} in place of a result`)
        return toObject(outcome.value)
      },
      async [Symbol.asyncDispose]() {
        await connection[Symbol.asyncDispose]()
        send?.[Symbol.dispose]()
      },
    }
  } catch (error) {
    send?.[Symbol.dispose]()
    throw error
  }
}

/** What a promise rejects with. */
export async function failureOf(promise: Promise<unknown>): Promise<Record<string, unknown> & Error> {
  try {
    await promise
  } catch (error) {
    return error as Record<string, unknown> & Error
  }
  throw new Error('it did not fail')
}

/** Waits for a condition that other turns bring about. */
export async function until(condition: () => boolean, limitMs = 15_000): Promise<void> {
  const end = performance.now() + limitMs
  while (!condition()) {
    if (performance.now() > end) throw new Error('it did not come about')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
