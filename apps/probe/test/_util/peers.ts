import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import type { ProbeTarget } from '../../src/report.ts'
import { deadUrl } from './hosts.ts'

const testkit = join(import.meta.dirname, '../../../../packages/testkit')

/** A server at a URL, ended by disposing it. */
export interface Peer extends AsyncDisposable {
  readonly url: string
}

/** A server of `packages/testkit/fixtures/servers` as a command. */
export function fixtureCommand(name: string, ...args: readonly string[]): ProbeTarget {
  const file = join(testkit, `fixtures/servers/${name}.ts`)
  return { kind: 'command', command: process.execPath, args: ['--no-warnings', file, ...args] }
}

/** One that serves HTTP and prints its URL. */
export async function fixtureUrl(name: string, ...args: readonly string[]): Promise<Peer> {
  const file = join(testkit, `fixtures/servers/${name}.ts`)
  const child = spawn(process.execPath, ['--no-warnings', file, ...args], { stdio: ['ignore', 'pipe', 'ignore'] })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  return { url: line.toString().trim(), [Symbol.asyncDispose]: async () => await ended(child) }
}

/** The server of the MCP project that shows every feature. */
export function everythingCommand(...args: readonly string[]): readonly string[] {
  const manifest = createRequire(join(testkit, 'package.json')).resolve(
    '@modelcontextprotocol/server-everything/package.json',
  )
  return [join(dirname(manifest), 'dist/index.js'), ...args]
}

/** The same over HTTP; it is told its port. */
export async function everythingUrl(): Promise<Peer> {
  const port = new URL(await deadUrl()).port
  const env = { ...process.env, PORT: port }
  const child = spawn(process.execPath, [...everythingCommand('streamableHttp')], { stdio: 'ignore', env })
  await accepts(Number(port))
  return { url: `http://127.0.0.1:${port}/mcp`, [Symbol.asyncDispose]: async () => await ended(child) }
}

const serverBin = join(import.meta.dirname, '../../../server/bin/atenea-server.js')

/** Our own server as a command. It loads the built bundle. */
export function ownCommand(...args: readonly string[]): ProbeTarget {
  if (!existsSync(join(dirname(serverBin), '../dist/main.js'))) {
    throw new Error('apps/server is not built: run npx -y pnpm@12 build first')
  }
  return { kind: 'command', command: process.execPath, args: [serverBin, ...args] }
}

/** Our own server, listening with these flags until it is disposed. `ready` resolves when it can be reached. */
export async function ownServer(args: readonly string[], ready: () => Promise<boolean>): Promise<AsyncDisposable> {
  const child = spawn(process.execPath, [serverBin, ...args], { stdio: 'ignore' })
  while (!(await ready())) {
    if (child.exitCode !== null) throw new Error(`atenea-server ${args.join(' ')} ended with ${child.exitCode}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return { [Symbol.asyncDispose]: async () => await ended(child) }
}

/** Whether somebody listens, at a port or at the path of a socket. */
export async function isListening(at: { readonly port: number } | { readonly path: string }): Promise<boolean> {
  const socket = connect('port' in at ? { port: at.port, host: '127.0.0.1' } : at)
  const is = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true))
    socket.once('error', () => resolve(false))
  })
  socket.destroy()
  return is
}

async function accepts(port: number): Promise<void> {
  while (!(await isListening({ port }))) await new Promise((resolve) => setTimeout(resolve, 50))
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}
