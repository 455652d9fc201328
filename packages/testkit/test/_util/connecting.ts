import { createRevisionPolicy, method, toObject, toValue } from '@atenea/mcpcompat'
import {
  type ClientConnection,
  type ConnectDuplexOptions,
  type DialPurpose,
  connectDuplex,
  createCallerContext,
} from '@atenea/mcpcompat/transport'
import type { SpawnServerOptions } from '@atenea/transport-stdio'
import { startFixture } from './fixtures.ts'

export interface Attempt {
  readonly connecting: Promise<ClientConnection>
  /** Why each process was started, in order. */
  readonly started: DialPurpose[]
  /** Codes of what was reported. */
  readonly reported: string[]
}

/** Connects to a fixture server over stdio. */
export function connect(
  name: string,
  args: readonly string[] = [],
  options: Partial<ConnectDuplexOptions> = {},
  spawning: Partial<SpawnServerOptions> = {},
): Attempt {
  const started: DialPurpose[] = []
  const reported: string[] = []
  const connecting = connectDuplex(
    async ({ signal, purpose }) => {
      started.push(purpose)
      return await startFixture(name, args, { signal, ...spawning })
    },
    {
      policy: createRevisionPolicy(),
      info: { name: 'testkit', version: '1' },
      onDiagnostic: ({ code }) => reported.push(code),
      ...options,
    },
  )
  // Who awaits it hears of a failure; who does not, as after an abort, must not bring the test run down.
  connecting.catch(() => undefined)
  return { connecting, started, reported }
}

/** Calls the tool `echo` and gives its result. */
export async function echo(connection: ClientConnection, args: Record<string, string | number>): Promise<unknown> {
  const call = { method: 'tools/call', params: { name: 'echo', arguments: args } }
  const outcome = await connection.call(call, createCallerContext())
  if (outcome.kind !== 'result') throw new Error(`unexpected ${outcome.kind}`)
  return toValue(outcome.value)
}

/** Calls a tool without arguments and gives the text of its result. */
export async function toolText(connection: ClientConnection, name: string): Promise<string> {
  const outcome = await connection.call(
    { method: method.callTool, params: { name, arguments: {} } },
    createCallerContext({ peer: { capabilities: {} } }),
  )
  if (outcome.kind !== 'result') throw new Error(outcome.kind)
  const [content] = toObject(outcome.value)['content'] as readonly { readonly text: string }[]
  return content?.text ?? ''
}
