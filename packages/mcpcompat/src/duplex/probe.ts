import type { Clock } from '../contract/clock.ts'
import type { OnDiagnostic } from '../contract/diagnostics.ts'
import type { Implementation } from '../contract/dispatcher.ts'
import { method } from '../contract/methods.ts'
import { TransportError } from '../jsonrpc/errors.ts'
import type { JsonObject } from '../jsonrpc/json.ts'
import type { RpcRequest } from '../jsonrpc/message.ts'
import type { ProbeVerdict } from '../negotiate.ts'
import { type DuplexProbeContext, type DuplexProbeEvent, judgeDuplexProbe } from '../negotiate-duplex.ts'
import { createModernCodec } from '../rev-2026-07-28/codec.ts'
import type { LineEnd, ProbeLine } from './probe-line.ts'

/** A verdict that is more than "wait". */
export type FinalVerdict = Exclude<ProbeVerdict, { readonly kind: 'wait' }>

export interface Probed {
  readonly verdict: FinalVerdict
  /** How the connection ended, where that is what the verdict rests on. */
  readonly end: LineEnd | undefined
}

export interface ProbeOptions {
  readonly line: ProbeLine
  readonly context: DuplexProbeContext
  readonly timeoutMs: number
  readonly clock: Clock
  readonly info: Implementation
  readonly capabilities: JsonObject
  readonly onDiagnostic: OnDiagnostic | undefined
}

/**
 * Sends one probe and waits for what tells the era: an answer, the end of the connection, or the timeout (MS-ERA-01, rows S01 to S18).
 * Noise is reported and skipped, requests of the server are kept for whoever comes next. Rejects only when the connection cannot be
 * understood at all. From the verdict on, messages wait in the line.
 */
export function probe(options: ProbeOptions): Promise<Probed> {
  const { line, context, onDiagnostic } = options
  return new Promise((resolve, reject) => {
    let settled = false

    function settle(event: DuplexProbeEvent, end?: LineEnd): ProbeVerdict {
      const verdict = judgeDuplexProbe(event, context)
      if (verdict.kind !== 'wait' && !settled) {
        settled = true
        timer[Symbol.dispose]()
        line.handTo(undefined)
        resolve({ verdict, end })
      }
      return verdict
    }

    const timer = options.clock.after(options.timeoutMs, () => settle({ kind: 'timeout' }))
    line.handTo((message, hints) => {
      const verdict = settle({ kind: 'message', message })
      if (verdict.kind !== 'wait') return
      if (verdict.hold === true) line.keep(message, hints)
      if (verdict.note !== undefined) {
        const text = `While the era of the server was being found out it sent something unusable: ${verdict.note}.`
        onDiagnostic?.({ level: 'warning', code: 'probe-noise', message: text })
      }
    })

    void line.ended.then((end) => {
      // A peer that frames in another way is no legacy server that died of the probe.
      if (TransportError.is(end.error) && end.error.kind === 'protocol') reject(end.error)
      else settle({ kind: 'exit' }, end)
    })

    // A message that cannot leave shows as the end of the connection.
    void Promise.resolve(line.port.send(discoverRequest(options))).catch(() => undefined)
  })
}

/** `server/discover` with everything that a modern request carries (decisions 1.1). */
function discoverRequest({ context, info, capabilities }: ProbeOptions): RpcRequest {
  const codec = createModernCodec({ revision: context.requested })
  const peer = { name: info.name, version: info.version, capabilities }
  const call = { method: method.discover, params: {} }
  const request = { peer, meta: {}, progressToken: undefined, logLevel: undefined, resume: undefined }
  return codec.encodeCall(call, request, context.probeId).message
}
