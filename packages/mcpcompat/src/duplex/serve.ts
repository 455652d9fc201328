import { classifyDuplex, type DuplexState } from '../classify.ts'
import { CallRunner } from '../contract/call-runner.ts'
import { type Clock, systemClock } from '../contract/clock.ts'
import type { Connection, Inbound, SendOptions } from '../contract/connection.ts'
import type { LogLevel } from '../contract/context.ts'
import { type Diagnostic, type OnDiagnostic, safeDiagnostics } from '../contract/diagnostics.ts'
import type { Dispatcher } from '../contract/dispatcher.ts'
import { method } from '../contract/methods.ts'
import { cancelForPeer } from '../contract/peer-cancel.ts'
import type { PeerPort } from '../contract/peer-port.ts'
import { within } from '../contract/within.ts'
import { RpcError, rpcCode, TransportError } from '../jsonrpc/errors.ts'
import type {
  RpcErrorObject,
  RpcId,
  RpcMessage,
  RpcNotification,
  RpcReject,
  RpcRequest,
  RpcResponse,
} from '../jsonrpc/message.ts'
import { claimOf, metaOf } from '../meta.ts'
import { createServerSession, type ServerSession } from '../rev-2025-06-18/session.ts'
import type { RevisionPolicy } from '../revisions.ts'
import { hasCancel, orderBatch } from './cancels-first.ts'
import { ModernHost } from './modern-host.ts'

export interface ServeConnectionOptions {
  /** Which revisions are served; both eras may share the connection, message by message. */
  readonly policy: RevisionPolicy
  /** Ends serving in order: no new requests, subscriptions get their result, calls may finish, then the connection is closed. */
  readonly signal?: AbortSignal | undefined
  /** Calls that may run at the same time. Default 1,024; one more is answered with -32603. */
  readonly maxInFlight?: number
  /** How long accepted calls may take to finish once the peer or we are ending, in milliseconds. Default 10,000. */
  readonly flushTimeoutMs?: number
  /** Whether results name the server (MC-META-10). Default true. */
  readonly nameServer?: boolean
  /** See `CreateServerSessionOptions`. */
  readonly defaultLogLevel?: LogLevel
  readonly answerTimeoutMs?: number
  readonly maxAskingMs?: number
  readonly onDiagnostic?: OnDiagnostic | undefined
  readonly clock?: Clock
}

/**
 * Serves a dispatcher on a duplex connection until the peer ends it, it breaks, or the signal aborts. Resolves when the
 * connection has ended and everything that was opened for it is closed.
 *
 * Reading never waits for a handler: calls run side by side and are answered as they finish, and a cancel is seen before work
 * that was queued with it. When the peer ends its side, calls that were accepted still finish and are answered, for a bounded
 * time. The dispatcher may be shared with other connections, so it is never drained here.
 */
export function serveConnection(
  connection: Connection,
  dispatcher: Dispatcher,
  options: ServeConnectionOptions,
): Promise<void> {
  return new ConnectionServer(connection, dispatcher, options).serve()
}

/** How long handlers of calls that were aborted may take to let go, in milliseconds. */
const letGoMs = 1_000
/** Lines that are no JSON are answered at most this often, in milliseconds; more would only feed a noisy peer. */
const parseAnswerMs = 1_000

class ConnectionServer implements DuplexState, PeerPort {
  readonly clock: Clock
  readonly #connection: Connection
  readonly #dispatcher: Dispatcher
  readonly #options: ServeConnectionOptions
  readonly #policy: RevisionPolicy
  readonly #runner: CallRunner
  readonly #modern: readonly ModernHost[]
  #session: ServerSession | undefined
  /** Set once no new requests are taken. */
  #ending: Promise<void> | undefined
  #broken = false
  /** The last hand-over that the peer was too slow for. */
  #pressure: Promise<void> | undefined
  #lastParseAnswer = Number.NEGATIVE_INFINITY

  constructor(connection: Connection, dispatcher: Dispatcher, options: ServeConnectionOptions) {
    const { policy } = options
    const onDiagnostic = safeDiagnostics(options.onDiagnostic)
    this.clock = options.clock ?? systemClock
    this.#connection = connection
    this.#dispatcher = dispatcher
    this.#options = { ...options, onDiagnostic }
    this.#policy = policy
    const runner = new CallRunner({ maxInFlight: options.maxInFlight ?? 1_024, onDiagnostic })
    this.#runner = runner
    const nameServer = options.nameServer ?? true
    this.#modern = policy.modern.map(
      (revision) => new ModernHost({ dispatcher, port: this, policy, revision, runner, nameServer, onDiagnostic }),
    )
  }

  get initialized(): boolean {
    return this.#session?.revision !== undefined
  }

  async serve(): Promise<void> {
    const { signal } = this.#options
    const stop = (): void => {
      this.#stop().catch((error: unknown) => {
        this.#report('warning', 'close-failed', 'The connection could not be closed in order.', error)
      })
    }
    signal?.addEventListener('abort', stop, { once: true })
    if (signal?.aborted === true) stop()
    try {
      for await (const batch of this.#connection.inbound) {
        this.#receive(batch)
        // A peer that does not read is not read from either, or its unread answers would pile up here.
        if (this.#pressure !== undefined) await this.#relieved()
      }
      this.#session?.inputEnded()
      await this.#finish()
    } catch (error) {
      if (!TransportError.is(error)) throw error
      this.#broken = true
      // A peer that left is nothing to worry about; one that cannot be understood is set up wrongly (D7).
      const level = error.kind === 'protocol' ? 'warning' : 'info'
      this.#report(level, 'connection-broken', 'The connection broke; its calls were aborted.', error)
    } finally {
      signal?.removeEventListener('abort', stop)
      await this.#tearDown()
    }
  }

  // what the hosts write to

  send(message: RpcMessage, options?: SendOptions): void | Promise<void> {
    if (this.#broken) return
    let taken: void | Promise<void>
    try {
      taken = this.#connection.send(message, options)
    } catch (error) {
      if (!TransportError.is(error)) throw error
      return
    }
    if (taken === undefined) return
    // A message that cannot leave any more is no news: the iteration tells that the connection has ended.
    const pressure = taken.then(undefined, () => undefined)
    this.#pressure = pressure
    return pressure
  }

  // what the peer sends

  #receive(batch: readonly Inbound[]): void {
    if (!hasCancel(batch)) {
      for (let index = 0; index < batch.length; index++) this.#take(batch[index] as Inbound)
      return
    }
    const { cancels, others } = orderBatch(batch)
    for (const cancel of cancels) cancelForPeer(this.#runner, cancel.params, this.#options.onDiagnostic)
    for (const inbound of others) this.#take(inbound)
  }

  #take(inbound: Inbound): void {
    const { message } = inbound
    switch (message.kind) {
      case 'request':
        this.#request(message, inbound)
        return
      case 'notification':
        this.#notification(message, inbound)
        return
      case 'reject':
        this.#reject(message)
        return
      case 'result':
      case 'error':
        this.#response(message, inbound)
    }
  }

  #request(message: RpcRequest, inbound: Inbound): void {
    if (this.#runner.has(message.id)) {
      // An answer with this id would be taken for the answer to the first request.
      this.#report('warning', 'duplicate-id', 'A request came with the id of one that is still open; it was dropped.')
      return
    }
    if (this.#ending !== undefined) {
      this.#refuse(message.id, { code: rpcCode.internalError, message: 'The server is shutting down' })
      return
    }
    const era = classifyDuplex(message, this, this.#policy)
    if (era === 'modern') this.#modernFor(message)?.request(message, inbound)
    else if (typeof era === 'string') this.#legacySession().receive(message, inbound)
    else this.#refuse(message.id, era)
  }

  #notification(message: RpcNotification, inbound: Inbound): void {
    if (classifyDuplex(message, this, this.#policy) === 'modern') {
      this.#modernFor(message)?.notification(message, inbound)
    } else if (this.#session !== undefined) {
      this.#session.receive(message, inbound)
    }
  }

  #response(message: RpcResponse, inbound: Inbound): void {
    if (this.#session !== undefined) this.#session.receive(message, inbound)
    else
      this.#report(
        'debug',
        'unexpected-response',
        'The peer sent a response though it was asked nothing; it was dropped.',
      )
  }

  #reject(reject: RpcReject): void {
    const { code, reason, id, like } = reject
    const parseError = code === rpcCode.parseError
    this.#report('warning', parseError ? 'not-json' : 'not-a-message', `The peer sent what is no message: ${reason}`)
    // Nobody waits for an answer to a notification or a response (MC-MSG-08), and an id that is open has its own answer.
    if (like === 'notification' || like === 'response') return
    if (id !== undefined && this.#runner.has(id)) return
    if (parseError) {
      const now = this.clock.now()
      if (now - this.#lastParseAnswer < parseAnswerMs) return
      this.#lastParseAnswer = now
    }
    const message = `${parseError ? 'Parse error' : 'Invalid request'}: ${reason}`
    void this.send({ kind: 'error', id, error: { code, message } })
  }

  #refuse(id: RpcId, error: RpcErrorObject): void {
    void this.send({ kind: 'error', id, error })
  }

  /** Who serves the revision that a message claims. With one revision there is no choice, and its host tells what is wrong. */
  #modernFor(message: RpcRequest | RpcNotification): ModernHost | undefined {
    return this.#modern.length <= 1 ? this.#modern[0] : this.#claimedOf(message)
  }

  #claimedOf(message: RpcRequest | RpcNotification): ModernHost | undefined {
    const claim = claimOf(metaOf(message.params))
    return this.#modern.find((host) => host.revision === claim) ?? this.#modern[0]
  }

  /** The legacy session of the connection, of which there is one at most. */
  #legacySession(): ServerSession {
    this.#session ??= createServerSession(this.#dispatcher, this, this.#options, this.#runner)
    return this.#session
  }

  // the end

  /** Our own end: once nothing is owed any more, the connection is closed, which ends the iteration. */
  async #stop(): Promise<void> {
    await this.#finish()
    await this.#connection[Symbol.asyncDispose]()
  }

  /** Takes no new requests, ends what would never end by itself, and gives the rest its time. */
  #finish(): Promise<void> {
    this.#ending ??= this.#finishNow()
    return this.#ending
  }

  async #finishNow(): Promise<void> {
    const { flushTimeoutMs = 10_000 } = this.#options
    const reason = new DOMException('The server is shutting down', 'AbortError')
    for (const context of this.#runner.openCalls) {
      if (context.call.method === method.listen && context.host instanceof ModernHost)
        context.host.endListen(context, reason)
    }
    if (!(await within(this.#runner.idle(), flushTimeoutMs, this.clock))) {
      const error = new RpcError(rpcCode.internalError, 'The server shut down before this call was finished')
      for (const context of this.#runner.openCalls) {
        context.host.refuse(context, error)
        this.#runner.cancel(context, reason)
      }
    }
  }

  /** Waits for the peer to read. A connection that closes lets go whoever waits for it. */
  async #relieved(): Promise<void> {
    const pressure = this.#pressure
    await pressure
    if (this.#pressure === pressure) this.#pressure = undefined
  }

  async #tearDown(): Promise<void> {
    const reason = new TransportError('closed', 'The connection has ended')
    this.#runner.cancelAll(reason)
    try {
      await this.#session?.close(reason)
    } catch (error) {
      this.#report('error', 'scope-failed', 'Something that a session left to be cleaned up failed.', error)
    }
    if (!(await within(this.#runner.settled(), letGoMs, this.clock))) {
      this.#report(
        'warning',
        'handler-stuck',
        'Handlers went on although their calls were aborted; they were left behind.',
      )
    }
    await this.#connection[Symbol.asyncDispose]()
  }

  #report(level: Diagnostic['level'], code: string, message: string, cause?: unknown): void {
    this.#options.onDiagnostic?.(cause === undefined ? { level, code, message } : { level, code, message, cause })
  }
}
