import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface StartedServer extends AsyncDisposable {
  readonly url: string
}

/** Starts a server of `fixtures/servers` that serves HTTP and prints its URL. */
export async function startHttpFixture(name: string): Promise<StartedServer> {
  const file = fileURLToPath(new URL(`../../fixtures/servers/http-${name}.ts`, import.meta.url))
  const child = spawn(process.execPath, ['--no-warnings', file], { stdio: ['ignore', 'pipe', 'ignore'] })
  const [line] = (await Promise.race([once(child.stdout, 'data'), exited(child)])) as [Buffer]
  return { url: line.toString().trim(), [Symbol.asyncDispose]: async () => await stop(child) }
}

/** Starts the server of the MCP project that shows every feature, which is told its port. */
export async function startEverything(): Promise<StartedServer> {
  const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json')
  const port = await freePort()
  const child = spawn(process.execPath, [join(dirname(manifest), 'dist/index.js'), 'streamableHttp'], {
    stdio: 'ignore',
    env: { ...process.env, PORT: String(port) },
  })
  await Promise.race([accepting(port), exited(child)])
  return { url: `http://127.0.0.1:${port}/mcp`, [Symbol.asyncDispose]: async () => await stop(child) }
}

async function exited(child: ChildProcess): Promise<never> {
  const [code] = (await once(child, 'exit')) as [number | null]
  throw new Error(`the server ended with ${String(code)} before it was ready`)
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

async function accepting(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1')
    const connected = await new Promise((resolve) => {
      socket.once('connect', () => resolve(true))
      socket.once('error', () => resolve(false))
    })
    socket.destroy()
    if (connected === true) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
