import { missingCapability, missingForInput } from '../input-requests.ts'
import type { RpcError } from '../jsonrpc/errors.ts'
import type { Outcome } from './call.ts'
import type { CallContext } from './context.ts'
import { toRpcError } from './failure.ts'

/**
 * The error in place of an ask that the caller did not say it can answer (MC-MRTR-06, MC-REQ-08), or `undefined`. Dispatchers look to
 * this themselves; a host asks once more, since what leaves it counts.
 */
export function undeclaredAsk(outcome: Outcome, context: Pick<CallContext, 'peer'>): RpcError | undefined {
  if (outcome.kind !== 'ask' || outcome.inputRequests === undefined) return undefined
  for (const request of outcome.inputRequests.values()) {
    const missing = missingForInput(context.peer.capabilities, request)
    if (missing !== undefined) return toRpcError(missingCapability(missing))
  }
  return undefined
}
