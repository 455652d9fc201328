import { type Connection, encodeMessage, parseMessage } from '@atenea/mcpcompat/transport'
import { dialSocket } from '@atenea/transport-stdio'
import type { Recording } from './recording.ts'

/** A transport for the clients of both SDKs, which have none for unix sockets, over our own dialer. */
export class SocketTransport {
  onmessage?: ((message: never) => void) | undefined
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  readonly #path: string
  readonly #keep: (text: string) => void
  #connection: Connection | undefined
  #reading: Promise<void> | undefined

  constructor(path: string, recording: Recording) {
    this.#path = path
    this.#keep = recording.stream()
  }

  async start(): Promise<void> {
    this.#connection = await dialSocket(this.#path, { payload: 'text' })
    this.#reading = this.#read(this.#connection)
  }

  async send(message: unknown): Promise<void> {
    const parsed = parseMessage(JSON.stringify(message), 'text')
    if (parsed.kind === 'reject') throw new Error(`the SDK sent what is no message: ${JSON.stringify(message)}`)
    await this.#connection?.send(parsed)
  }

  async close(): Promise<void> {
    await this.#connection?.[Symbol.asyncDispose]()
    await this.#reading
  }

  async #read(connection: Connection): Promise<void> {
    try {
      for await (const batch of connection.inbound) {
        for (const { message } of batch) {
          if (message.kind === 'reject') throw new Error(message.reason)
          const line = encodeMessage(message)
          this.#keep(`${line}\n`)
          this.onmessage?.(JSON.parse(line) as never)
        }
      }
    } catch (error) {
      this.onerror?.(error as Error)
    }
    this.onclose?.()
  }
}
