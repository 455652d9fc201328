import type { Call } from './call.ts'
import type { OnDiagnostic } from './diagnostics.ts'
import { RpcError, rpcCode } from '../jsonrpc/errors.ts'
import { type Json, toText } from '../jsonrpc/json.ts'
import type { RpcErrorObject } from '../jsonrpc/message.ts'

/** What is answered when something failed that is not the caller's business. */
export const internalError: RpcErrorObject = { code: rpcCode.internalError, message: 'Internal error' }

/**
 * The error object of whatever a dispatcher threw. Only an `RpcError` was meant for the caller; the text of anything else may
 * hold secrets and stays here (MC-ERR-14).
 */
export function toErrorObject(error: unknown): RpcErrorObject {
  if (!RpcError.is(error)) return internalError
  const code = Number.isSafeInteger(error.code) ? error.code : rpcCode.internalError
  return error.data === undefined || !isWritable(error.data)
    ? { code, message: error.message }
    : { code, message: error.message, data: error.data }
}

/** The error of a peer's answer, as a caller gets it. */
export function toRpcError(error: RpcErrorObject): RpcError {
  return new RpcError(error.code, error.message, error.data === undefined ? undefined : { data: error.data })
}

/** Data that JSON cannot hold is left out, since the answer itself must not fail. */
function isWritable(data: Json): boolean {
  try {
    toText(data)
    return true
  } catch {
    return false
  }
}

/** Reports what a dispatcher threw, unless it was meant for the caller. Its text goes nowhere else. */
export function reportFailure(error: unknown, call: Call, onDiagnostic: OnDiagnostic | undefined): void {
  if (RpcError.is(error)) return
  onDiagnostic?.({
    level: 'error',
    code: 'handler-failed',
    message: `A call of ${call.method.slice(0, 80)} failed in a way that only its cause explains; the caller was told "${internalError.message}".`,
    cause: error,
  })
}
