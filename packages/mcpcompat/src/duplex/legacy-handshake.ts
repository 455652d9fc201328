import type { Clock } from '../contract/clock.ts'
import type { AbortOptions } from '../contract/context.ts'
import type { OnDiagnostic } from '../contract/diagnostics.ts'
import type { Implementation } from '../contract/dispatcher.ts'
import type { PeerSession } from '../contract/peer-session.ts'
import { linkSignals } from '../contract/signals.ts'
import { within } from '../contract/within.ts'
import { type Discovered, parseDiscoverResult } from '../discover.ts'
import { RpcError, TransportError } from '../jsonrpc/errors.ts'
import type { JsonObject } from '../jsonrpc/json.ts'
import type { RpcId, RpcMessage, RpcReject } from '../jsonrpc/message.ts'
import { type DuplexProbeContext, type HandshakeState, judgeLateAnswer } from '../negotiate-duplex.ts'
import { type LegacyClient, createClientSession } from '../rev-2025-06-18/client-session.ts'
import type { RevisionPolicy } from '../revisions.ts'
import type { Root } from '../roots.ts'
import type { ProbeLine } from './probe-line.ts'

export interface HandshakeOptions extends AbortOptions {
  readonly line: ProbeLine
  /** What `initialize` offers. */
  readonly revision: string
  readonly policy: RevisionPolicy
  readonly info: Implementation
  readonly capabilities: JsonObject
  readonly relayFor?: PeerSession
  readonly roots?: readonly Root[] | undefined
  readonly timeoutMs: number
  readonly clock: Clock
  readonly onDiagnostic: OnDiagnostic | undefined
  /** The probe that got no answer on this connection, and still may get one. */
  readonly unanswered: DuplexProbeContext | undefined
}

export type Handshaken =
  | {
      readonly kind: 'legacy'
      readonly client: LegacyClient
      readonly agreed: Awaited<ReturnType<LegacyClient['initialize']>>
      /** Whether nothing has come since that speaks against the verdict legacy. */
      readonly stands: () => boolean
    }
  /** The answer to the probe came after all, and before the handshake was done. */
  | { readonly kind: 'modern'; readonly revision: string; readonly discovered: Discovered }

/** How long after a refused handshake the answer to the probe may still come. */
const lateAnswerMs = 2_000

/**
 * Shakes hands with a legacy server. Where a probe went unanswered, its answer may come while the handshake is under way or has been
 * refused, and then counts. Rejects with the server's `RpcError`, or a `TransportError`.
 */
export async function shakeHands(options: HandshakeOptions): Promise<Handshaken> {
  const { line, unanswered, timeoutMs } = options
  const client = createClientSession(line.port, { ...options, nextId: line.nextId })
  let state: HandshakeState = 'pending'
  let stands = true
  let late: (Handshaken & { readonly kind: 'modern' }) | undefined
  let cameLate: () => void = () => undefined
  const lateAnswer = new Promise<void>((resolve) => {
    cameLate = resolve
  })

  line.attach(client, (message, hints) => {
    if (unanswered === undefined || !answers(message, unanswered.probeId)) {
      client.receive(message, hints)
      // Known in the turn of the answer, since the answer to the probe may come in the same one.
      // Nothing but `initialize` is asked before.
      if (state === 'pending' && answers(message, line.lastId)) {
        state = message.kind === 'result' ? 'complete' : 'refused'
      }
      return
    }
    const verdict = judgeLateAnswer(message, state, unanswered)
    const discovered = message.kind === 'result' ? parseDiscoverResult(message.result) : undefined
    if (verdict.kind === 'ignore') stands &&= verdict.keep
    else if (discovered?.valid === true) {
      line.handTo(undefined)
      late = { kind: 'modern', revision: verdict.revision, discovered }
      cameLate()
    }
  })

  using limit = linkSignals([options.signal], { timeoutMs })
  const initialized = client.initialize({ signal: limit.signal })
  try {
    const agreed = await Promise.race([initialized, lateAnswer])
    if (agreed !== undefined) return { kind: 'legacy', client, agreed, stands: () => stands }
  } catch (error) {
    if (options.signal?.aborted === true) throw error
    if (limit.signal.aborted) {
      const message = `The server did not answer initialize within ${timeoutMs} ms.`
      throw new TransportError('timeout', message, { retryable: true, cause: error })
    }
    if (!RpcError.is(error) || unanswered === undefined) throw error
    if (!(await within(lateAnswer, lateAnswerMs, options.clock))) throw error
  }
  if (late === undefined) throw new TypeError('a late answer is one that has come')
  return late
}

function answers(message: RpcMessage | RpcReject, id: RpcId | undefined): boolean {
  return (message.kind === 'result' || message.kind === 'error') && id !== undefined && message.id === id
}
