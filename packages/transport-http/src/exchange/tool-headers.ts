import type { Call, CallContext, JsonObject, OnDiagnostic, Outcome } from '@atenea/mcpcompat'
import {
  abortable,
  createCallerContext,
  createPageWalk,
  linkSignals,
  memberOf,
  paramHeaders,
} from '@atenea/mcpcompat/transport'
import type { HeaderPlans } from '../header-plans.ts'

/** Header fields by name. */
export type Fields = Readonly<Record<string, string>>

export interface ToolHeadersOptions {
  readonly plans: HeaderPlans
  /** Asks the server for one page of its tools. */
  readonly listTools: (params: JsonObject, context: CallContext) => Promise<Outcome>
  /** Ends with the connection. */
  readonly life: AbortSignal
  /** Longest time that reading all pages may take. */
  readonly timeoutMs: number
  readonly onDiagnostic: OnDiagnostic | undefined
}

/** The headers that mirror the arguments of a tool call, as far as the tools of the server are known (A-17, B8). */
export class ToolHeaders {
  readonly #options: ToolHeadersOptions
  #refreshing: Promise<void> | undefined

  constructor(options: ToolHeadersOptions) {
    this.#options = options
  }

  /** What the tool is known to mirror, and what the hop before us sent for parameters that we know nothing of (MH-INT-01). */
  of(call: Call, context: CallContext): Fields {
    const name = memberOf(call.params, 'name')
    const plan = typeof name === 'string' ? this.#options.plans.get(name) : undefined
    const planned = plan === undefined ? undefined : paramHeaders(plan, memberOf(call.params, 'arguments'))
    let foreign: Record<string, string> | undefined
    const { hints } = context
    for (const key in hints) {
      if (!key.startsWith('mcp-param-')) continue
      const value = hints[key]
      if (value === undefined || !Object.hasOwn(hints, key)) continue
      const isPlanned = plan?.declarations.some(({ header }) => header.toLowerCase() === key) === true
      if (!isPlanned && /^[\x20-\x7E]*$/.test(value)) (foreign ??= {})[key] = value
    }
    if (foreign === undefined) return planned ?? none
    return { ...foreign, ...planned }
  }

  /** Reads the lists of tools again; `undefined` when that leads to no other headers. */
  async better(call: Call, context: CallContext, before: Fields, signal: AbortSignal): Promise<Fields | undefined> {
    this.#refreshing ??= this.#readTools(context).finally(() => {
      this.#refreshing = undefined
    })
    try {
      await abortable(this.#refreshing, signal)
    } catch (cause) {
      signal.throwIfAborted()
      this.#options.onDiagnostic?.({
        level: 'warning',
        code: 'tools-unknown',
        message: 'The server found the headers of a tool call wrong, and its tools could not be listed.',
        cause,
      })
      return undefined
    }
    const after = this.of(call, context)
    return sameFields(before, after) ? undefined : after
  }

  /** Every page of the list of tools, which teach the plans as they pass by, on behalf of everybody who waits for it. */
  async #readTools({ peer }: CallContext): Promise<void> {
    const { life, timeoutMs, listTools } = this.#options
    using link = linkSignals([life], { timeoutMs })
    const context = createCallerContext({ peer, signal: link.signal })
    const walk = createPageWalk()
    let params: JsonObject = {}
    for (;;) {
      const page = await listTools(params, context)
      if (page.kind !== 'result') return
      const tools = memberOf(page.value, 'tools')
      const step = walk.after(page.value, Array.isArray(tools) ? tools.length : 0)
      if (step.kind !== 'next') return
      params = { cursor: step.cursor }
    }
  }
}

const none: Fields = Object.freeze({})

function sameFields(a: Fields, b: Fields): boolean {
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key])
}
