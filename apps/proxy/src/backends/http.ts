import { createRevisionPolicy, revisionsOf } from '@atenea/mcpcompat'
import { type ClientConnection, connectDuplex } from '@atenea/mcpcompat/transport'
import type { BackendConnectOptions } from '@atenea/passthrough'
import { connectHttp, dialHttpSse } from '@atenea/transport-http'
import { createNodeSend } from '@atenea/transport-http/node'
import type { BackendSetting } from '../settings.ts'
import { authorizationOf } from './authorization.ts'
import type { BackendSurroundings } from './connect.ts'

/** All servers share the connections that are kept alive. */
const send = createNodeSend()

/** Connects to a server that is reached by HTTP. Loaded with the first one. */
export async function connectOverHttp(
  setting: BackendSetting,
  { kind, url, headers }: BackendSetting['target'] & { readonly kind: 'http' | 'sse' },
  options: BackendConnectOptions,
  { verdicts, maxMessageBytes }: BackendSurroundings,
): Promise<ClientConnection> {
  const common = { send, headers, authorization: authorizationOf(setting), maxMessageBytes, payload: 'text' } as const
  if (kind === 'http') {
    // The proxy has limits of its own, which progress can move.
    return await connectHttp(url, { ...options, ...common, verdicts, callTimeoutMs: Number.POSITIVE_INFINITY })
  }
  const { signal, onDiagnostic, clock } = options
  return await connectDuplex(
    async (dialling) => await dialHttpSse(url, { ...common, signal: dialling.signal, onDiagnostic, clock }),
    {
      ...options,
      signal,
      mode: 'legacy',
      // Who names this transport has to do with servers of its time.
      policy:
        setting.legacyRevisions === undefined
          ? createRevisionPolicy({ legacy: revisionsOf('legacy') })
          : options.policy,
      startsProcess: false,
    },
  )
}
