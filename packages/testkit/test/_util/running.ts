import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type JsonObject, modernRevision } from '@atenea/mcpcompat'
import { modernMeta } from './http-client.ts'
import { until } from './processes.ts'

export interface RunBinaryOptions {
  /** Name of the app, whose bundle has to be built. */
  readonly app: 'server' | 'proxy'
  readonly args: readonly string[]
  /** Where it keeps what it remembers. */
  readonly folder: string
  readonly environment?: Readonly<Record<string, string>>
}

/** A built app as a child, on an HTTP port of its own. */
export class Running implements AsyncDisposable {
  readonly child: ChildProcess
  readonly ended: Promise<number | null>
  stderr = ''

  constructor({ app, args, folder, environment = {} }: RunBinaryOptions) {
    const root = join(import.meta.dirname, '../../../../apps', app)
    if (!existsSync(join(root, 'dist/main.js')))
      throw new Error(`apps/${app} is not built: run npx -y pnpm@12 build first`)
    const state = { XDG_STATE_HOME: join(folder, 'state'), XDG_CACHE_HOME: join(folder, 'cache') }
    const bin = join(root, `bin/atenea-${app}.js`)
    this.child = spawn(process.execPath, [bin, '--http', '0', '--log-level', 'debug', ...args], {
      env: { ...process.env, ...state, ...environment },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.stderr += text))
    this.ended = new Promise((resolve) => this.child.on('close', resolve))
  }

  async url(): Promise<string> {
    const found = (): string | undefined => /listening url=(\S+)/.exec(this.stderr)?.[1]
    await until(() => found() !== undefined || this.child.exitCode !== null)
    const url = found()
    if (url === undefined) throw new Error(this.stderr)
    return url
  }

  async ask(token: string | undefined, method: string, params: JsonObject = {}): Promise<Response> {
    const { name } = params
    return await fetch(await this.url(), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': modernRevision,
        'mcp-method': method,
        ...(typeof name === 'string' && { 'mcp-name': name }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: modernMeta } }),
    })
  }

  async tools(token: string): Promise<readonly string[]> {
    const { result } = (await (await this.ask(token, 'tools/list')).json()) as {
      readonly result: { readonly tools: readonly { readonly name: string }[] }
    }
    return result.tools.map(({ name }) => name)
  }

  /** The structured content of a call, or the text of its error. */
  async call(token: string, name: string, args: JsonObject): Promise<unknown> {
    const { result, error } = (await (await this.ask(token, 'tools/call', { name, arguments: args })).json()) as {
      readonly result?: {
        readonly isError?: boolean
        readonly structuredContent?: unknown
        readonly content: readonly { readonly text?: string }[]
      }
      readonly error?: { readonly message: string }
    }
    return result === undefined
      ? error?.message
      : result.isError === true
        ? result.content[0]?.text
        : result.structuredContent
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill('SIGKILL')
    await this.ended
  }
}
