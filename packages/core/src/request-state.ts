import {
  type Call,
  type CallContext,
  type JsonValue,
  type OnDiagnostic,
  RpcError,
  type Seal,
  type SealBinding,
  createSeal,
  rpcCode,
} from '@atenea/mcpcompat'
import type { AskOptions } from './input.ts'

/** What a verified `requestState` held. */
export interface OpenedState {
  readonly state: JsonValue
  readonly round: number
}

/** Hands out `requestState` and takes it back. */
export interface StateKeeper {
  /** Seals state for this caller and this very request (MC-MRTR-09, MC-MRTR-10). */
  close(state: JsonValue, options: AskOptions, round: number, call: Call, context: CallContext): Promise<string>
  /** Opens what a client brought. An `RpcError` -32602, the same one whatever was wrong (MC-MRTR-08). */
  open(requestState: string, call: Call, context: CallContext): Promise<OpenedState>
}

const defaultTtlMs = 10 * 60 * 1000

/** States of single use whose use is remembered. When there are more, none is taken until the oldest expire. */
const maxUsedStates = 100_000

export function createStateKeeper(given: Seal | undefined, report: OnDiagnostic): StateKeeper {
  let seal = given
  const used = createUsedStates()

  const refuse = (reason: string): RpcError => {
    report({
      level: 'warning',
      code: 'request-state-refused',
      message: `A requestState was refused: ${reason}.`,
    })
    return new RpcError(rpcCode.invalidParams, 'requestState is not valid for this request; start over without it')
  }

  return {
    async close(state, { ttlMs = defaultTtlMs, once = false }, round, call, context) {
      seal ??= createSeal()
      return seal.seal([once, state], bindingOf(call, context), { ttlMs, round })
    },
    async open(requestState, call, context) {
      seal ??= createSeal()
      const opened = await seal.unseal(requestState, bindingOf(call, context))
      if (!opened.ok) throw refuse(opened.reason)
      const [once, state] = opened.state as readonly [boolean, JsonValue]
      if (once && !used.take(opened.nonce, opened.expiresAt)) throw refuse('used before')
      return { state, round: opened.round }
    },
  }
}

function bindingOf(call: Call, context: CallContext): SealBinding {
  return { principal: context.principal.id, method: call.method, params: call.params }
}

interface UsedStates {
  /** Marks a state as used; `false` when it was before, or when no more can be remembered. */
  take(nonce: string, expiresAt: number): boolean
}

function createUsedStates(): UsedStates {
  const used = new Map<string, number>()
  return {
    take(nonce, expiresAt) {
      if (used.has(nonce)) return false
      if (used.size >= maxUsedStates) {
        const now = Date.now()
        for (const [old, end] of used) if (end <= now) used.delete(old)
        if (used.size >= maxUsedStates) return false
      }
      used.set(nonce, expiresAt)
      return true
    },
  }
}
