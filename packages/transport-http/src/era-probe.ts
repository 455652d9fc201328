import {
  type AbortOptions,
  type Implementation,
  type JsonObject,
  method,
  type RevisionPolicy,
  type RpcId,
  TransportError,
} from '@atenea/mcpcompat'
import {
  createModernCodec,
  encodeMessage,
  type HttpProbeContext,
  judgeHttpProbe,
  linkSignals,
  type ProbeVerdict,
} from '@atenea/mcpcompat/transport'
import { type Endpoint, maxRenewals } from './endpoint.ts'
import { repeatableFailure } from './http-errors.ts'
import { type ProbeAnswer, readProbe } from './probe-answer.ts'
import { isRedirect, locationOf, redirectError } from './redirect.ts'

export interface EraProbeOptions extends AbortOptions {
  readonly endpoint: Endpoint
  readonly policy: RevisionPolicy
  readonly info: Implementation
  readonly capabilities: JsonObject | undefined
  /** How long the server may take to answer. */
  readonly timeoutMs: number
  readonly nextId: () => RpcId
}

/** A verdict that ends the search for the era of a server. */
export type FoundEra = Exclude<ProbeVerdict, { readonly kind: 'follow' | 'modern-retry' | 'wait' | 'inconclusive' }>

/** What a probe found, and what it had asked for by then. */
export interface ProbedEra {
  readonly verdict: FoundEra
  readonly context: HttpProbeContext
}

/** Asks a server of which era it is, by `server/discover` (decisions 1.1). */
export class EraProbe {
  readonly #options: EraProbeOptions
  readonly #endpoint: Endpoint

  constructor(options: EraProbeOptions) {
    this.#options = options
    this.#endpoint = options.endpoint
  }

  /** Asks until there is a verdict: a redirect is followed once, and a retry that the server asks for is made once. */
  async run(isPinned: boolean): Promise<ProbedEra> {
    const { policy } = this.#options
    let context: HttpProbeContext = {
      modern: policy.modern,
      legacy: isPinned ? [] : policy.legacy,
      requested: policy.modern[0] ?? '',
    }
    let declare: JsonObject = {}
    let redirected = false
    let renewals = 0
    for (;;) {
      const answer = await this.#ask(context, declare)
      const verdict = judgeHttpProbe({ ...answer, url: this.#endpoint.url, redirected }, context)
      switch (verdict.kind) {
        case 'follow':
          this.#endpoint.moveTo(verdict.url)
          redirected = true
          break
        case 'modern-retry':
          context = { ...context, requested: verdict.revision, retried: true }
          declare = verdict.declare ?? {}
          break
        case 'wait':
        case 'inconclusive':
          throw new TypeError(`a probe over HTTP gives no verdict of kind ${verdict.kind}`)
        case 'error':
          if (isRedirect(answer.status))
            throw redirectError(answer.status, locationOf(answer, this.#endpoint.url), this.#endpoint.url)
          return { verdict: this.#worded(verdict, answer), context }
        case 'auth': {
          const refused = this.#endpoint.authError(answer)
          const { signal } = this.#options
          if (++renewals > maxRenewals || !(await this.#endpoint.renew(answer, { signal }))) throw refused
          break
        }
        case 'legacy':
        case 'modern':
          return { verdict, context }
      }
    }
  }

  /** Sends `server/discover` with everything that a modern request carries (decisions 1.1), and reads what comes. */
  async #ask({ requested }: HttpProbeContext, declare: JsonObject): Promise<ProbeAnswer> {
    const { info, capabilities, signal, timeoutMs, nextId } = this.#options
    const id = nextId()
    const peer = { name: info.name, version: info.version, capabilities: { ...capabilities, ...declare } }
    const call = { method: method.discover, params: {} }
    const about = { peer, meta: {}, progressToken: undefined, logLevel: undefined, resume: undefined }
    const { message, hints } = createModernCodec({ revision: requested }).encodeCall(call, about, id)
    const headers = { ...hints, 'content-type': 'application/json' } as Record<string, string>
    using limit = linkSignals([signal], { timeoutMs })
    try {
      const head = await this.#endpoint.request({
        method: 'POST',
        headers,
        body: encodeMessage(message),
        repeatable: true,
        signal: limit.signal,
        plain: true,
        keepsRefusal: true,
      })
      return await readProbe(head, id, this.#endpoint)
    } catch (error) {
      signal?.throwIfAborted()
      if (!limit.signal.aborted) throw repeatableFailure(error)
      const text = `${this.#endpoint.name} did not answer server/discover within ${timeoutMs} ms.`
      throw new TransportError('timeout', text, { retryable: true, cause: error })
    }
  }

  /** A verdict that rests on the status alone says more with what came. */
  #worded(verdict: FoundEra & { readonly kind: 'error' }, answer: ProbeAnswer): FoundEra {
    if (verdict.cause !== undefined) return verdict
    const isForeign = verdict.row === 'H03' || verdict.row === 'H04' || verdict.row === 'H05' || verdict.row === 'H23'
    if (!isForeign) return verdict
    return { ...verdict, message: this.#endpoint.statusError(answer, answer.body, true).message }
  }
}
