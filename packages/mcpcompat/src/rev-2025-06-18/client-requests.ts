import type { PeerPort } from '../contract/peer-port.ts'
import type { JsonObject } from '../jsonrpc/json.ts'
import type { RpcId, RpcResponse } from '../jsonrpc/message.ts'

type OnResponse = (response: RpcResponse | undefined) => void

/**
 * Requests that a session makes for itself: the handshake, log level and subscriptions. What waits for an answer is told in the
 * same turn in which the answer comes, so that nothing that follows it is handled first; `undefined` means that none will come.
 */
export class ClientRequests {
  readonly #port: PeerPort
  readonly #nextId: () => RpcId
  readonly #waiting = new Map<RpcId, OnResponse>()
  #over = false

  constructor(port: PeerPort, nextId: () => RpcId) {
    this.#port = port
    this.#nextId = nextId
  }

  send(method: string, params: JsonObject, onResponse: OnResponse): void {
    if (this.#over) {
      onResponse(undefined)
      return
    }
    const id = this.#nextId()
    this.#waiting.set(id, onResponse)
    const failed = (): void => void this.#settle(id, undefined)
    try {
      const taken = this.#port.send({ kind: 'request', id, method, params })
      if (taken !== undefined) taken.then(undefined, failed)
    } catch {
      failed()
    }
  }

  /** Takes an answer. False when none of these requests waits for it. */
  answered(response: RpcResponse): boolean {
    return response.id !== undefined && this.#settle(response.id, response)
  }

  end(): void {
    this.#over = true
    for (const id of this.#waiting.keys()) this.#settle(id, undefined)
  }

  #settle(id: RpcId, response: RpcResponse | undefined): boolean {
    const onResponse = this.#waiting.get(id)
    if (onResponse === undefined) return false
    this.#waiting.delete(id)
    onResponse(response)
    return true
  }
}
