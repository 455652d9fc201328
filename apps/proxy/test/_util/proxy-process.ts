import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AppProcess, type AppProcessOptions, type WireMessage } from '@atenea/cli/testing'
import { modernRevision } from '@atenea/mcpcompat'

/** The file that `npx @atenea/proxy` runs. It loads the built bundle, so these tests need a build. */
export const binPath: string = join(import.meta.dirname, '../../bin/atenea-proxy.js')

if (!existsSync(join(import.meta.dirname, '../../dist/main.js'))) {
  throw new Error('apps/proxy is not built: run npx -y pnpm@12 build first')
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

/** The built binary as a child. */
export class ProxyProcess extends AppProcess {
  constructor(args: readonly string[], environment: AppProcessOptions['environment'] = {}) {
    super({ file: binPath, args, environment: { ...home.environment, ...environment } })
  }

  /** A modern request, answered. Rejects when the process ends without an answer. */
  async ask(id: string | number, method: string, params: object = {}): Promise<WireMessage> {
    this.send({ id, method, params: { ...params, _meta: modernMeta } })
    return await this.answer(id)
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

  async says(text: string | RegExp): Promise<RegExpExecArray | string> {
    return await this.until(`it says ${text}`, () =>
      typeof text === 'string'
        ? this.stderr.includes(text)
          ? text
          : undefined
        : (text.exec(this.stderr) ?? undefined),
    )
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
