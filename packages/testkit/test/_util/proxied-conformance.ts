import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConformanceLeg, type LegResult, runConformance } from '../../src/conformance-gate.ts'
import { listenForConformance } from '../../src/conformance-listener.ts'
import { policyOfList } from '../../src/conformance-revisions.ts'
import { Running } from './running.ts'

const stdioServer = join(import.meta.dirname, '../../bin/conformance-stdio.js')

export interface ProxiedConformanceOptions {
  /** How the proxy reaches the server that the suite is about. */
  readonly carrier: 'http' | 'stdio'
  /** Revisions that this server speaks, with commas between them. */
  readonly backendRevisions: string
  /** Flags of the proxy, beside its HTTP front and the server. */
  readonly flags: readonly string[]
}

/** The built proxy on HTTP, in front of the server that the official suite calls. Disposing it ends both. */
export class ProxiedConformance implements AsyncDisposable {
  readonly #proxy: Running
  readonly #dispose: () => Promise<void>

  constructor(proxy: Running, dispose: () => Promise<void>) {
    this.#proxy = proxy
    this.#dispose = dispose
  }

  /** Runs the suite against the front of the proxy. */
  async run(
    revision: string,
    selection: ConformanceLeg['selection'],
    excused?: ConformanceLeg['excused'],
  ): Promise<LegResult> {
    return await runConformance({
      side: 'server',
      target: await this.#proxy.url(),
      revision,
      selection,
      excused,
      limitMs: 4 * 60_000,
    })
  }

  /** What the proxy logged, for people who look into a failure. */
  get log(): string {
    return this.#proxy.stderr
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#dispose()
  }
}

/** Starts a server that the official suite calls, and the built proxy in front of it. */
export async function proxiedConformance(options: ProxiedConformanceOptions): Promise<ProxiedConformance> {
  const { carrier, backendRevisions, flags } = options
  const folder = mkdtempSync(join(tmpdir(), 'proxied-conformance-'))
  const listener =
    carrier === 'http' ? await listenForConformance({ policy: policyOfList(backendRevisions) }) : undefined
  const command = ['--', process.execPath, stdioServer, '--revisions', backendRevisions]
  const target = listener === undefined ? command : [listener.url]
  const proxy = new Running({ app: 'proxy', folder, args: [...flags, '--verdict-file', 'none', ...target] })
  return new ProxiedConformance(proxy, async () => {
    await proxy[Symbol.asyncDispose]()
    await listener?.close({ timeoutMs: 0 })
    rmSync(folder, { recursive: true, force: true })
  })
}
