import type { Writable } from 'node:stream'
import { type ByteTemplate, matchTemplate, patchId } from './byte-template.ts'
import type { Answer, Exchange } from './wire.ts'

const fullCheckEvery = 1_000

/** What a pump sends, and what must come back. */
export interface PumpPlan {
  readonly exchange: Exchange
  /** The bytes of the first answer, which was checked in full. */
  readonly expected: ByteTemplate
  readonly firstId: number
  readonly calls: number
  readonly inFlight: number
}

/** Many repetitions of one exchange under way. */
export interface Pump {
  /** Seconds from the first write to the last answer; rejects on the first wrong answer. */
  readonly finished: Promise<number>
  /** Takes the answers at the front of `bytes` which are as expected, and returns what it did not take. */
  take(bytes: Buffer): Buffer
  /** Takes an answer that was parsed because its bytes are not the expected ones. */
  takeParsed(answer: Answer): void
  /** Writes as many requests as answers have come. */
  refill(): void
  fail(error: unknown): void
}

/** Begins to send. An answer counts once, and only one of the ids of this pump. */
export function createPump(stdin: Writable, { exchange, expected, firstId, calls, inFlight }: PumpPlan): Pump {
  const { request } = exchange
  const answered = new Uint8Array(calls)
  const started = performance.now()
  const finished = Promise.withResolvers<number>()
  const expectedBytes = Buffer.from(expected.bytes)
  const length = expectedBytes.length
  const batch = Buffer.alloc(request.bytes.length * inFlight)
  for (let slot = 0; slot < inFlight; slot++) batch.set(request.bytes, slot * request.bytes.length)
  let sent = 0
  let received = 0
  let matched = 0

  function accept(id: number): void {
    const index = id - firstId
    if (answered[index] !== 0) throw new Error(`answer to ${id}, which is not open`)
    answered[index] = 1
    received++
  }

  function takeSingles(bytes: Buffer): Buffer {
    let at = 0
    while (at < bytes.length && received < sent) {
      if (matched === 0) patchId(expectedBytes, 0, expected.holes, firstId + received)
      const size = Math.min(length - matched, bytes.length - at)
      if (expectedBytes.compare(bytes, at, at + size, matched, matched + size) !== 0) {
        const line = [expectedBytes.subarray(0, matched), bytes.subarray(at)]
        matched = 0
        return Buffer.concat(line)
      }
      at += size
      matched += size
      if (matched === length) {
        matched = 0
        const id = firstId + received
        if (id % fullCheckEvery === 0) exchange.check(parse(expectedBytes), id)
        accept(id)
      }
    }
    return bytes.subarray(at)
  }

  function takeMany(bytes: Buffer): Buffer {
    let at = 0
    while (bytes.length - at >= length) {
      const id = matchTemplate(expected, bytes, at)
      if (id < 0) break
      if (id % fullCheckEvery === 0) exchange.check(parse(bytes.subarray(at, at + length)), id)
      accept(id)
      at += length
    }
    return bytes.subarray(at)
  }

  return {
    finished: finished.promise,
    take: (bytes) => (inFlight === 1 ? takeSingles(bytes) : takeMany(bytes)),
    takeParsed(answer) {
      exchange.check(answer, answer.id as number)
      accept(answer.id as number)
    },
    refill() {
      if (received === calls) {
        finished.resolve((performance.now() - started) / 1_000)
        return
      }
      const size = Math.min(inFlight - (sent - received), calls - sent)
      if (size === 0) return
      for (let slot = 0; slot < size; slot++)
        patchId(batch, slot * request.bytes.length, request.holes, firstId + sent++)
      const bytes = batch.subarray(0, size * request.bytes.length)
      // One request may stay in the buffer that it was made in: its answer says that it was read.
      stdin.write(inFlight === 1 ? bytes : Buffer.from(bytes))
    },
    fail: (error) => finished.reject(error),
  }
}

function parse(line: Buffer): Answer {
  return JSON.parse(line.toString('utf8')) as Answer
}
