import type { Call, CallContext } from '@atenea/mcpcompat'
import { memberOf, paramHeaderFault, toRpcError } from '@atenea/mcpcompat/transport'
import type { Offered } from '../lists/offer.ts'

/** The header that every request of the modern HTTP carrier has (MH-HDR-01). */
const methodHeader = 'mcp-method'

/**
 * Compares the headers of a tool call with its arguments where the carrier could not, since the tool was not known yet when the call came
 * (BR-211, MH-VAL-01). An `RpcError` -32020 when they differ.
 */
export function checkMirroredHeaders({ headerPlan }: Offered, call: Call, { hints }: CallContext): void {
  if (headerPlan === undefined || !hasHeaders(hints)) return
  const fault = paramHeaderFault(headerPlan, memberOf(call.params, 'arguments'), hints)
  if (fault !== undefined) throw toRpcError(fault)
}

/** Whether a call came on a carrier that mirrors arguments into headers. */
export function hasHeaders(hints: CallContext['hints']): boolean {
  return hints[methodHeader] !== undefined
}
