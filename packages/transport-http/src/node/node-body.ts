import type { ClientRequest, IncomingMessage } from 'node:http'
import { type AbortWatcher, TransportError } from '@atenea/mcpcompat'
import { type Channel, channel } from '@atenea/mcpcompat/transport'
import { safeUrl } from '../safe-url.ts'
import type { Ending, HttpBody } from '../send.ts'

export interface NodeBodyOptions {
  readonly incoming: IncomingMessage
  readonly outgoing: ClientRequest
  readonly url: string
  /** Ends the exchange; it is let go when the body has come. */
  readonly ending: Ending
}

/** The body of one answer. Nothing is read off the connection before somebody wants it, but for what came with the head. */
export class NodeBody implements HttpBody, AbortWatcher {
  readonly #options: NodeBodyOptions
  #channel: Channel<Uint8Array> | undefined
  /** Set once all has come, or nothing more will. */
  #isOver = false
  /** Why nothing more will come, for whoever begins to read afterwards. */
  #failure: Error | undefined

  constructor(options: NodeBodyOptions) {
    const { incoming, ending } = options
    this.#options = options
    incoming.on('error', this.#broke)
    if (ending.isAborted) this.aborted(ending.reason)
    else ending.watch(this)
  }

  atHand(): Uint8Array | undefined {
    const { incoming } = this.#options
    if (!incoming.complete || this.#isOver || this.#channel !== undefined) return undefined
    const bytes = incoming.read() as Uint8Array | null
    this.#over()
    return bytes ?? nothing
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    const { incoming, outgoing } = this.#options
    const pieces: Channel<Uint8Array> = channel({
      waitAtBytes: 65_536,
      // What one read brings beyond that; reading has been stopped by then.
      maxBytes: 64 * 1_048_576,
      onStop: () => void outgoing.destroy(),
    })
    this.#channel = pieces
    if (this.#isOver) {
      pieces.end(this.#failure)
      return pieces[Symbol.asyncIterator]()
    }
    incoming.on('data', (chunk: Buffer) => {
      const full = pieces.push(chunk, chunk.length)
      if (full === undefined) return
      incoming.pause()
      void full.then(() => incoming.resume())
    })
    incoming.once('end', () => {
      this.#over()
      pieces.end()
    })
    incoming.once('close', () => this.#broke(undefined))
    if (incoming.destroyed) this.#broke(undefined)
    return pieces[Symbol.asyncIterator]()
  }

  /** Whoever made the request ends it. */
  aborted(reason: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#failure = reason as Error
    this.#channel?.fail(this.#failure)
    this.#options.outgoing.destroy()
  }

  #over(): void {
    this.#isOver = true
    this.#options.ending.unwatch(this)
  }

  readonly #broke = (cause: Error | undefined): void => {
    if (this.#isOver) return
    const text = `The answer of ${safeUrl(this.#options.url)} broke off${cause === undefined ? '' : codeText(cause)}`
    this.#failure = new TransportError('closed', text, cause === undefined ? {} : { cause })
    this.#over()
    this.#channel?.end(this.#failure)
  }
}

const nothing = new Uint8Array(0)

/** The code of an error of the system, in brackets, for a message. */
export function codeText(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  return code === undefined ? '' : ` (${code})`
}
