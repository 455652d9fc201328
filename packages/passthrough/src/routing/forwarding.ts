import type { Call, CallContext, Outcome, Resume } from '@atenea/mcpcompat'
import { isOutcome } from '@atenea/mcpcompat/transport'
import type { BackendPort } from '../backend-port.ts'
import { ForwardedContext } from '../forwarded-context.ts'
import { invalidState, type OpenedResume, type SealedAsks } from '../sealed-asks.ts'

/**
 * Makes a call of one of several backends. `given` is the call by the names that the client knows, to which questions are bound; a call that
 * is answered with a result at once stays synchronous. `opened` is what the client brought back, where that has been looked at already.
 */
export function forward(
  port: BackendPort,
  call: Call,
  given: Call,
  context: CallContext,
  asks: SealedAsks,
  opened?: OpenedResume,
): Outcome | Promise<Outcome> {
  if (opened === undefined && carriesState(context.resume))
    return resumeAt(port, call, given, context, context.resume, asks)
  if (opened !== undefined && opened.backend !== port.name) throw invalidState()
  const outcome = port.call(
    call,
    opened === undefined ? context : new ForwardedContext(context, { resume: opened.resume }),
  )
  if (!isOutcome(outcome)) return outcome.then((later) => sealAsk(later, port, given, context, asks))
  return sealAsk(outcome, port, given, context, asks)
}

/** Whether a client brings back state, which tells whose question it answers. */
export function carriesState(resume: Resume | undefined): resume is Resume & { readonly requestState: string } {
  return resume?.requestState !== undefined
}

async function resumeAt(
  port: BackendPort,
  call: Call,
  given: Call,
  context: CallContext,
  resume: Resume & { readonly requestState: string },
  asks: SealedAsks,
): Promise<Outcome> {
  return await forward(port, call, given, context, asks, await asks.open(resume, given, context))
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
