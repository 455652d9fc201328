import { method, RpcError } from '@atenea/mcpcompat'
import { isNotFound } from '@atenea/mcpcompat/transport'

/** Whether a backend says that it has no such resource. */
export function isMissingResource(error: unknown, uri: string): boolean {
  if (!RpcError.is(error)) return false
  const { code, message, data } = error
  const object = data === undefined ? { code, message } : { code, message, data }
  return isNotFound(object, { method: method.readResource, uri })
}
