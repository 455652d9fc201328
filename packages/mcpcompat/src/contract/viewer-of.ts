import { isJsonObject } from '../jsonrpc/json.ts'
import type { RpcMessage, RpcReject } from '../jsonrpc/message.ts'
import { metaKey, metaOf } from '../meta.ts'
import type { Peer } from './context.ts'
import type { Viewer } from './dispatcher.ts'

/** Whoever sent a message, before it has been checked: what it says that it can be asked. `undefined` where it says nothing of it. */
export function viewerOf(message: RpcMessage | RpcReject): Viewer | undefined {
  if (message.kind !== 'request' && message.kind !== 'notification') return undefined
  const meta = metaOf(message.params)
  const capabilities = isJsonObject(meta) ? meta[metaKey.clientCapabilities] : undefined
  if (!isJsonObject(capabilities)) return undefined
  if (lastViewer?.peer.capabilities !== capabilities) lastViewer = { peer: { capabilities } }
  return lastViewer
}

/** Of the `_meta` that was read last, which is remembered as well: one client that says the same again is the same viewer. */
let lastViewer: { readonly peer: Peer } | undefined
