import { createRevisionPolicy, revisionsOf } from '@atenea/mcpcompat'
import { type ClientConnection, connectDuplex } from '@atenea/mcpcompat/transport'
import type { BackendConnectOptions } from '@atenea/passthrough'
import { type Authorizer, connectHttp, dialHttpSse } from '@atenea/transport-http'
import { createNodeSend } from '@atenea/transport-http/node'
import type { BackendSetting } from '../settings.ts'
import type { BackendSurroundings } from './connect.ts'

/** All servers share the connections that are kept alive. */
const send = createNodeSend()

/** Connects to a server that is reached by HTTP. */
export async function connectOverHttp(
  setting: BackendSetting,
  { kind, url, headers }: BackendSetting['target'] & { readonly kind: 'http' | 'sse' },
  options: BackendConnectOptions,
  around: BackendSurroundings,
): Promise<ClientConnection> {
  const { verdicts, maxMessageBytes } = around
  const authorization = authorizationOf(setting, url, headers, around)
  const common = { send, headers, authorization, maxMessageBytes, payload: 'text' } as const
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

/** Credentials that the operator gave are the only ones; else somebody can sign in. */
function authorizationOf(
  { name, signIn }: BackendSetting,
  url: string,
  headers: Readonly<Record<string, string>>,
  { signIns }: BackendSurroundings,
): Authorizer | undefined {
  const given =
    Object.keys(headers).some((key) => key.toLowerCase() === 'authorization') || new URL(url).username !== ''
  return given ? undefined : signIns.of({ name, url, setting: signIn }, send)
}
