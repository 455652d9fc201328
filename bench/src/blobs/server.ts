import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { modernRevision } from '@atenea/mcpcompat'

const bin = fileURLToPath(new URL('../../../apps/server/bin/atenea-server.js', import.meta.url))
const meta = {
  'io.modelcontextprotocol/protocolVersion': modernRevision,
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
const patienceMs = 120_000

interface Answer {
  readonly id: number
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly message: string }
}

/** The built `atenea-server` on a pipe. */
export class BenchServer implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, (line: string) => void>()
  #id = 0

  constructor(pds: string, folder: string, config: string) {
    const network = ['--plc-directory', pds, '--allow-endpoint', pds]
    const files = ['--file-root', folder, '--cache-dir', join(folder, 'cache'), '--config', config]
    this.#child = spawn(process.execPath, [bin, '--stdio', '--log-level', 'error', ...network, ...files], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, XDG_STATE_HOME: folder },
    })
    if (this.#child.stdout === null) throw new Error('the server has no stdout')
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      // The id stands at the end or the beginning; a long answer is not parsed for it.
      const id = Number(/"id":(\d+)/.exec(line.length > 400 ? line.slice(0, 200) + line.slice(-200) : line)?.[1])
      this.#waiting.get(id)?.(line)
      this.#waiting.delete(id)
    })
  }

  /** The line that answers a request. */
  async line(method: string, params: object): Promise<string> {
    const id = ++this.#id
    const answered = new Promise<string>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no answer to ${method}`)), patienceMs)
      this.#waiting.set(id, (line) => {
        clearTimeout(timer)
        resolve(line)
      })
    })
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } })}\n`)
    return await answered
  }

  /** The result of a request. */
  async ask(method: string, params: object): Promise<Readonly<Record<string, unknown>>> {
    const answer = JSON.parse(await this.line(method, params)) as Answer
    if (answer.result === undefined || answer.result['isError'] === true) {
      throw new Error(`${method} failed: ${JSON.stringify(answer).slice(0, 500)}`)
    }
    return answer.result
  }

  /** The most memory that it ever had resident, in MiB. */
  peakMebibytes(): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8')
    return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const gone = new Promise((resolve) => this.#child.once('exit', resolve))
    this.#child.stdin?.end()
    await gone
  }
}
