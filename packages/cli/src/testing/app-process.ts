import { type ChildProcess, spawn } from 'node:child_process'

/** A JSON-RPC message as it came over the wire. */
export interface WireMessage {
  readonly jsonrpc?: string
  readonly id?: string | number | null
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface AppProcessOptions {
  /** The file of the binary. */
  readonly file: string
  readonly args: readonly string[]
  /** What its environment has besides ours. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Default the Node that runs the tests. */
  readonly execPath?: string
}

/** A binary under test as a child, spoken to in raw lines, with all that it wrote. Disposing it ends it. */
export class AppProcess implements AsyncDisposable {
  readonly child: ChildProcess
  readonly messages: WireMessage[] = []
  /** Lines of stdout that are no JSON objects. */
  readonly noise: string[] = []
  readonly ended: Promise<Ended>
  stderr = ''
  stdout = ''
  #rest = ''
  #waiting: (() => void)[] = []

  constructor({ file, args, environment, execPath = process.execPath }: AppProcessOptions) {
    this.child = spawn(execPath, [file, ...args], {
      env: { ...process.env, ...environment },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => this.#take(text))
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text
      this.#wake()
    })
    this.child.stdin?.on('error', () => undefined)
    this.ended = new Promise((resolve) => {
      this.child.on('close', (code, signal) => {
        resolve({ code, signal })
        this.#wake()
      })
    })
  }

  /** Writes one message, or text as it is. */
  send(message: WireMessage | string): void {
    this.child.stdin?.write(
      typeof message === 'string' ? message : `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`,
    )
  }

  endInput(): void {
    this.child.stdin?.end()
  }

  /** The response to this id. Rejects when the process ends without it. */
  async answer(id: string | number): Promise<WireMessage> {
    return await this.until(`an answer to ${JSON.stringify(id)}`, () =>
      this.messages.find((message) => message.id === id && message.method === undefined),
    )
  }

  /** Resolves with what `look` finds in what was written so far. Rejects when the process ends without it. */
  async until<T>(what: string, look: () => T | undefined): Promise<T> {
    for (;;) {
      const found = look()
      if (found !== undefined) return found
      if (this.child.exitCode !== null || this.child.signalCode !== null) {
        throw new Error(`the process ended before ${what}; stderr: ${this.stderr}`)
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill('SIGKILL')
    await this.ended
  }

  #take(text: string): void {
    this.stdout += text
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line.startsWith('{')) this.messages.push(JSON.parse(line) as WireMessage)
      else this.noise.push(line)
    }
    this.#wake()
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
