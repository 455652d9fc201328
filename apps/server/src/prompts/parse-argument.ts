import { RpcError, rpcCode } from '@atenea/mcpcompat'

const longestReason = 200

/** The JSON value of a prompt argument, which is always text. Text that is no JSON is the caller's fault (-32602). */
export function parseArgument(name: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, longestReason) : 'it cannot be read'
    throw new RpcError(rpcCode.invalidParams, `argument "${name}" must be JSON text: ${reason}`, { cause: error })
  }
}
