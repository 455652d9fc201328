import { method, RpcError, TransportError } from '@atenea/mcpcompat'
import {
  abortable,
  type ClientConnection,
  type Clock,
  createCallerContext,
  linkSignals,
} from '@atenea/mcpcompat/transport'
import type { BackOff } from './back-off.ts'
import type { OnPassthroughEvent } from './events.ts'
import { waiting } from './failures.ts'
import type { BackendState, BackendStatus } from './status.ts'

export interface LinkOptions {
  readonly backend: string
  /** Names what is listed on this connection. */
  readonly partition: string
  readonly connect: (signal: AbortSignal) => Promise<ClientConnection>
  readonly connectTimeoutMs: number
  readonly backOff: BackOff
  readonly clock: Clock
  readonly onEvent: OnPassthroughEvent | undefined
  /** A connection stands. Whoever throws here refuses it; it is closed then. */
  readonly onConnected: (link: Link, connection: ClientConnection) => void
}

/**
 * One connection to a backend over its losses: made when it is needed, by one attempt for all who wait, and made anew after it was lost, with
 * growing pauses until a call goes well.
 */
export class Link implements AsyncDisposable {
  readonly partition: string
  /** The connection, while it stands. */
  connection: ClientConnection | undefined
  openCalls = 0
  /** How many of the open calls are subscriptions. */
  openListens = 0
  /** Calls that ended without an answer since one went well. */
  lostCalls = 0
  lastUsed: number
  state: BackendState = 'idle'
  since: number = Date.now()
  restarts = 0
  lastError: BackendStatus['lastError']
  /** What the last connection showed. */
  evidence: Pick<ClientConnection, 'requested' | 'observed' | 'row' | 'server'> | undefined
  readonly #options: LinkOptions
  readonly #life = new AbortController()
  #connecting: Promise<ClientConnection> | undefined
  #retryAt = 0
  #closing: Promise<void> | undefined

  constructor(options: LinkOptions) {
    this.#options = options
    this.partition = options.partition
    this.lastUsed = options.clock.now()
  }

  get isClosed(): boolean {
    return this.#closing !== undefined
  }

  /** When the next try may be made, in milliseconds since 1970. */
  get retryAt(): number | undefined {
    return this.state === 'waiting' ? Date.now() + this.retryInMs : undefined
  }

  get retryInMs(): number {
    return Math.max(0, this.#retryAt - this.#options.clock.now())
  }

  /** The connection, made now if there is none. Rejects at once during a pause; with the signal's reason when the caller gives up. */
  get(signal: AbortSignal): Promise<ClientConnection> {
    if (this.connection !== undefined) return Promise.resolve(this.connection)
    if (this.isClosed) return Promise.reject(new TransportError('closed', 'The proxy is shutting down'))
    if (this.#connecting === undefined) {
      const { retryInMs } = this
      if (retryInMs > 0) return Promise.reject(waiting(this.#options.backend, this.lastError?.message, retryInMs))
      this.#connecting = this.#connect().finally(() => {
        this.#connecting = undefined
      })
      // Whoever waits for it hears of its failure; it is nobody's unhandled rejection.
      this.#connecting.catch(() => undefined)
    }
    return abortable(this.#connecting, signal)
  }

  /** A call went well. */
  succeeded(): void {
    this.lostCalls = 0
    if (!this.#options.backOff.isReset) this.#options.backOff.reset()
    if (this.state === 'failing') this.#become('ready')
  }

  /** The backend could not be reached, though the connection as such stands, as over HTTP. */
  failed(error: unknown): void {
    this.#noteError(error)
    if (this.state === 'ready') this.#become('failing')
  }

  /** See `Links.lookAgain`. Rejects when there is no connection. */
  async lookAgain(signal: AbortSignal): Promise<void> {
    if (this.state === 'waiting') await this.get(signal)
    else if (this.state === 'failing' && this.connection !== undefined) await this.#touch(this.connection, signal)
  }

  /** A call that changes nothing; whatever is answered shows that the backend is there. */
  async #touch(connection: ClientConnection, signal: AbortSignal): Promise<void> {
    try {
      await connection.call({ method: method.listTools, params: {} }, createCallerContext({ signal }))
      this.succeeded()
    } catch (error) {
      if (RpcError.is(error)) this.succeeded()
      else this.failed(error)
    }
  }

  /** Gives a connection up that turned out to be of no use any more. */
  discard(connection: ClientConnection, reason: unknown): void {
    if (this.connection !== connection) return
    this.#lost(connection, reason, this.openCalls)
    void this.#dispose(connection)
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#life.abort(new TransportError('closed', 'The proxy is shutting down'))
    const { connection } = this
    this.connection = undefined
    this.#become('closed')
    if (connection !== undefined) await this.#dispose(connection)
    // A connection that is being made closes itself, since its signal is aborted.
    await this.#connecting?.catch(() => undefined)
  }

  async #connect(): Promise<ClientConnection> {
    const { connect, connectTimeoutMs, onConnected, onEvent, backend, backOff, clock } = this.#options
    this.#become('connecting')
    try {
      const connection = await this.#dial(connect, connectTimeoutMs)
      const restart = this.evidence !== undefined
      const { requested, observed, row, server } = connection
      this.evidence = { requested, observed, row, server }
      if (restart) this.restarts++
      this.connection = connection
      this.#become('ready')
      // Its calls have heard of it before.
      void connection.ended.then((cause) => this.#lost(connection, cause, this.lostCalls))
      onEvent?.({ kind: 'connected', backend, requested, observed, row, restart })
      onConnected(this, connection)
      return connection
    } catch (error) {
      if (this.isClosed) throw error
      const delayMs = backOff.afterFailure()
      this.#retryAt = clock.now() + delayMs
      this.#noteError(error)
      this.#become('waiting')
      onEvent?.({ kind: 'connect-failed', backend, message: messageOf(error), retryInMs: delayMs })
      throw error
    }
  }

  async #dial(connect: LinkOptions['connect'], timeoutMs: number): Promise<ClientConnection> {
    using limit = linkSignals([this.#life.signal], { timeoutMs })
    let connection: ClientConnection
    try {
      connection = await connect(limit.signal)
    } catch (error) {
      if (!limit.signal.aborted || this.isClosed) throw error
      throw new TransportError('timeout', `The connection was not made within ${timeoutMs} ms`, { cause: error })
    }
    if (!this.isClosed) return connection
    await this.#dispose(connection)
    throw new TransportError('closed', 'The proxy is shutting down')
  }

  #lost(connection: ClientConnection, cause: unknown, failedCalls: number): void {
    if (this.connection !== connection) return
    this.connection = undefined
    this.lostCalls = 0
    const { backOff, clock, onEvent, backend } = this.#options
    this.#retryAt = clock.now() + backOff.afterLoss()
    this.#noteError(cause ?? new TransportError('closed', 'The backend ended the connection'))
    this.#become('waiting')
    onEvent?.({ kind: 'lost', backend, message: this.lastError?.message ?? '', failedCalls })
  }

  async #dispose(connection: ClientConnection): Promise<void> {
    try {
      await connection[Symbol.asyncDispose]()
    } catch (error) {
      this.#noteError(error)
    }
  }

  #noteError(error: unknown): void {
    this.lastError = { message: messageOf(error), at: Date.now() }
  }

  #become(state: BackendState): void {
    if (this.state === state || this.state === 'closed') return
    this.state = state
    this.since = Date.now()
  }
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 500)
}
