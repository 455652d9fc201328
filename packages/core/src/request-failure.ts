import { type OnDiagnostic, type Outcome, RpcError, rpcCode } from '@atenea/mcpcompat'
import { ToolError } from './tool-error.ts'

/** What the failure of a handler becomes where results have no place for errors: an internal error that keeps its text here. */
export function requestFailure(label: string, report: OnDiagnostic): (error: unknown) => Outcome {
  return (error) => {
    if (ToolError.is(error)) throw new RpcError(rpcCode.internalError, error.message, { cause: error })
    report({ level: 'error', code: 'handler-failed', message: `The ${label} failed.`, cause: error })
    throw new RpcError(rpcCode.internalError, `The ${label} failed because of an error on the server.`, {
      cause: error,
    })
  }
}
