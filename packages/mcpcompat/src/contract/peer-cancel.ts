import { handshakeMethod } from '../classify.ts'
import type { JsonRecord } from '../jsonrpc/json.ts'
import type { RpcId } from '../jsonrpc/message.ts'
import { memberOf } from '../member.ts'
import type { CallRunner } from './call-runner.ts'
import type { OnDiagnostic } from './diagnostics.ts'

/** The id that a `notifications/cancelled` names, or `undefined` when it names none: such a notice is ignored (MC-CANC-11). */
export function cancelledId(params: JsonRecord | undefined): RpcId | undefined {
  const id = memberOf(params, 'requestId')
  return typeof id === 'string' || Number.isSafeInteger(id) ? (id as RpcId) : undefined
}

/**
 * Cancels the call that a peer's `notifications/cancelled` names. One that is unknown or finished is ignored (MC-CANC-08, -10), and so is
 * the handshake, which cannot be cancelled (LG-CANC-02).
 */
export function cancelForPeer(
  runner: CallRunner,
  params: JsonRecord | undefined,
  onDiagnostic: OnDiagnostic | undefined,
): void {
  const id = cancelledId(params)
  const context = id === undefined ? undefined : runner.get(id)
  if (context === undefined || context.call.method === handshakeMethod) return
  const given = memberOf(params, 'reason')
  const reason = typeof given === 'string' ? given.slice(0, 200) : undefined
  onDiagnostic?.({
    level: 'debug',
    code: 'cancelled',
    message: `The peer cancelled ${context.call.method}${reason === undefined ? '' : `: ${reason}`}`,
  })
  runner.cancel(context, new DOMException(reason ?? 'The peer cancelled the call', 'AbortError'))
}
