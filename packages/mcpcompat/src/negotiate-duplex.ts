import type { JsonValue } from './jsonrpc/json.ts'
import type { RpcId, RpcMessage, RpcReject } from './jsonrpc/message.ts'
import {
  failed,
  judgeDiscoverResult,
  judgeModernError,
  legacy,
  type ProbeContext,
  type ProbeRows,
  type ProbeVerdict,
} from './negotiate.ts'
import { isAnswerBatch, type RpcOutcome } from './probe-answer.ts'

/** What can happen on a duplex carrier while the probe is the only open request. */
export type DuplexProbeEvent =
  | { readonly kind: 'message'; readonly message: RpcMessage | RpcReject }
  /** The probe timeout passed. */
  | { readonly kind: 'timeout' }
  /** The process exited, or the peer closed the stream. */
  | { readonly kind: 'exit' }
  /** The process could not be started, or the socket refused. */
  | { readonly kind: 'spawn-error' }

export interface DuplexProbeContext extends ProbeContext {
  /** The JSON-RPC id of the probe. */
  readonly probeId: RpcId
  /** Whether the peer was started a second time because the first exited. */
  readonly restarted?: boolean
}

const rows: ProbeRows = {
  retry: 'S06',
  retrySame: 'S06',
  legacyListed: 'S06',
  nothingListed: 'S06',
  noList: 'S07',
  header: 'S08',
  capability: 'S08',
  discovered: 'S01',
  discoveredLegacy: 'S02',
  discoveredNothing: 'S03',
  malformed: 'S04',
  otherResult: 'S05',
}

/** The verdict about a peer on stdio or a socket after one event: rows S01 to S18 of decisions 1.3. */
export function judgeDuplexProbe(event: DuplexProbeEvent, context: DuplexProbeContext): ProbeVerdict {
  switch (event.kind) {
    case 'message':
      return judgeMessage(event.message, context)
    case 'timeout':
      // S11: on the same stream, with an ear for a late answer (`judgeLateAnswer`)
      return legacy('S11', context)
    case 'exit':
      // S12: many legacy servers die of any other first request
      return context.restarted === true
        ? failed('S12', 'The server exited again before it answered.')
        : legacy('S12', context, { restart: true })
    case 'spawn-error':
      // S13
      return failed('S13', 'The server could not be started or reached.')
  }
}

function judgeMessage(message: RpcMessage | RpcReject, context: DuplexProbeContext): ProbeVerdict {
  switch (message.kind) {
    case 'result':
      return message.id === context.probeId
        ? // S01 to S05
          judgeDiscoverResult(message.result, context, rows)
        : strayAnswer()
    case 'error': {
      if (message.id !== undefined && message.id !== context.probeId) return strayAnswer()
      const { code, message: text, data } = message.error
      const outcome: RpcOutcome = { kind: 'error', code, message: text, ...(data !== undefined && { data }) }
      // S06 to S08, then S09, and S10 where the server could not read the id of the only open request
      return judgeModernError(outcome, context, rows) ?? legacy(message.id === undefined ? 'S10' : 'S09', context)
    }
    case 'notification':
      // S15
      return { kind: 'wait', row: 'S15' }
    case 'request':
      // S16: a modern client writes no response (MC-MSG-10), a legacy one will
      return { kind: 'wait', row: 'S16', hold: true }
    case 'reject':
      return judgeReject(message, context)
  }
}

function judgeReject(message: RpcReject, context: DuplexProbeContext): ProbeVerdict {
  // S17
  if (message.batch === true && holdsAnswer(message, context.probeId)) return legacy('S17', context)
  // S14: noise
  return { kind: 'wait', row: 'S14', note: message.reason }
}

function holdsAnswer(message: RpcReject, probeId: RpcId): boolean {
  try {
    return isAnswerBatch(JSON.parse(message.text ?? 'null') as JsonValue, probeId)
  } catch {
    return false
  }
}

// S18
function strayAnswer(): ProbeVerdict {
  return { kind: 'wait', row: 'S18', note: 'an answer with another id' }
}

/** Where the legacy handshake stands when the answer to the probe comes late. */
export type HandshakeState = 'pending' | 'refused' | 'complete'

/** What a late answer to the probe changes. */
export type LateVerdict =
  /** Go on with the modern revision; the handshake is abandoned. */
  | { readonly kind: 'modern'; readonly revision: string }
  /** This connection goes on as it is. `keep`: whether a legacy verdict may still be stored for later connections. */
  | { readonly kind: 'ignore'; readonly keep: boolean }

/**
 * Judges an answer to the probe that came after its timeout: a valid discovery result switches to modern unless the handshake is
 * done; then at least no wrong verdict is stored.
 */
export function judgeLateAnswer(
  message: RpcMessage | RpcReject,
  handshake: HandshakeState,
  context: DuplexProbeContext,
): LateVerdict {
  const verdict = judgeMessage(message, context)
  if (verdict.kind === 'modern' && handshake !== 'complete') return { kind: 'modern', revision: verdict.revision }
  const saysLegacy = verdict.kind === 'wait' || (verdict.kind === 'legacy' && !verdict.selected)
  return { kind: 'ignore', keep: saysLegacy }
}
