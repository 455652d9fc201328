import {
  type Ask,
  type Call,
  type CallContext,
  isJsonObject,
  type Outcome,
  type Resume,
  RpcError,
  rpcCode,
} from '@atenea/mcpcompat'
import type { Seal, SealBinding } from '@atenea/mcpcompat'

/** How long a question may be thought about. What the backend made of its state may end sooner. */
const ttlMs = 24 * 60 * 60 * 1000

/**
 * Questions of several backends (BR-301). The state that comes with one goes to the client sealed together with the name of its backend,
 * and back to that backend alone, byte for byte. Keys and questions are not touched.
 */
export class SealedAsks {
  readonly #seal: Seal

  constructor(seal: Seal) {
    this.#seal = seal
  }

  /** The outcome as the client gets it. `call` is what the client called, by the names that it knows. */
  async close(
    outcome: Ask & { readonly kind: 'ask' },
    backend: string,
    call: Call,
    context: CallContext,
  ): Promise<Outcome> {
    const { requestState } = outcome
    if (requestState === undefined) return outcome
    const round = 1
    const sealed = await this.#seal.seal({ backend, state: requestState }, binding(call, context), { ttlMs, round })
    return { ...outcome, requestState: sealed }
  }

  /** Whose state it is, and what goes back to that backend. An `RpcError` -32602 for state that is none of this client and request. */
  async open(
    resume: Resume & { readonly requestState: string },
    call: Call,
    context: CallContext,
  ): Promise<OpenedResume> {
    const opened = await this.#seal.unseal(resume.requestState, binding(call, context))
    if (opened.ok && isJsonObject(opened.state)) {
      const { backend, state } = opened.state
      if (typeof backend === 'string' && typeof state === 'string') {
        return { backend, resume: { ...resume, requestState: state } }
      }
    }
    throw invalidState()
  }
}

export interface OpenedResume {
  readonly backend: string
  readonly resume: Resume
}

/** One refusal for everything that can be wrong with it: whoever forges state learns nothing. */
export function invalidState(): RpcError {
  return new RpcError(rpcCode.invalidParams, 'The requestState is not valid for this request, or has expired')
}

function binding({ method, params }: Call, { principal }: CallContext): SealBinding {
  return { principal: principal.id, method, params }
}
