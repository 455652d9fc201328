import type { RpcId } from '../jsonrpc/message.ts'

/** Gives ids that no other request of one side of one connection has (MC-ID-03, LG-MSG-02). */
export function createIds(): () => RpcId {
  let last = 0
  return () => ++last
}
