import { abortable } from '../contract/abortable.ts'
import { type Clock, systemClock } from '../contract/clock.ts'
import type { Connection } from '../contract/connection.ts'
import type { AbortOptions } from '../contract/context.ts'
import { type OnDiagnostic, safeDiagnostics } from '../contract/diagnostics.ts'
import { toRpcError } from '../contract/failure.ts'
import type { Implementation } from '../contract/dispatcher.ts'
import type { PeerSession } from '../contract/peer-session.ts'
import { type LinkedSignal, linkSignals } from '../contract/signals.ts'
import { within } from '../contract/within.ts'
import type { Discovered } from '../discover.ts'
import { RpcError, TransportError } from '../jsonrpc/errors.ts'
import type { JsonObject } from '../jsonrpc/json.ts'
import { isRecognisedModernError } from '../negotiate.ts'
import type { DuplexProbeContext } from '../negotiate-duplex.ts'
import type { RevisionPolicy } from '../revisions.ts'
import type { Root } from '../roots.ts'
import { createModernClient } from './call.ts'
import { type ClientConnection, type ServerEra, createClientConnection } from './client-connection.ts'
import { type Handshaken, shakeHands } from './legacy-handshake.ts'
import { type FinalVerdict, type Probed, probe } from './probe.ts'
import { ProbeLine } from './probe-line.ts'

/**
 * Why a connection is made: `first`; `restart`, after the first died of the probe; `sibling`, to see whether a silent server takes a
 * handshake instead.
 */
export type DialPurpose = 'first' | 'restart' | 'sibling'

export interface DialOptions extends AbortOptions {
  readonly purpose: DialPurpose
}

/** Makes a connection: starts a process or connects to a socket. Has limits of time of its own and heeds the signal. */
export type Dial = (options: DialOptions) => Promise<Connection>

export interface ConnectDuplexOptions extends AbortOptions {
  /** Which revisions are offered and accepted. */
  readonly policy: RevisionPolicy
  /** Who we are. It grants nothing. */
  readonly info: Implementation
  /** What we can be asked for, in the form of the modern revision. Default nothing. */
  readonly capabilities?: JsonObject | undefined
  /**
   * `auto` finds out the era. `legacy` shakes hands at once. `modern` is a pin: discovery is done all the same, and anything but a modern
   * server is an error. Default `auto`.
   */
  readonly mode?: 'auto' | 'legacy' | 'modern' | undefined
  /** See `CreateClientSessionOptions`: whom the connection is for, should the server keep sessions. */
  readonly relayFor?: PeerSession | undefined
  /** See `CreateClientSessionOptions`: what a server that keeps sessions is told where no client can be asked for its roots. */
  readonly roots?: readonly Root[] | undefined
  /** What was found out about this server before (decisions 1.5). Its expiry is for the caller, who drops it when this rejects. */
  readonly prior?: ServerEra | undefined
  /** Whether `dial` starts a process, which may have to be downloaded first. Default true. */
  readonly startsProcess?: boolean | undefined
  /** How long the server may take to answer the probe. Default 30,000 ms where a process is started, else 5,000 ms. */
  readonly probeTimeoutMs?: number | undefined
  /** How long it may take to answer `initialize`. Default as for the probe. */
  readonly handshakeTimeoutMs?: number | undefined
  /**
   * After this much silence a second connection gets `initialize`, and a complete answer there is the verdict, so that a silent legacy
   * server does not cost the whole probe timeout at every start. `false` for never. Default 3,000 ms where a process is started, else never.
   */
  readonly siblingAfterMs?: number | false | undefined
  readonly onDiagnostic?: OnDiagnostic | undefined
  readonly clock?: Clock | undefined
}

/**
 * Connects to a server on stdio or a socket, whichever its era (MS-ERA-01 to -06, decisions 1.3).
 *
 * Rejects with the reason of `signal` unchanged, with what `dial` rejected with, or with a `TransportError`: `protocol` when there is
 * nothing in common or the server is not of the era that is pinned, `timeout` and `closed` when it does not answer. Nothing is
 * downgraded because of an outage. Connections that were tried and are not the result are closed first; one that resists for more than
 * a second is left to its own limits.
 */
export async function connectDuplex(dial: Dial, options: ConnectDuplexOptions): Promise<ClientConnection> {
  const search = new Search(dial, options)
  try {
    return await search.run()
  } finally {
    await search.end()
  }
}

/** How long a connection that is no use any more is waited for. */
const closeMs = 1_000

interface Found {
  readonly line: ProbeLine
  readonly connection: ClientConnection
}

class Search {
  readonly #dial: Dial
  readonly #options: ConnectDuplexOptions
  readonly #clock: Clock
  readonly #probeTimeoutMs: number
  /** Ends with the search; what still dials or waits then has lost. */
  readonly #life: LinkedSignal
  readonly #lines = new Set<ProbeLine>()
  readonly #dialling = new Set<Promise<unknown>>()

  constructor(dial: Dial, options: ConnectDuplexOptions) {
    this.#dial = dial
    this.#options = { ...options, onDiagnostic: safeDiagnostics(options.onDiagnostic) }
    this.#clock = options.clock ?? systemClock
    this.#probeTimeoutMs = options.probeTimeoutMs ?? (options.startsProcess === false ? 5_000 : 30_000)
    this.#life = linkSignals([options.signal])
  }

  async run(): Promise<ClientConnection> {
    const { signal } = this.#life
    signal.throwIfAborted()
    const { line, connection } = await abortable(this.#connect(), signal)
    this.#lines.delete(line)
    return connection
  }

  /** Closes every connection that did not win. */
  async end(): Promise<void> {
    this.#life.abort(new DOMException('The search for the era of the server is over.', 'AbortError'))
    await this.#closeAll()
  }

  async #closeAll(): Promise<void> {
    const closing = [...this.#lines].map((line) => line.close())
    this.#lines.clear()
    await within(Promise.allSettled([...this.#dialling, ...closing]), closeMs, this.#clock)
  }

  async #connect(): Promise<Found> {
    const { mode = 'auto', prior, policy } = this.#options
    if (mode === 'legacy' || policy.modern.length === 0) return await this.#legacy('first', policy.legacy[0])
    if (mode === 'auto' && prior?.era === 'legacy' && policy.accepts(prior.revision) === 'legacy') {
      try {
        return await this.#legacy('first', prior.revision)
      } catch (error) {
        // It may have been replaced by a modern one. Only its own word counts: an outage says nothing about its era.
        if (!TransportError.is(error) || !RpcError.is(error.cause)) throw error
        this.#report(
          'verdict-outdated',
          'The server was known as legacy but refused the handshake. Its era is found out anew.',
        )
        await this.#closeAll()
      }
    }
    return await this.#findOut()
  }

  async #findOut(): Promise<Found> {
    const { mode, policy, prior } = this.#options
    const line = await this.#open('first')
    let context: DuplexProbeContext = {
      modern: policy.modern,
      legacy: mode === 'modern' ? [] : policy.legacy,
      requested: policy.modern[0] ?? '',
      probeId: line.nextId(),
    }
    let found = await this.#probeBesideSibling(line, context)
    if ('connection' in found) return found
    if (found.verdict.kind === 'modern-retry') {
      const { revision, declare } = found.verdict
      context = { ...context, requested: revision, probeId: line.nextId(), retried: true }
      found = await this.#probe(line, context, declare)
    }
    const { verdict, end } = found
    if (isSilence(verdict) && (mode === 'modern' || prior?.era === 'modern' || policy.legacy.length === 0)) {
      throw this.#outage(verdict, end?.error)
    }
    // Only a probe that is not `server/discover` can be answered without a discovery result.
    if (verdict.kind === 'modern' && verdict.discovered !== undefined) {
      return this.#modernOn(line, context.requested, verdict.revision, verdict.discovered, verdict.row)
    }
    if (verdict.kind !== 'legacy') throw refused(verdict)
    if (prior?.era === 'modern') this.#report('verdict-changed', 'The server was known as modern and is legacy now.')
    const { revision, row } = verdict
    if (verdict.restart === true) {
      await this.#closeAll()
      return await this.#legacy('restart', revision, row)
    }
    return await this.#legacyOn(line, revision, row, row === 'S11' ? context : undefined)
  }

  async #probeBesideSibling(line: ProbeLine, context: DuplexProbeContext): Promise<Probed | Found> {
    const {
      siblingAfterMs = this.#options.startsProcess === false ? false : 3_000,
      policy,
      mode,
      prior,
    } = this.#options
    const probing = this.#probe(line, context)
    if (siblingAfterMs === false || mode === 'modern' || prior?.era === 'modern') return await probing
    const sibling = new Promise<Found>((resolve) => {
      const timer = this.#clock.after(siblingAfterMs, () => {
        this.#legacy('sibling', policy.legacy[0], 'S11').then(resolve, (error: unknown) => {
          if (this.#life.signal.aborted) return
          this.#report(
            'sibling-failed',
            'A second look at the silent server failed; the answer to the probe is waited for.',
            error,
          )
        })
      })
      const stop = (): void => timer[Symbol.dispose]()
      void probing.then(stop, stop)
    })
    return await Promise.race([probing, sibling])
  }

  async #probe(line: ProbeLine, context: DuplexProbeContext, declare: JsonObject = {}): Promise<Probed> {
    return await probe({
      line,
      context,
      timeoutMs: this.#probeTimeoutMs,
      clock: this.#clock,
      info: this.#options.info,
      capabilities: { ...this.#options.capabilities, ...declare },
      onDiagnostic: this.#options.onDiagnostic,
    })
  }

  #modernOn(line: ProbeLine, requested: string, revision: string, discovered: Discovered, row: string): Found {
    for (const defect of discovered.defects) {
      this.#report('discovery-defect', `The discovery result of the server departs from the schema: ${defect}.`)
    }
    const { info, capabilities, instructions, hints } = discovered
    const client = createModernClient(line.port, {
      revision,
      server: { info, capabilities, instructions, hints },
      nextId: line.nextId,
      onDiagnostic: this.#options.onDiagnostic,
    })
    line.attach(client)
    const server = { info, capabilities, instructions }
    const verdict = { era: 'modern', revision } as const
    const parts = { line, peer: client, requested, observed: revision, server, row, verdict: () => verdict }
    return { line, connection: createClientConnection(parts) }
  }

  async #legacy(purpose: DialPurpose, revision: string | undefined, row?: string): Promise<Found> {
    if (revision === undefined)
      throw new TransportError('protocol', 'No legacy revision is enabled (--legacy-revisions).')
    return await this.#legacyOn(await this.#open(purpose), revision, row, undefined)
  }

  async #legacyOn(
    line: ProbeLine,
    revision: string,
    row: string | undefined,
    unanswered: DuplexProbeContext | undefined,
  ): Promise<Found> {
    const handshaken = await this.#shakeHands(line, revision, unanswered)
    if (handshaken.kind === 'modern') {
      this.#report('late-answer', 'The server answered the probe after its timeout: it is modern, and was only slow.')
      return this.#modernOn(line, unanswered?.requested ?? revision, handshaken.revision, handshaken.discovered, 'S01')
    }
    const { client, agreed, stands } = handshaken
    const { requested, observed, ...server } = agreed
    const verdict = { era: 'legacy', revision: observed } as const
    const parts = {
      line,
      peer: client,
      requested,
      observed,
      server,
      row,
      verdict: () => (stands() ? verdict : undefined),
    }
    return { line, connection: createClientConnection(parts) }
  }

  async #shakeHands(
    line: ProbeLine,
    revision: string,
    unanswered: DuplexProbeContext | undefined,
  ): Promise<Handshaken> {
    const { policy, info, capabilities = {}, relayFor, roots, onDiagnostic, handshakeTimeoutMs } = this.#options
    try {
      return await shakeHands({
        line,
        revision,
        policy,
        info,
        capabilities,
        ...(relayFor !== undefined && { relayFor }),
        roots,
        timeoutMs: handshakeTimeoutMs ?? this.#probeTimeoutMs,
        clock: this.#clock,
        signal: this.#life.signal,
        onDiagnostic,
        unanswered,
      })
    } catch (error) {
      throw RpcError.is(error) ? refusedHandshake(error) : error
    }
  }

  async #open(purpose: DialPurpose): Promise<ProbeLine> {
    const { signal } = this.#life
    const dialling = this.#dial({ signal, purpose })
    this.#dialling.add(dialling)
    try {
      const line = new ProbeLine(await dialling, this.#options.clock)
      this.#lines.add(line)
      if (!signal.aborted) return line
      // It came after the search was over, so nobody else closes it.
      await line.close()
      throw signal.reason
    } finally {
      this.#dialling.delete(dialling)
    }
  }

  /** Silence of a server that is modern by what we know or ask for: no evidence, and no reason to speak an older revision. */
  #outage(verdict: FinalVerdict, cause: unknown): Error {
    if (TransportError.is(cause)) return cause
    return verdict.row === 'S11'
      ? new TransportError('timeout', `The server did not answer server/discover within ${this.#probeTimeoutMs} ms.`, {
          retryable: true,
        })
      : new TransportError('closed', 'The server ended the connection without an answer to server/discover.', {
          retryable: true,
          cause,
        })
  }

  #report(code: string, message: string, cause?: unknown): void {
    this.#options.onDiagnostic?.({ level: 'warning', code, message, cause })
  }
}

function isSilence(verdict: FinalVerdict): boolean {
  return verdict.row === 'S11' || verdict.row === 'S12'
}

function refused(verdict: FinalVerdict): TransportError {
  if (verdict.kind !== 'error') throw new TypeError(`a duplex carrier gives no verdict of kind ${verdict.kind}`)
  const cause = verdict.cause && toRpcError(verdict.cause)
  return new TransportError('protocol', `${verdict.message} (${verdict.row})`, { cause, retryable: verdict.retryable })
}

function refusedHandshake(cause: RpcError): TransportError {
  const hint = isRecognisedModernError(cause.code)
    ? ' It is a modern server after all; if it was known as legacy, forget that.'
    : ''
  return new TransportError('protocol', `The server refused initialize: ${cause.message} (${cause.code}).${hint}`, {
    cause,
  })
}
