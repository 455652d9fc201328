import type { Socket } from 'node:net'
import { openSocket } from './http-generator.ts'

/** One open stream of events, of which only is looked at what it has said. */
export interface OpenStream {
  /** Resolves when the text has come since the last wait; rejects when the stream has ended. One wait at a time. */
  until(text: string): Promise<void>
  readonly open: boolean
  /** Breaks the connection. */
  destroy(): void
}

/** Sends a request whose answer is a stream of events. */
export async function openStream(port: number, request: string): Promise<OpenStream> {
  const socket = await openSocket(port)
  const reader = new StreamReader(socket)
  socket.write(request)
  return reader
}

class StreamReader implements OpenStream {
  readonly #socket: Socket
  #text = ''
  #wanted: { readonly text: string; readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk: Buffer) => {
      this.#text += chunk.toString('latin1')
      this.#look()
    })
    socket.on('close', () => {
      const wanted = this.#wanted
      this.#wanted = undefined
      wanted?.reject(new Error(`the stream ended before ${wanted.text}: ${this.#text.slice(0, 500)}`))
    })
  }

  get open(): boolean {
    return !this.#socket.destroyed && !this.#socket.readableEnded
  }

  async until(text: string): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#wanted = { text, resolve, reject }
      if (this.open) this.#look()
      else reject(new Error(`the stream has ended: ${this.#text.slice(0, 500)}`))
    })
  }

  destroy(): void {
    this.#socket.destroy()
  }

  #look(): void {
    const wanted = this.#wanted
    if (wanted === undefined) return
    const at = this.#text.indexOf(wanted.text)
    if (at === -1) return
    this.#text = this.#text.slice(at + wanted.text.length)
    this.#wanted = undefined
    wanted.resolve()
  }
}
