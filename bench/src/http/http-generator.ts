import { connect, type Socket } from 'node:net'
import { type ByteTemplate, createByteTemplate, firstId, patchId } from '../byte-template.ts'
import { withDeadline } from '../deadline.ts'
import type { Answer, Exchange } from '../wire.ts'
import { answerOf } from './answer-text.ts'
import { type Endpoint, postTemplate } from './http-request.ts'
import { createResponseReader, type HttpAnswer } from './response-reader.ts'

const fullCheckEvery = 1_000

/** How an exchange is repeated. */
export interface HttpPumpOptions {
  readonly count: number
  /** Each carries one request at a time and is kept. */
  readonly connections: number
  readonly deadlineMs: number
}

/** What repeating an exchange showed. */
export interface HttpPumpResult {
  readonly calls: number
  /** From the first write to the last answer, connections being open before. */
  readonly seconds: number
  /** From the write of each request to the end of its answer. */
  readonly latenciesMs: Float64Array
  /** Bytes of the body of one answer. */
  readonly answerBytes: number
}

/** Writes requests to one HTTP server on raw sockets that are kept, and checks every answer. */
export interface HttpGenerator {
  /** Sends one request, and waits for its answer, which has status 200. */
  ask(exchange: Exchange, deadlineMs: number): Promise<{ readonly answer: Answer; readonly http: HttpAnswer }>
  /**
   * Repeats an exchange. The first answer ever to it is parsed, checked in full and not timed; every other must have the same
   * body but for the id, or is checked in full too; every thousandth is in any case.
   */
  pump(exchange: Exchange, options: HttpPumpOptions): Promise<HttpPumpResult>
  /** Closes all connections. */
  close(): void
}

/** A generator for one endpoint. Its ids rise, and none is used twice. */
export function createHttpGenerator(endpoint: Endpoint): HttpGenerator {
  const pool: Connection[] = []
  const requests = new Map<Exchange, ByteTemplate>()
  const learned = new Map<Exchange, ByteTemplate>()
  let nextId = firstId

  function requestOf(exchange: Exchange): ByteTemplate {
    let request = requests.get(exchange)
    if (request === undefined) {
      request = postTemplate(endpoint, exchange.request)
      requests.set(exchange, request)
    }
    return request
  }

  async function connections(count: number): Promise<readonly Connection[]> {
    for (let index = 0; index < count; index++) {
      if (pool[index]?.usable !== true) {
        pool[index]?.destroy()
        pool[index] = await Connection.open(endpoint.port)
      }
    }
    return pool.slice(0, count)
  }

  async function ask(
    exchange: Exchange,
    deadlineMs: number,
  ): Promise<{ answer: Answer; http: HttpAnswer; id: number }> {
    const [connection] = (await connections(1)) as [Connection]
    const id = nextId++
    const request = requestOf(exchange)
    const bytes = Buffer.from(request.bytes)
    patchId(bytes, 0, request.holes, id)
    const http = await withDeadline(
      new Promise<HttpAnswer>((resolve, reject) => connection.send(bytes, { resolve, reject })),
      deadlineMs,
      'answer',
    )
    const answer = checked(exchange, http, id)
    return { answer, http: { ...http, body: Buffer.from(http.body) }, id }
  }

  async function pump(exchange: Exchange, options: HttpPumpOptions): Promise<HttpPumpResult> {
    let expected = learned.get(exchange)
    let calls = options.count
    if (expected === undefined) {
      const { http, id } = await ask(exchange, options.deadlineMs)
      expected = createByteTemplate(http.body, id)
      learned.set(exchange, expected)
      calls--
    }
    const latenciesMs = new Float64Array(calls)
    const answerBytes = expected.bytes.length
    if (calls === 0) return { calls, seconds: 0, latenciesMs, answerBytes }
    const own = await connections(Math.min(options.connections, calls))
    const first = nextId
    nextId += calls
    const seconds = await withDeadline(
      repeat({ exchange, request: requestOf(exchange), expected, own, first, latenciesMs }),
      options.deadlineMs,
      `${calls} calls on ${own.length} connections`,
    )
    return { calls, seconds, latenciesMs, answerBytes }
  }

  return {
    ask,
    pump,
    close() {
      for (const connection of pool) connection.destroy()
      pool.length = 0
    },
  }
}

interface Repetition {
  readonly exchange: Exchange
  readonly request: ByteTemplate
  readonly expected: ByteTemplate
  readonly own: readonly Connection[]
  readonly first: number
  readonly latenciesMs: Float64Array
}

/** Keeps every connection busy until there is a latency for each call; resolves with the seconds that it took. */
function repeat({ exchange, request, expected, own, first, latenciesMs }: Repetition): Promise<number> {
  const body = Buffer.from(expected.bytes)
  const calls = latenciesMs.length
  const started = performance.now()
  let sent = 0
  let received = 0
  return new Promise((resolve, reject) => {
    for (const connection of own) {
      const bytes = Buffer.from(request.bytes)
      let index = 0
      let writtenAt = 0
      const next = (): void => {
        index = sent++
        patchId(bytes, 0, request.holes, first + index)
        writtenAt = performance.now()
        // the buffer is written anew only after the answer, which says that it was read
        connection.send(bytes, waiter)
      }
      const waiter: Waiter = {
        reject,
        resolve(http) {
          latenciesMs[index] = performance.now() - writtenAt
          const id = first + index
          patchId(body, 0, expected.holes, id)
          if (http.status !== 200 || id % fullCheckEvery === 0 || !http.body.equals(body)) checked(exchange, http, id)
          received++
          if (received === calls) resolve((performance.now() - started) / 1_000)
          else if (sent < calls) next()
        },
      }
      next()
    }
  })
}

function checked(exchange: Exchange, http: HttpAnswer, id: number): Answer {
  if (http.status !== 200) throw new Error(`status ${http.status}: ${http.body.toString('utf8', 0, 500)}`)
  const answer = answerOf(http.body)
  exchange.check(answer, id)
  return answer
}

interface Waiter {
  readonly resolve: (answer: HttpAnswer) => void
  readonly reject: (error: unknown) => void
}

/** One connection with at most one open request. */
class Connection {
  readonly #socket: Socket
  #waiter: Waiter | undefined

  static async open(port: number): Promise<Connection> {
    return new Connection(await openSocket(port))
  }

  constructor(socket: Socket) {
    this.#socket = socket
    const reader = createResponseReader((answer) => {
      const waiter = this.#waiter
      if (waiter === undefined) throw new Error('an answer that nobody waits for')
      this.#waiter = undefined
      waiter.resolve(answer)
    })
    socket.on('data', (chunk: Buffer) => {
      const waiter = this.#waiter
      try {
        reader.take(chunk)
      } catch (error) {
        socket.destroy()
        this.#waiter = undefined
        waiter?.reject(error)
      }
    })
    socket.on('close', () => {
      this.#waiter?.reject(new Error('the server closed a connection before its answer'))
      this.#waiter = undefined
    })
  }

  get usable(): boolean {
    return this.#socket.writable && this.#waiter === undefined
  }

  send(bytes: Buffer, waiter: Waiter): void {
    this.#waiter = waiter
    this.#socket.write(bytes)
  }

  destroy(): void {
    this.#socket.destroy()
  }
}

/** A connected socket to this machine. Its later errors show as a missing answer. */
export async function openSocket(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await withDeadline(
    new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve)
      socket.once('error', reject)
    }),
    10_000,
    `connection to port ${port}`,
  )
  socket.on('error', () => {})
  return socket
}
