import { fileURLToPath } from 'node:url'
import { createGenerator } from '../generator.ts'
import { openHttp, portOf } from '../http/http-session.ts'
import { type ServerProcess, startServer } from '../server-process.ts'
import { type Job, patienceMs } from '../session.ts'
import type { Era, Target } from '../targets.ts'
import type { Exchange } from '../wire.ts'
import { freePort, somebodyListens } from './free-port.ts'
import { privateFolders } from './private-folders.ts'
import type { ProxyTarget } from './proxy-targets.ts'
import { backOf, frontOf, type Route } from './routes.ts'

/** How an exchange is repeated, whatever carries it. */
export interface DriveOptions {
  readonly count: number
  readonly inFlight: number
  readonly deadlineMs: number
}

/** Writes requests and checks every answer, whatever carries them. */
export interface Drive {
  pump(exchange: Exchange, options: DriveOptions): Promise<{ readonly calls: number; readonly seconds: number }>
}

/** A proxy that has answered the opening, with a server behind it that was ready before. */
export interface ProxySession {
  readonly proxy: ServerProcess
  readonly drive: Drive
  /** From just before the proxy was started to its first answer. */
  readonly startMs: number
}

/** What a session needs. */
export interface ProxySessionOptions {
  /** The only processor for all of it. */
  readonly core?: number | undefined
  /** For the proxy. */
  readonly env?: Readonly<Record<string, string>>
}

/** Starts a bare server and a proxy in front of it, opens the proxy as a client of the era does, runs `body`, and ends both. */
export async function withProxySession<T>(
  { target, wire }: Pick<Job, 'target' | 'wire'>,
  { core, env }: ProxySessionOptions,
  body: (session: ProxySession) => Promise<T>,
): Promise<T> {
  const { route, backEra, command, words } = asProxy(target)
  const era = backEra?.(wire.era) ?? wire.era
  await using back = await startBack(route, era, core)
  const port = frontOf(route) === 'http' ? await freePort() : 0
  const before = performance.now()
  const proxy = startServer({
    command: [...command, ...words({ port, back: back.words })],
    env: { ...privateFolders(), ...env },
    core,
    ...(frontOf(route) === 'http' && { endSignal: 'SIGTERM' }),
  })
  let close = (): void => {}
  try {
    const sinceStart = (): number => performance.now() - before
    if (frontOf(route) === 'stdio') {
      const drive = createGenerator(proxy)
      await drive.ask(wire.opening, patienceMs)
      const startMs = sinceStart()
      if (wire.opened !== '') drive.tell(wire.opened)
      return await body({ proxy, drive, startMs })
    }
    await somebodyListens(port, patienceMs)
    const { generator, told: startMs } = await openHttp(port, wire, sinceStart)
    close = () => generator.close()
    const drive: Drive = {
      pump: async (exchange, { inFlight, ...options }) =>
        await generator.pump(exchange, { ...options, connections: inFlight }),
    }
    return await body({ proxy, drive, startMs })
  } catch (cause) {
    throw new Error(`the proxy failed or was wrong: ${proxy.lastWords()}`, { cause })
  } finally {
    close()
    await proxy.end()
  }
}

/** What the route of a proxy consists of besides the proxy: a session with the server behind it. */
export async function withDirectSession<T>(
  { target, wire }: Pick<Job, 'target' | 'wire'>,
  { core }: ProxySessionOptions,
  body: (drive: Drive) => Promise<T>,
): Promise<T> {
  const { route } = asProxy(target)
  await using back = await startBack(route, wire.era, core)
  if (backOf(route) === 'http') {
    const { generator } = await openHttp(back.port, wire, () => undefined)
    try {
      return await body({
        pump: async (exchange, { inFlight, ...options }) =>
          await generator.pump(exchange, { ...options, connections: inFlight }),
      })
    } finally {
      generator.close()
    }
  }
  const [program = '', ...args] = back.words
  const server = startServer({ command: [program, ...args], env: {}, core })
  try {
    const drive = createGenerator(server)
    await drive.ask(wire.opening, patienceMs)
    if (wire.opened !== '') drive.tell(wire.opened)
    return await body(drive)
  } finally {
    await server.end()
  }
}

/** The server behind a proxy, ready: one that runs, or the words that start it. */
interface Back extends AsyncDisposable {
  readonly words: readonly string[]
  readonly port: number
}

async function startBack(route: Route, era: Era, core: number | undefined): Promise<Back> {
  if (backOf(route) === 'stdio') {
    // proxies hand few variables on, so it gets its own by its words
    const words = ['env', `BENCH_ERA=${era}`, process.execPath, fileOf('../servers/bare.js')]
    return { words, port: 0, [Symbol.asyncDispose]: async () => {} }
  }
  const server = startServer({
    command: [process.execPath, fileOf('../servers/http/bare.js')],
    env: { BENCH_ERA: era },
    core,
    endSignal: 'SIGTERM',
  })
  const port = await portOf(server)
  return {
    words: [`http://127.0.0.1:${port}/mcp`],
    port,
    [Symbol.asyncDispose]: async () => await server.end(),
  }
}

function fileOf(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url))
}

function asProxy(target: Target): ProxyTarget {
  if (target.route === undefined) throw new Error(`${target.name} is no proxy`)
  return target as ProxyTarget
}
