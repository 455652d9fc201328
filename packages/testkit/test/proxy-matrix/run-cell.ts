import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Running } from '../_util/running.ts'
import { mark } from '../_util/fixtures.ts'
import { until } from '../_util/processes.ts'
import type { Carrier, Cell, ServerKind } from './cells.ts'
import { checks, type Mark } from './checks.ts'
import { connectV1, connectV2, type Front, type MatrixClient } from './clients.ts'

const fixtures = join(import.meta.dirname, '../../fixtures/servers')
const proxyBin = join(import.meta.dirname, '../../../../apps/proxy/bin/atenea-proxy.js')

/** How each check came out, in their order: a mark, or what went wrong. */
export type Outcomes = readonly (Mark | { readonly failed: string })[]

/** Starts the server, the built proxy and the client of a cell, and looks at everything. */
export async function runCell(cell: Cell): Promise<Outcomes> {
  const folder = mkdtempSync(join(tmpdir(), 'proxy-matrix-'))
  await using closers = new AsyncDisposableStack()
  closers.defer(() => rmSync(folder, { recursive: true, force: true }))
  const backend = await startServer(cell.server, cell.back, folder, closers)
  const client = await connect(cell, backend, folder, closers)
  const outcomes: (Mark | { readonly failed: string })[] = []
  for (const check of checks) {
    try {
      outcomes.push(await check.run(client, cell))
    } catch (error) {
      outcomes.push({ failed: `${check.name}: ${error instanceof Error ? error.message : String(error)}` })
    }
  }
  return outcomes
}

/** The words that name a server to the proxy, which starts those on stdio itself. */
async function startServer(
  kind: ServerKind,
  carrier: Carrier,
  folder: string,
  closers: AsyncDisposableStack,
): Promise<readonly string[]> {
  const file = join(fixtures, kind === 'SDK 1.32, legacy' ? 'matrix-v1.ts' : 'matrix-v2.ts')
  const node = ['--no-warnings', `--conditions=${mark}`, file]
  if (carrier === 'stdio') return ['--', process.execPath, ...node, 'stdio']
  const words = carrier === 'HTTP' ? ['http'] : ['socket', join(folder, 'server.sock')]
  const child = spawn(process.execPath, [...node, ...words], { stdio: ['ignore', 'pipe', 'inherit'] })
  closers.defer(async () => await stop(child))
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  return [line.toString().trim()]
}

async function connect(
  { client: kind, front: carrier }: Cell,
  backend: readonly string[],
  folder: string,
  closers: AsyncDisposableStack,
): Promise<MatrixClient> {
  const front = await startFront(carrier, ['--verdict-file', 'none', ...backend], folder, closers)
  const client = await (kind === 'SDK 1.32, legacy' ? connectV1(front) : connectV2(front))
  closers.defer(async () => await client.close())
  return client
}

async function startFront(
  carrier: Carrier,
  words: readonly string[],
  folder: string,
  closers: AsyncDisposableStack,
): Promise<Front> {
  if (carrier === 'stdio') {
    const { PATH = '' } = process.env
    const env = { PATH, XDG_STATE_HOME: join(folder, 'state'), XDG_CACHE_HOME: join(folder, 'cache') }
    return {
      carrier: 'stdio',
      child: { command: process.execPath, args: [proxyBin, '--log-level', 'error', ...words], env, stderr: 'inherit' },
    }
  }
  const path = join(folder, 'front.sock')
  const proxy = new Running({ app: 'proxy', folder, args: ['--socket', path, ...words] })
  closers.use(proxy)
  const url = await proxy.url()
  if (carrier === 'HTTP') return { carrier: 'http', url }
  await until(() => proxy.stderr.includes(path))
  return { carrier: 'socket', path }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}
