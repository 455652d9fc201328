import type { Readable, Writable } from 'node:stream'
import { createLineFramer, type LineFault } from '@atenea/transport-stdio'
import type { Answer } from './answer.ts'
import type { WireFailure } from './failure.ts'
import { type Junk, type Received, readReceived } from './received.ts'

/** What one line request may do besides. */
export interface LineAsk {
  readonly text: string
  /** The source text of the id in `text`; undefined for a message without one. */
  readonly idText: string | undefined
  readonly timeoutMs: number
  /** Whether this message ends the waiting; the response to `idText` if left out. */
  readonly stopAt?: ((message: Received) => boolean) | undefined
}

/** Lines to and from one server, over whatever stream. */
export interface LineWire {
  /** Never rejects but with the reason of an aborted signal. */
  ask(ask: LineAsk): Promise<Answer>
  write(text: string): void
  /** What has come since the last answer and comes within the time, requests of the server included. */
  listen(timeoutMs: number): Promise<readonly Received[]>
  endInput(): void
  /** Answers a request of the server; undefined says nothing. */
  onRequest: ((request: Received) => string | undefined) | undefined
  /** The first lines that are no messages. */
  readonly noise: readonly Junk[]
  /** How many such lines there were. */
  readonly noiseCount: number
  /** Whether the server writes without end. */
  readonly isFlooded: boolean
  /** Whether lines of ours came back, as a terminal or `cat` sends them. */
  readonly isEcho: boolean
  readonly faults: ReadonlySet<LineFault>
  /** Whether the output stops in the middle of a line. */
  readonly hasOpenLine: boolean
  /** When the first line came, in milliseconds of `performance.now()`. */
  readonly firstLineAt: number | undefined
  /** Whether the output of the server has ended. */
  readonly hasEnded: boolean
}

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])
const lineFeed = 0x0a
/** Noise beyond this is counted, not kept. */
const keptNoise = 20
/** So many lines without an answer among them are no conversation. */
const floodLines = 50_000
/** How long an answer may take where so far only what was sent came back. */
const echoMs = 2_000
/** Lines of ours by which an echo is known. */
const keptWritten = 20
/** How long the right answer may come after one with another id. */
const strayMs = 300
/** What arrived beyond this is dropped once it was looked at. */
const keptMessages = 10_000

/** Takes the two streams; whoever opened them closes them. */
export function createLineWire(output: Readable, input: Writable, signal: AbortSignal): LineWire {
  return new Lines(output, input, signal)
}

class Lines implements LineWire {
  onRequest: LineWire['onRequest']
  readonly noise: Junk[] = []
  noiseCount = 0
  isEcho = false
  #hasOutput = false
  hasOpenLine = false
  readonly faults: Set<LineFault> = new Set<LineFault>()
  firstLineAt: number | undefined
  hasEnded = false
  isFlooded = false
  /** Lines since the last answer. */
  #linesSince = 0
  #written: string[] = []
  readonly #output: Readable
  readonly #input: Writable
  readonly #signal: AbortSignal
  /** Ids whose answers nobody waits for any more. */
  readonly #stale = new Set<string>()
  /** Ids whose answers have come. */
  readonly #answered = new Set<string>()
  /** Those of the stale ones that were given up: a slow server may answer still, perhaps without the id. */
  readonly #owed = new Set<string>()
  #received: Received[] = []
  /** The first message that nobody has looked at. */
  #next = 0
  #wake: (() => void)[] = []

  constructor(output: Readable, input: Writable, signal: AbortSignal) {
    this.#output = output
    this.#input = input
    this.#signal = signal
    const framer = createLineFramer({
      line: (text) => this.#onLine(text),
      fault: (fault) => {
        this.faults.add(fault)
        this.#notify()
      },
    })
    output.on('data', (chunk: Buffer) => {
      if (!this.#hasOutput && chunk.subarray(0, 3).equals(byteOrderMark)) this.#onNoise('\ufeff', 'a byte order mark')
      this.#hasOutput = true
      this.hasOpenLine = chunk.at(-1) !== lineFeed
      if (!this.isFlooded) framer.push(chunk)
    })
    const end = (): void => {
      if (this.hasEnded) return
      this.hasEnded = true
      framer.end()
      this.#notify()
    }
    output.on('end', end)
    output.on('close', end)
    output.on('error', end)
    input.on('error', () => undefined)
    signal.addEventListener('abort', () => this.#notify(), { once: true })
  }

  write(text: string): void {
    this.#written = [...this.#written.slice(1 - keptWritten), text]
    if (this.#input.writable) this.#input.write(`${text}\n`)
  }

  endInput(): void {
    this.#input.end()
  }

  async ask({ text, idText, timeoutMs, stopAt }: LineAsk): Promise<Answer> {
    this.#signal.throwIfAborted()
    const started = performance.now()
    const noiseBefore = this.noise.length
    // what came since the last answer was looked at is looked at now
    let seen = this.#next
    const others: Received[] = []
    let response: Received | undefined
    let stray: { readonly message: Received; readonly until: number } | undefined
    let failure: WireFailure | undefined
    this.write(text)
    for (;;) {
      let isDone = false
      for (; seen < this.#received.length && !isDone; seen += 1) {
        const message = this.#received[seen]
        if (message === undefined) continue
        if (message.kind === 'response' && message.idText === idText && response === undefined) response = message
        else if (this.#isRepeated(message)) others.push(message)
        else if (this.#isLate(message)) continue
        else if (stray === undefined && this.#mayAnswer(message, idText)) {
          // Only one request is open, so this is its answer with another id, unless the right one is still to come.
          stray = { message, until: performance.now() + strayMs }
        } else others.push(message)
        isDone = stopAt === undefined ? response !== undefined : stopAt(message) || response !== undefined
      }
      if (isDone) break
      if (stray !== undefined && performance.now() >= stray.until) {
        response = stray.message
        break
      }
      if (this.hasEnded) {
        failure = { kind: 'closed', stage: 'line', message: 'the output of the server ended' }
        break
      }
      if (this.isFlooded) {
        failure = { kind: 'closed', stage: 'line', message: 'the server does not stop writing' }
        break
      }
      if (this.faults.has('content-length')) {
        failure = { kind: 'closed', stage: 'line', message: 'the server frames with Content-Length' }
        break
      }
      const patienceMs = this.isEcho ? Math.min(timeoutMs, echoMs) : timeoutMs
      const left = Math.min(started + patienceMs, stray?.until ?? Infinity) - performance.now()
      if (left > 0) await this.#change(left)
      else if (stray === undefined) {
        const message = `no answer within ${patienceMs} ms${this.isEcho ? ', only what was sent came back' : ''}`
        failure = { kind: 'timeout', stage: 'line', message }
        break
      }
      this.#signal.throwIfAborted()
    }
    if (response === undefined) response = stray?.message
    else if (stray !== undefined && stray.message !== response) others.push(stray.message)
    if (response?.idText !== undefined) this.#answered.add(response.idText)
    if (response === undefined && idText !== undefined) {
      this.#stale.add(idText)
      if (stopAt === undefined) this.#owed.add(idText)
    }
    this.#next = seen
    this.#linesSince = 0
    if (this.#received.length > keptMessages) {
      this.#received = []
      this.#next = 0
    }
    return {
      idText,
      response,
      others,
      junk: this.noise.slice(noiseBefore),
      http: undefined,
      failure,
      durationMs: performance.now() - started,
    }
  }

  async listen(timeoutMs: number): Promise<readonly Received[]> {
    const from = this.#next
    const started = performance.now()
    for (let left = timeoutMs; left > 0 && !this.hasEnded; left = started + timeoutMs - performance.now()) {
      await this.#change(left)
      this.#signal.throwIfAborted()
    }
    this.#next = this.#received.length
    return this.#received.slice(from)
  }

  /** Whether a response comes once more. */
  #isRepeated({ kind, idText }: Received): boolean {
    return kind === 'response' && idText !== undefined && this.#answered.has(idText)
  }

  /** Whether a response answers a request that was given up, by its id or because it has none that we gave. */
  #isLate({ kind, idText }: Received): boolean {
    if (kind !== 'response') return false
    if (idText !== undefined && this.#stale.has(idText)) return this.#owed.delete(idText)
    const [oldest] = this.#owed
    return oldest !== undefined && this.#owed.delete(oldest)
  }

  /** Whether a response with another id can be the answer: not if it answers a request that was given up. */
  #mayAnswer(message: Received, idText: string | undefined): boolean {
    if (message.kind !== 'response' || idText === undefined) return false
    return message.idText === undefined || !this.#stale.has(message.idText)
  }

  #onLine(text: string): void {
    this.firstLineAt ??= performance.now()
    this.#linesSince += 1
    if (this.#linesSince > floodLines) {
      this.isFlooded = true
      // whoever writes without end now waits, and does not keep us busy
      this.#output.pause()
    }
    const isEcho = this.#written.includes(text.trimEnd())
    this.isEcho ||= isEcho
    const message = isEcho ? ({ kind: 'junk', text, reason: 'what was sent comes back' } as const) : readReceived(text)
    if (message.kind === 'junk') this.#onNoise(message.text, message.reason)
    else {
      this.#received.push(message)
      if (message.kind === 'request') {
        const answer = this.onRequest?.(message)
        if (answer !== undefined) this.write(answer)
      }
    }
    this.#notify()
  }

  #onNoise(text: string, reason: string): void {
    this.noiseCount += 1
    if (this.noise.length < keptNoise) this.noise.push({ kind: 'junk', text, reason })
  }

  #notify(): void {
    for (const wake of this.#wake.splice(0)) wake()
  }

  /** Resolves with whether something changed within the time. */
  async #change(timeoutMs: number): Promise<boolean> {
    return await new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs, false)
      this.#wake.push(() => {
        clearTimeout(timer)
        resolve(true)
      })
    })
  }
}
