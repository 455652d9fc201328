import {
  type HeaderPlan,
  isJsonObject,
  type JsonObject,
  type JsonRecord,
  JsonText,
  type JsonValue,
  type OnDiagnostic,
  type Outcome,
  toText,
} from '@atenea/mcpcompat'
import { memberOf, planHeaders } from '@atenea/mcpcompat/transport'

/** Plans of tools that are remembered; the oldest goes first. */
const maxPlans = 10_000

/** How the arguments of a server's tools are mirrored into headers, learnt from the lists that pass by (MH-VAL-09). */
export class HeaderPlans {
  readonly #plans = new Map<string, HeaderPlan>()
  readonly #onDiagnostic: OnDiagnostic | undefined

  constructor(onDiagnostic: OnDiagnostic | undefined) {
    this.#onDiagnostic = onDiagnostic
  }

  /** The plan of a tool; `undefined` when the tool is unknown or mirrors nothing. */
  get(tool: string): HeaderPlan | undefined {
    const plan = this.#plans.get(tool)
    return plan === undefined || plan.declarations.length === 0 ? undefined : plan
  }

  /** Whether the tool was in a list that passed by. */
  knows(tool: string): boolean {
    return this.#plans.has(tool)
  }

  /**
   * Learns from the outcome of a `tools/list` and gives it without the tools whose annotations make them invalid, with a warning for each:
   * one bad tool never hides the others (MH-XMH-11, -12, field report B7).
   */
  learn(outcome: Outcome): Outcome {
    if (outcome.kind !== 'result') return outcome
    const tools = memberOf(outcome.value, 'tools')
    if (!Array.isArray(tools)) return outcome
    const all = tools as readonly JsonValue[]
    const valid = all.filter((tool) => !isJsonObject(tool) || this.#take(tool))
    return valid.length === all.length ? outcome : { ...outcome, value: withTools(outcome.value, valid) }
  }

  #take(tool: JsonObject): boolean {
    const { name, inputSchema } = tool
    if (typeof name !== 'string') return true
    const planned = planHeaders(inputSchema)
    // Whatever else is wrong with a schema is not for headers to judge.
    if (planned.ok || planned.faulty.size === 0) {
      this.#remember(name, planned.ok ? planned.plan : { declarations: [] })
      return true
    }
    this.#plans.delete(name)
    this.#onDiagnostic?.({
      level: 'warning',
      code: 'tool-dropped',
      message: `The tool ${JSON.stringify(name.slice(0, 128))} is left out of the list, since its header annotations are invalid: ${planned.faults[0]}.`,
    })
    return false
  }

  #remember(name: string, plan: HeaderPlan): void {
    this.#plans.delete(name)
    this.#plans.set(name, plan)
    if (this.#plans.size <= maxPlans) return
    for (const oldest of this.#plans.keys()) {
      this.#plans.delete(oldest)
      break
    }
  }
}

/** The same result with other tools; all its other members stay as they are. */
function withTools(value: JsonRecord, tools: readonly JsonValue[]): JsonRecord {
  if (!JsonText.is(value)) return { ...value, tools }
  const members = [...value.spans].map(([key, { start, end }]) => {
    const text = key === 'tools' ? toText(tools) : value.text.slice(start, end)
    return `${JSON.stringify(key)}:${text}`
  })
  return JsonText.ofMembers(members.join(','), [...value.spans.keys()])
}
