import type { ChildProcess } from 'node:child_process'

interface ReceivedMessage {
  readonly id?: unknown
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
}

interface WatchedTransport {
  start(): Promise<void>
  send(message: never, options?: never): Promise<void>
}

/** What an SDK's transport sent and got: the SDKs parse what they get, and so lose what JavaScript's numbers cannot hold. */
export class Recording {
  readonly #received: { text: string }[] = []
  readonly sent: { readonly id?: unknown; readonly method?: unknown; readonly params?: unknown }[] = []
  /** Headers of requests, with the names in lower case. */
  readonly headers: Headers[] = []
  /** Streams that a legacy client keeps open over HTTP to hear of what nobody asked. */
  streams = 0

  /** All text that came from the proxy: a message a line, or server-sent events; responses over HTTP one after the other. */
  get received(): string {
    return this.#received.map(({ text }) => text).join('\n')
  }

  /** Keeps the text of one more stream. */
  stream(): (text: string) => void {
    const kept = { text: '' }
    this.#received.push(kept)
    return (text) => {
      kept.text += text
    }
  }

  /** What came that belongs to the latest request of a tool: its progress, then its answer. */
  about(tool: string): { readonly progress: readonly unknown[]; readonly answers: number; readonly inOrder: boolean } {
    const { id, params } =
      this.sent.findLast(
        (message) => message.method === 'tools/call' && (message.params as { readonly name: string }).name === tool,
      ) ?? {}
    const { progressToken } =
      (params as { readonly _meta?: { readonly progressToken?: unknown } } | undefined)?._meta ?? {}
    const ours = this.#messages().filter(
      (message) =>
        (message.id !== undefined && message.id === id) ||
        (message.method === 'notifications/progress' && message.params?.progressToken === progressToken),
    )
    const progress = ours.flatMap(({ params: { progressToken: _, _meta, ...rest } = {}, method }) =>
      method === undefined ? [] : [rest],
    )
    const answers = ours.length - progress.length
    return { progress, answers, inOrder: ours.at(-1)?.method === undefined }
  }

  #messages(): readonly ReceivedMessage[] {
    const lines = this.received.split('\n').map((line) => line.replace(/^data: ?/, ''))
    return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as ReceivedMessage)
  }

  /** Keeps what goes through a transport of either SDK, `received` only of one that starts a child. */
  watch<T extends WatchedTransport>(transport: T): T {
    const { send, start } = transport
    transport.send = async (message, options) => {
      this.sent.push(message)
      await send.call(transport, message, options)
    }
    transport.start = async () => {
      const starting = start.call(transport)
      // Both SDKs hold their child in a member of that name, and give no other way to the text.
      const { _process: child } = transport as { readonly _process?: ChildProcess }
      const decoder = new TextDecoder()
      const keep = this.stream()
      child?.stdout?.on('data', (chunk: Buffer) => keep(decoder.decode(chunk, { stream: true })))
      await starting
    }
    return transport
  }

  /** `fetch` for transports over HTTP. */
  readonly fetch = async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    this.headers.push(new Headers(init.headers))
    const response = await fetch(url, init)
    if (response.body === null) return response
    if (init.method === 'GET' && response.ok) this.streams += 1
    const decoder = new TextDecoder()
    const keep = this.stream()
    const record = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        keep(decoder.decode(chunk, { stream: true }))
        controller.enqueue(chunk)
      },
    })
    return new Response(response.body.pipeThrough(record), response)
  }
}
