import { withDeadline } from '../deadline.ts'
import { type ServerProcess, startServer } from '../server-process.ts'
import { type Job, patienceMs } from '../session.ts'
import type { Wire } from '../wire.ts'
import { createHttpGenerator, type HttpGenerator, openSocket } from './http-generator.ts'
import { type Endpoint, postRequest } from './http-request.ts'
import { createResponseReader } from './response-reader.ts'

/** What a session needs of its server. */
export interface HttpSessionOptions {
  readonly tools?: number
  readonly core?: number
  /** Start it with what `collect` and `announce` need. */
  readonly streams?: boolean
  readonly env?: Readonly<Record<string, string>>
}

/** A server that has answered the opening, and the generator that drives it. */
export interface HttpSession {
  readonly server: ServerProcess
  readonly generator: HttpGenerator
  readonly endpoint: Endpoint
  /** From just before the process was started to its first answer. */
  readonly startMs: number
}

/** Starts a fresh server, opens it as a client of the era does, runs `body`, and ends the server. */
export async function withHttpSession<T>(
  { target, wire }: Pick<Job, 'target' | 'wire'>,
  { tools = 3, core, streams = false, env }: HttpSessionOptions,
  body: (session: HttpSession) => Promise<T>,
): Promise<T> {
  const before = performance.now()
  const server = startServer({
    command: target.command,
    env: {
      BENCH_ERA: wire.era,
      BENCH_TOOLS: String(tools),
      ...(streams && { BENCH_STREAMS: '1', NODE_OPTIONS: '--expose-gc' }),
      ...env,
    },
    core,
    endSignal: 'SIGTERM',
  })
  let generator: HttpGenerator | undefined
  try {
    const port = await portOf(server)
    const opened = await openHttp(port, wire, () => performance.now() - before)
    const { endpoint, told: startMs } = opened
    generator = opened.generator
    return await body({ server, generator, endpoint, startMs })
  } catch (cause) {
    throw new Error(`the server failed or was wrong: ${server.lastWords()}`, { cause })
  } finally {
    generator?.close()
    await server.end()
  }
}

/**
 * Sends the opening of a client, and gives the generator that goes on from there. `told` is what `onAnswer` gave when the first answer was
 * there.
 */
export async function openHttp<T>(
  port: number,
  wire: Wire,
  onAnswer: () => T,
): Promise<{ readonly generator: HttpGenerator; readonly endpoint: Endpoint; readonly told: T }> {
  const first = createHttpGenerator({ port, wire })
  try {
    const { http } = await first.ask(wire.opening, patienceMs)
    const told = onAnswer()
    const endpoint = await finishOpening({ port, wire, sessionId: http.head.sessionId, opened: true })
    if (wire.era === 'modern') return { generator: first, endpoint, told }
    first.close()
    return { generator: createHttpGenerator(endpoint), endpoint, told }
  } catch (error) {
    first.close()
    throw error
  }
}

/** Opens one more legacy session, or nothing for a modern client. */
export async function openEndpoint(port: number, wire: Wire): Promise<Endpoint> {
  if (wire.era === 'modern') return { port, wire }
  const { generator, endpoint } = await openHttp(port, wire, () => undefined)
  generator.close()
  return endpoint
}

/** Tells the server that the handshake is over, which it takes with 202. */
async function finishOpening(endpoint: Endpoint): Promise<Endpoint> {
  if (endpoint.wire.opened === '') return endpoint
  const status = await post(endpoint, endpoint.wire.opened.trimEnd())
  if (status !== 202) throw new Error(`status ${status} to notifications/initialized`)
  return endpoint
}

/** Sends one message on a connection of its own, and resolves with the status. */
async function post(endpoint: Endpoint, message: string): Promise<number> {
  const socket = await openSocket(endpoint.port)
  try {
    const answered = new Promise<number>((resolve, reject) => {
      const reader = createResponseReader(({ status }) => resolve(status))
      socket.on('data', (chunk: Buffer) => {
        try {
          reader.take(chunk)
        } catch (error) {
          reject(error instanceof Error ? error : new Error('the answer cannot be read', { cause: error }))
        }
      })
      socket.on('close', () => reject(new Error('the server closed the connection')))
    })
    socket.write(postRequest(endpoint, message))
    return await withDeadline(answered, patienceMs, 'answer')
  } finally {
    socket.destroy()
  }
}

/** The port that a bench server writes to its stdout when it listens. */
export async function portOf({ stdout }: ServerProcess): Promise<number> {
  return await withDeadline(
    new Promise<number>((resolve, reject) => {
      let text = ''
      stdout.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
        const found = /^listening (\d+)$/m.exec(text)
        if (found !== null) resolve(Number(found[1]))
      })
      stdout.on('end', () => reject(new Error('the server closed its stdout')))
    }),
    patienceMs,
    'port of the server',
  )
}
