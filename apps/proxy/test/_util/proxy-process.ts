import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { modernRevision } from '@atenea/mcpcompat'

/** The file that `npx @atenea/proxy` runs. It loads the built bundle, so these tests need a build. */
export const binPath: string = join(import.meta.dirname, '../../bin/atenea-proxy.js')

if (!existsSync(join(import.meta.dirname, '../../dist/main.js'))) {
  throw new Error('apps/proxy is not built: run npx -y pnpm@12 build first')
}

/** A JSON-RPC message as it came over the wire. */
export interface WireMessage {
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

/** Variables that keep what the proxy remembers and listens on out of the home of whoever runs the tests. */
export function privateHome(): { readonly environment: Readonly<Record<string, string>>; [Symbol.dispose](): void } {
  const folder = mkdtempSync(join(tmpdir(), 'atenea-proxy-'))
  return {
    environment: { XDG_CACHE_HOME: join(folder, 'cache'), XDG_STATE_HOME: join(folder, 'state') },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}

const home = privateHome()
process.once('exit', () => home[Symbol.dispose]())

/** The built binary as a child, spoken to in raw lines, with all that it wrote. Disposing it ends it. */
export class ProxyProcess implements AsyncDisposable {
  readonly child: ChildProcess
  readonly messages: WireMessage[] = []
  /** Lines of stdout that are no JSON objects. */
  readonly noise: string[] = []
  readonly ended: Promise<Ended>
  stderr = ''
  stdout = ''
  #rest = ''
  #waiting: (() => void)[] = []

  constructor(args: readonly string[], environment: Readonly<Record<string, string | undefined>> = home.environment) {
    this.child = spawn(process.execPath, [binPath, ...args], {
      env: { ...process.env, ...home.environment, ...environment },
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

  send(message: WireMessage): void {
    this.child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }

  endInput(): void {
    this.child.stdin?.end()
  }

  /** A modern request, answered. Rejects when the process ends without an answer. */
  async ask(id: string | number, method: string, params: object = {}): Promise<WireMessage> {
    this.send({ id, method, params: { ...params, _meta: modernMeta } })
    return await this.answer(id)
  }

  async answer(id: string | number): Promise<WireMessage> {
    return await this.until(`an answer to ${id}`, () =>
      this.messages.find((message) => message.id === id && message.method === undefined),
    )
  }

  /** Calls a tool and gives the text of its result. */
  async tool(id: string | number, name: string, args: object = {}): Promise<string> {
    const { result, error } = await this.ask(id, 'tools/call', { name, arguments: args })
    if (result === undefined) throw new Error(`${error?.code}: ${error?.message}`)
    return String((result['content'] as readonly { readonly text?: string }[])[0]?.text)
  }

  /** The names of the tools that are listed. */
  async toolNames(id: string | number): Promise<readonly string[]> {
    const { result, error } = await this.ask(id, 'tools/list')
    if (result === undefined) throw new Error(`${error?.code}: ${error?.message}`)
    return (result['tools'] as readonly { readonly name: string }[]).map(({ name }) => name)
  }

  /** Resolves with what `look` finds in what was written so far. */
  async until<T>(what: string, look: () => T | undefined): Promise<T> {
    for (;;) {
      const found = look()
      if (found !== undefined) return found
      if (this.child.exitCode !== null || this.child.signalCode !== null) {
        throw new Error(`the proxy ended before ${what}; stderr: ${this.stderr}`)
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  async says(text: string | RegExp): Promise<RegExpExecArray | string> {
    return await this.until(`it says ${text}`, () =>
      typeof text === 'string'
        ? this.stderr.includes(text)
          ? text
          : undefined
        : (text.exec(this.stderr) ?? undefined),
    )
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

/** Starts a proxy that serves HTTP, and gives its URL. */
export async function servingHttp(
  ...args: readonly string[]
): Promise<{ readonly proxy: ProxyProcess; readonly url: string }> {
  const proxy = new ProxyProcess(['--http', '0', ...args])
  const url = await proxy.until('it listens', () => /listening url=(\S+)/.exec(proxy.stderr)?.[1])
  return { proxy, url }
}

const modernMeta = {
  'io.modelcontextprotocol/protocolVersion': modernRevision,
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
