import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { modernRevision } from '@atenea/mcpcompat'

/** The file that `npx atenea-server` runs. It loads the built bundle, so these tests need a build. */
export const binPath: string = join(import.meta.dirname, '../../bin/atenea-server.js')

if (!existsSync(join(import.meta.dirname, '../../dist/main.js'))) {
  throw new Error('apps/server is not built: run npx -y pnpm@12 build first')
}

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

/** The binary as a child, spoken to in raw lines, with all that it wrote. Disposing it ends it. */
export class ServerProcess implements AsyncDisposable {
  readonly child: ChildProcess
  readonly messages: WireMessage[] = []
  /** Lines of stdout that are no JSON objects: there must never be any. */
  readonly noise: string[] = []
  readonly ended: Promise<Ended>
  stderr = ''
  stdout = ''
  #rest = ''
  #waiting: (() => void)[] = []

  constructor(
    args: readonly string[],
    environment: Readonly<Record<string, string | undefined>> = {},
    execPath = process.execPath,
  ) {
    this.child = spawn(execPath, [binPath, ...args], {
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
    this.child.stdin?.write(typeof message === 'string' ? message : `${JSON.stringify(message)}\n`)
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

  /** A modern request, answered. */
  async ask(id: string | number, method: string, params: object = {}): Promise<WireMessage> {
    this.send({ jsonrpc: '2.0', id, method, params: { ...params, _meta: modernMeta } })
    return await this.answer(id)
  }

  /** A request without a claim, answered. */
  async askLegacy(id: string | number, method: string, params: object = {}): Promise<WireMessage> {
    this.send({ jsonrpc: '2.0', id, method, params: { ...params } })
    return await this.answer(id)
  }

  /** The legacy handshake. */
  async initialize(protocolVersion: string, id: string | number = 'init'): Promise<WireMessage> {
    const answer = await this.askLegacy(id, 'initialize', {
      protocolVersion,
      capabilities: {},
      clientInfo: { name: 'raw', version: '1' },
    })
    this.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    return answer
  }

  async until<T>(what: string, look: () => T | undefined): Promise<T> {
    for (;;) {
      const found = look()
      if (found !== undefined) return found
      if (this.child.exitCode !== null || this.child.signalCode !== null) {
        throw new Error(`the server ended before ${what}; stderr: ${this.stderr}`)
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

export const modernMeta = {
  'io.modelcontextprotocol/protocolVersion': modernRevision,
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
