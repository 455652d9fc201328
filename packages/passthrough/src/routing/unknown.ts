import { RpcError, rpcCode } from '@atenea/mcpcompat'
import type { ListKind } from '../lists/list-kind.ts'

/** What does not exist, and what is not allowed, are answered with the same words (F5). */
export function unknownName({ noun }: ListKind, name: string): RpcError {
  return new RpcError(rpcCode.invalidParams, `Unknown ${noun}: ${name}`)
}

export function resourceNotFound(uri: string): RpcError {
  return new RpcError(rpcCode.invalidParams, 'Resource not found', { data: { uri } })
}

/** Pins say that it must not be used; its user put them there and should know. */
export function refusedByPins({ noun }: ListKind, name: string, reason: string): RpcError {
  return new RpcError(rpcCode.invalidParams, `The ${noun} ${JSON.stringify(name)} is refused by mcp.lock: ${reason}`)
}

/** Never guessed: whoever is meant, the other would be called sometimes. */
export function ambiguousName({ noun }: ListKind, name: string, backends: readonly string[]): RpcError {
  const owners = backends.map((backend) => JSON.stringify(backend)).join(' and ')
  return new RpcError(
    rpcCode.invalidParams,
    `The ${noun} ${JSON.stringify(name)} is offered by ${owners}; one of them must be given another name in the configuration of the proxy`,
  )
}
