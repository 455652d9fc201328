import { type ByteTemplate, createByteTemplate, firstId, patchId } from './byte-template.ts'
import { withDeadline } from './deadline.ts'
import { createPump, type Pump } from './pump.ts'
import type { ServerProcess } from './server-process.ts'
import type { Answer, Exchange } from './wire.ts'

const newline = 0x0a

/** How an exchange is repeated. */
export interface PumpOptions {
  readonly count: number
  readonly inFlight: number
  readonly deadlineMs: number
}

/** What repeating an exchange showed. */
export interface PumpResult {
  readonly calls: number
  /** From the first write to the last answer. */
  readonly seconds: number
  /** Bytes of one answer, its newline included. */
  readonly answerBytes: number
}

/** A request that was written. */
export interface OpenRequest {
  readonly id: number
  /** Resolves when the answer has come and was right. */
  readonly answered: Promise<Answer>
}

/** Writes requests as bytes to one server and checks every answer. */
export interface Generator {
  /** Writes a line that has no answer. */
  tell(line: string): void
  /** Sends one request and goes on; its answer may come during other exchanges. */
  start(exchange: Exchange): OpenRequest
  /** Sends one request and waits for its answer. */
  ask(exchange: Exchange, deadlineMs: number): Promise<Answer>
  /**
   * Repeats an exchange, one pump at a time. The first answer ever to an exchange is parsed, checked in full and not
   * timed; every other must have its bytes but for the id, or it is checked in full as well. Every thousandth is in any case.
   */
  pump(exchange: Exchange, options: PumpOptions): Promise<PumpResult>
}

interface Waiting {
  readonly exchange: Exchange
  readonly resolve: (answer: Answer, line: Buffer) => void
  readonly reject: (error: unknown) => void
}

/** A generator for one server. Its ids rise, and none is used twice. */
export function createGenerator({ stdin, stdout }: ServerProcess): Generator {
  const waiting = new Map<number, Waiting>()
  const learned = new Map<Exchange, ByteTemplate>()
  let nextId = firstId
  let pump: Pump | undefined
  let parts: Buffer[] = []

  stdout.on('data', (chunk: Buffer) => {
    try {
      takeChunk(chunk)
      pump?.refill()
    } catch (error) {
      failAll(error)
    }
  })
  stdout.on('end', () => failAll(new Error('the server closed its stdout')))

  function takeChunk(chunk: Buffer): void {
    let rest = chunk
    while (rest.length > 0) {
      if (pump !== undefined && parts.length === 0) rest = pump.take(rest)
      const end = rest.indexOf(newline) + 1
      if (end === 0) {
        if (rest.length > 0) parts.push(rest)
        return
      }
      parts.push(rest.subarray(0, end))
      rest = rest.subarray(end)
      const line = Buffer.concat(parts)
      parts = []
      takeLine(line)
    }
  }

  function takeLine(line: Buffer): void {
    const answer = JSON.parse(line.toString('utf8')) as Answer
    const waiter = waiting.get(answer.id as number)
    if (waiter !== undefined) {
      waiter.exchange.check(answer, answer.id as number)
      waiting.delete(answer.id as number)
      waiter.resolve(answer, line)
    } else if (pump !== undefined) {
      pump.takeParsed(answer)
    } else {
      throw new Error(`a line that nobody waits for: ${line.toString('utf8', 0, 500)}`)
    }
  }

  function failAll(error: unknown): void {
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
    pump?.fail(error)
  }

  function send(exchange: Exchange, waiter: Omit<Waiting, 'exchange'>): number {
    const id = nextId++
    const bytes = Buffer.from(exchange.request.bytes)
    patchId(bytes, 0, exchange.request.holes, id)
    waiting.set(id, { exchange, ...waiter })
    stdin.write(bytes)
    return id
  }

  async function learn(exchange: Exchange, deadlineMs: number): Promise<ByteTemplate> {
    const answered = Promise.withResolvers<Buffer>()
    const id = send(exchange, { resolve: (_, line) => answered.resolve(line), reject: answered.reject })
    const template = createByteTemplate(await withDeadline(answered.promise, deadlineMs, 'first answer'), id)
    learned.set(exchange, template)
    return template
  }

  function start(exchange: Exchange): OpenRequest {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    // Whoever started a request may never look, as with a cancelled one.
    promise.catch(() => {})
    return { id: send(exchange, { resolve, reject }), answered: promise }
  }

  return {
    tell: (line) => void stdin.write(line),
    start,
    ask: async (exchange, deadlineMs) => await withDeadline(start(exchange).answered, deadlineMs, 'answer'),
    async pump(exchange, { count, inFlight, deadlineMs }) {
      const known = learned.get(exchange)
      const expected = known ?? (await learn(exchange, deadlineMs))
      const calls = known === undefined ? count - 1 : count
      const answerBytes = expected.bytes.length
      if (calls === 0) return { calls, seconds: 0, answerBytes }
      pump = createPump(stdin, { exchange, expected, firstId: nextId, calls, inFlight })
      nextId += calls
      try {
        pump.refill()
        const seconds = await withDeadline(pump.finished, deadlineMs, `${calls} calls, ${inFlight} in flight`)
        return { calls, seconds, answerBytes }
      } finally {
        pump = undefined
      }
    },
  }
}
