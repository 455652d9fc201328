import { type Call, isJsonObject, levelAdmits, type LogLevel, method, notice as noticeName } from '@atenea/mcpcompat'
import { memberOf, metaKey, metaOf, type PendingCall, type RpcNotification } from '@atenea/mcpcompat/transport'

/** Whether a call asked for a notice that came on its stream. `acknowledged`: its subscription is in force. */
export function isWanted(message: RpcNotification, notice: Call, pending: PendingCall, acknowledged: boolean): boolean {
  const { context, call, id } = pending
  if (call.method === method.listen) {
    const meta = metaOf(message.params)
    const subscription = isJsonObject(meta) ? meta[metaKey.subscriptionId] : undefined
    // The stream tells whose it is; a name that contradicts it does not count (MC-SUB-03).
    if (subscription !== undefined && subscription !== id) return false
    return (message.method === noticeName.acknowledged) !== acknowledged
  }
  switch (message.method) {
    case noticeName.progress: {
      const token = memberOf(message.params, 'progressToken')
      return context.progressToken !== undefined && token === id && pending.advances(notice)
    }
    case noticeName.message:
      return levelAdmits(context.logLevel, memberOf(notice.params, 'level') as LogLevel)
    case noticeName.toolsChanged:
    case noticeName.promptsChanged:
    case noticeName.resourcesChanged:
    case noticeName.resourceUpdated:
    case noticeName.acknowledged:
    case noticeName.cancelled:
      return false
    default:
      return true // of an extension
  }
}
