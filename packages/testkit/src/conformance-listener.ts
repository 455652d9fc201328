import { type Dispatcher, type JsonObject, type Outcome, toObject } from '@atenea/mcpcompat'
import { type HttpListener, listenHttp, type ListenHttpOptions } from '@atenea/transport-http/node'
import { createConformanceCore } from './conformance-core.ts'

const reconnection: JsonObject = {
  name: 'test_reconnection',
  description: 'Ends its own stream before it answers',
  inputSchema: { type: 'object' },
}

/** Serves the conformance core by HTTP, with the one tool that only HTTP can have. */
export async function listenForConformance(options: Omit<ListenHttpOptions, 'path'>): Promise<HttpListener> {
  const core = createConformanceCore()
  const dispatcher: Dispatcher = {
    call(call, context) {
      if (call.method === 'tools/list') return withReconnection(core.call(call, context))
      if (call.method !== 'tools/call' || toObject(call.params)['name'] !== reconnection['name']) {
        return core.call(call, context)
      }
      return new Promise((resolve) => {
        setTimeout(() => listener.handler.releaseStream(context, 500), 50)
        setTimeout(() => resolve(text('Reconnection test completed')), 150)
      })
    },
    notify: (notice, context) => core.notify(notice, context),
    view: (principal) => core.view(principal),
    drain: async () => await core.drain(),
  }
  const listener = await listenHttp(dispatcher, options)
  return listener
}

async function withReconnection(listed: Outcome | Promise<Outcome>): Promise<Outcome> {
  const outcome = await listed
  if (outcome.kind !== 'result') return outcome
  const value = toObject(outcome.value)
  return { ...outcome, value: { ...value, tools: [...(value['tools'] as JsonObject[]), reconnection] } }
}

function text(value: string): Outcome {
  return { kind: 'result', value: { content: [{ type: 'text', text: value }] } }
}
