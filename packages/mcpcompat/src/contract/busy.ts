import { RpcError, rpcCode } from '../jsonrpc/errors.ts'
import { isJsonObject, type Json, toValue } from '../jsonrpc/json.ts'

/**
 * There is no room at the moment: nothing was done, and the same request may go well after a while. Carriers with words for that use them, as
 * HTTP does.
 */
export function busyError(message: string, retryAfterMs: number): RpcError {
  return new RpcError(rpcCode.internalError, message, { data: { retryAfterMs } })
}

/** After how many milliseconds a `busyError` with this data asks to come back; `undefined` for the data of any other error. */
export function retryAfterOf(data: Json | undefined): number | undefined {
  const value = data === undefined ? undefined : toValue(data)
  const afterMs = value !== undefined && isJsonObject(value) ? value['retryAfterMs'] : undefined
  return typeof afterMs === 'number' && afterMs >= 0 ? afterMs : undefined
}
