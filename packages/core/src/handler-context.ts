import type {
  CallContext,
  JsonObject,
  JsonValue,
  LogLevel,
  OnDiagnostic,
  Peer,
  Principal,
  WireHints,
} from '@atenea/mcpcompat'
import { type Input, type InputRequest, createInput, supportsInput } from './input.ts'
import { LogSender, ProgressReporter } from './progress.ts'
import type { OpenedState } from './request-state.ts'
import { type Session, sessionOf } from './session.ts'

/** What a handler gets beside its arguments. Valid until the handler has returned; every member may be taken out of it. */
export interface HandlerContext {
  /**
   * Aborts when the caller cancels or leaves, when a deadline passes, and on shutdown. A handler that goes on regardless
   * keeps its place among the calls in flight; what it returns is dropped.
   */
  readonly signal: AbortSignal
  /** What the client says of itself. For logs and for what it can do; it grants nothing (MC-META-11). */
  readonly client: Peer
  /** Who was authenticated. */
  readonly principal: Principal
  /** `_meta` of the request without the protocol's own keys. */
  readonly meta: JsonObject
  /** Header fields in lower case, where the carrier has any. */
  readonly hints: WireHints
  /** What the application keeps for this dispatch (modern) or this transport session (legacy). */
  readonly session: Session
  /** Answers to what this handler asked in an earlier round, and the state that it left. */
  readonly input: Input
  /** Whether the client can be asked this (MC-REQ-08). */
  readonly supports: (request: InputRequest<unknown>) => boolean
  /**
   * Tells the caller how far the work is, if it asked. `progress` must grow; 20 at once and 20 a second are sent, the rest is
   * left out. Waiting for the result slows the handler down to what the caller can read.
   */
  readonly progress: (progress: number, total?: number, message?: string) => void | Promise<void>
  /**
   * Sends a log message, if the caller asked for its level and the core was made with `logging`. For what the caller's side
   * should see: no secrets (MC-LOG-07). 100 at once and 50 a second are sent, the rest is left out.
   */
  readonly log: (level: LogLevel, data: JsonValue, logger?: string) => void | Promise<void>
}

/** What contexts share that belong to one core. */
export interface HandlerEnvironment {
  readonly report: OnDiagnostic
  readonly logging: boolean
}

const ignored = (): void => undefined

/** Everything but the call itself is made when a handler asks for it, since most handlers ask for nothing. */
export class LazyHandlerContext implements HandlerContext {
  readonly #call: CallContext
  readonly #environment: HandlerEnvironment
  readonly #opened: OpenedState | undefined
  readonly #signal: AbortSignal | undefined
  #done = false
  #input: Input | undefined
  #progress: HandlerContext['progress'] | undefined
  #log: HandlerContext['log'] | undefined

  /** `opened` is what an earlier round left, already verified; `signal` replaces that of the call. */
  constructor(call: CallContext, environment: HandlerEnvironment, opened?: OpenedState, signal?: AbortSignal) {
    this.#call = call
    this.#environment = environment
    this.#opened = opened
    this.#signal = signal
  }

  get signal(): AbortSignal {
    return this.#signal ?? this.#call.signal
  }

  get client(): Peer {
    return this.#call.peer
  }

  get principal(): Principal {
    return this.#call.principal
  }

  get meta(): JsonObject {
    return this.#call.meta
  }

  get hints(): WireHints {
    return this.#call.hints
  }

  get session(): Session {
    return sessionOf(this.#call)
  }

  get input(): Input {
    this.#input ??= createInput(this.#call.resume?.inputResponses, this.#opened)
    return this.#input
  }

  get supports(): HandlerContext['supports'] {
    return (request) => supportsInput(this.#call.peer, request)
  }

  get progress(): HandlerContext['progress'] {
    if (this.#call.progressToken === undefined) return ignored
    if (this.#progress === undefined) {
      const reporter = new ProgressReporter(this.#call, this.#environment.report)
      this.#progress = (progress, total, message) => {
        if (!this.#done) return reporter.send(progress, total, message)
      }
    }
    return this.#progress
  }

  get log(): HandlerContext['log'] {
    if (this.#call.logLevel === undefined || !this.#environment.logging) return ignored
    if (this.#log === undefined) {
      const sender = new LogSender(this.#call)
      this.#log = (level, data, logger) => {
        if (!this.#done) return sender.send(level, data, logger)
      }
    }
    return this.#log
  }

  /** From now on nothing is sent, whatever the handler has left running (MC-PROG-06). */
  finish(): void {
    this.#done = true
  }
}
