import type { Socket } from 'node:net'
import { systemClock } from '@atenea/mcpcompat/transport'
import { HangUp } from './fault.ts'
import type { Dial, Line } from './line.ts'
import { writeRequest } from './request-writer.ts'
import { type RequestKind, ResponseParser, type ResponseReader } from './response-parser.ts'

/** Who makes a request on a connection. After `onEnd` or `onLost` it hears nothing more. */
export interface ConnectionUser extends ResponseReader {
  /** No answer will come, or not all of it. */
  onLost(error: Error): void
}

/** A request as it is written, see `writeRequest`. */
export interface RequestText {
  readonly head: string
  readonly body: string | undefined
  readonly kind: RequestKind
}

/** Where connections come from and go to. */
export interface ConnectionHome {
  /** It can be used again. */
  onFree(connection: Connection): void
  onGone(connection: Connection): void
}

/** The connection did not come about in time. */
export class ConnectTimeout extends Error {
  override readonly name: string = 'ConnectTimeout'
  readonly code = 'CONNECT_TIMEOUT'
}

/** One connection, which carries one request and its answer at a time. */
export class Connection implements Line {
  readonly #home: ConnectionHome
  readonly #parser = new ResponseParser()
  readonly #line: Disposable | undefined
  #timer: Disposable | undefined
  #socket: Socket | undefined
  #user: ConnectionUser | undefined
  /** To be written as soon as the connection is open. */
  #waiting: RequestText | undefined
  #isPaused = false
  /** Whether the socket was told to stop reading. */
  #isStopped = false
  #isGone = false
  /** Whether anything of the present request may have reached the peer. */
  hasWritten = false
  /** When it is too old to be used again; of a connection that rests. */
  freshUntil = 0

  constructor(home: ConnectionHome, dial: Dial, connectTimeoutMs: number) {
    this.#home = home
    try {
      this.#line = dial(this)
    } catch (error) {
      queueMicrotask(() => this.onGone(error as Error))
    }
    const late = (): void => this.onGone(new ConnectTimeout(`no connection within ${connectTimeoutMs} ms`))
    // the clock takes any delay; a bare timer runs at once for one that it cannot hold
    this.#timer = systemClock.after(connectTimeoutMs, late, { holdsProcess: true })
  }

  get isGone(): boolean {
    return this.#isGone
  }

  /** What the latest answer says of how long the peer keeps it. */
  get keepAlive(): string | undefined {
    return this.#parser.head?.headers['keep-alive']
  }

  /** Makes a request. Only for a connection that nobody else uses. */
  run(request: RequestText, user: ConnectionUser): void {
    this.#user = user
    this.hasWritten = false
    this.#isPaused = false
    this.#parser.expect(user, request.kind)
    if (this.#socket === undefined) this.#waiting = request
    else this.#write(this.#socket, request)
  }

  /** Whether a process with nothing else to do waits for it. */
  hold(holdsProcess: boolean): void {
    if (holdsProcess) this.#socket?.ref()
    else this.#socket?.unref()
  }

  /** Stops reading with the end of the read that is being taken. */
  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#readOn()
  }

  /** Closes it. Whoever uses it hears nothing more. */
  close(): void {
    this.#user = undefined
    this.#parser.forget()
    this.#end()
  }

  // what happens to it

  onOpen(socket: Socket): void {
    this.#timer?.[Symbol.dispose]()
    this.#timer = undefined
    this.#socket = socket
    const request = this.#waiting
    this.#waiting = undefined
    if (request !== undefined) this.#write(socket, request)
  }

  onBytes(bytes: Buffer, length: number): boolean {
    let taken: number
    try {
      taken = this.#parser.take(bytes, length)
    } catch (fault) {
      this.onGone(fault as Error)
      return false
    }
    if (this.#isGone) return false
    if (this.#parser.isBusy) {
      this.#isStopped ||= this.#isPaused
      return !this.#isPaused
    }
    this.#user = undefined
    // More than was asked for belongs to nobody, and a request that is still being sent has no end yet.
    const isClean = taken === length && this.#socket?.writableLength === 0
    if (isClean && this.#parser.head?.keepsAlive === true) {
      // What TLS has decrypted still comes after that; it may be the end of an answer of which nobody has taken anything yet.
      this.#readOn()
      this.#home.onFree(this)
    } else {
      this.#end()
    }
    return true
  }

  onPeerEnd(): void {
    if (this.#parser.takeEnd()) this.close()
    else this.onGone(undefined)
  }

  onGone(error: Error | undefined): void {
    const user = this.#user
    this.close()
    user?.onLost(error ?? new HangUp('the connection was closed'))
  }

  #readOn(): void {
    if (!this.#isStopped) return
    this.#isStopped = false
    this.#socket?.resume()
  }

  #end(): void {
    if (this.#isGone) return
    this.#isGone = true
    this.#timer?.[Symbol.dispose]()
    this.#waiting = undefined
    this.#line?.[Symbol.dispose]()
    this.#home.onGone(this)
  }

  #write(socket: Socket, { head, body }: RequestText): void {
    this.hasWritten = true
    writeRequest(socket, head, body)
  }
}
