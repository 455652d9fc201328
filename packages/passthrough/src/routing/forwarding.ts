import type { Call, CallContext, Outcome, Resume } from '@atenea/mcpcompat'
import { isOutcome } from '@atenea/mcpcompat/transport'
import type { BackendPort } from '../backend-port.ts'
import { ForwardedContext } from '../forwarded-context.ts'
import type { SealedAsks } from '../sealed-asks.ts'

/**
 * Makes a call of one of several backends. `given` is the call by the names that the client knows, to which questions are bound; a call that
 * is answered with a result at once stays synchronous.
 */
export function forward(
  port: BackendPort,
  call: Call,
  given: Call,
  context: CallContext,
  asks: SealedAsks,
): Outcome | Promise<Outcome> {
  if (context.resume?.requestState !== undefined) return resumeAt(port, call, given, context, context.resume, asks)
  const outcome = port.call(call, context)
  if (!isOutcome(outcome)) return outcome.then((later) => sealAsk(later, port, given, context, asks))
  return sealAsk(outcome, port, given, context, asks)
}

async function resumeAt(
  port: BackendPort,
  call: Call,
  given: Call,
  context: CallContext,
  resume: Resume,
  asks: SealedAsks,
): Promise<Outcome> {
  const opened = await asks.open(resume, port.name, given, context)
  const outcome = await port.call(call, new ForwardedContext(context, { resume: opened }))
  return sealAsk(outcome, port, given, context, asks)
}

function sealAsk(
  outcome: Outcome,
  port: BackendPort,
  given: Call,
  context: CallContext,
  asks: SealedAsks,
): Outcome | Promise<Outcome> {
  return outcome.kind === 'ask' ? asks.close(outcome, port.name, given, context) : outcome
}
