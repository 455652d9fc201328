import type { ResponseHead } from './response-head.ts'

/** A proxy does not let us through to the server. */
export class TunnelRefused extends Error {
  override readonly name: string = 'TunnelRefused'
  readonly head: ResponseHead

  constructor(head: ResponseHead) {
    super(`the proxy on the way refused with ${head.status}`)
    this.head = head
  }
}
