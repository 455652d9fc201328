import type { Inbound } from '../contract/connection.ts'
import { notice as noticeName } from '../contract/methods.ts'
import { cancelledId } from '../contract/peer-cancel.ts'
import { handshakeMethod } from '../classify.ts'
import type { RpcNotification } from '../jsonrpc/message.ts'

/** What is to be done with a batch: first what it cancels, then the rest of it. */
export interface OrderedBatch {
  readonly cancels: readonly RpcNotification[]
  readonly others: readonly Inbound[]
}

/** Whether a batch cancels anything, which most do not. */
export function hasCancel(batch: readonly Inbound[]): boolean {
  // By index, as everything that is done for each chunk: an iterator costs a young process as much as the check.
  for (let index = 0; index < batch.length; index++) {
    const { message } = batch[index] as Inbound
    if (message.kind === 'notification' && message.method === noticeName.cancelled) return true
  }
  return false
}

/**
 * Takes the cancels of a batch out of their turn, so that each is seen before work that was read with it. A request that is
 * cancelled in its own batch is not even started; one that follows its cancel is another request, whose sender uses the id again.
 */
export function orderBatch(batch: readonly Inbound[]): OrderedBatch {
  const cancels: RpcNotification[] = []
  const others: Inbound[] = []
  for (const inbound of batch) {
    const { message } = inbound
    if (message.kind !== 'notification' || message.method !== noticeName.cancelled) {
      others.push(inbound)
      continue
    }
    cancels.push(message)
    const id = cancelledId(message.params)
    const started = others.findLastIndex(
      (other) =>
        other.message.kind === 'request' && other.message.id === id && other.message.method !== handshakeMethod,
    )
    if (started !== -1) others.splice(started, 1)
  }
  return { cancels, others }
}
