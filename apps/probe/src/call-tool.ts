import { isJsonObject, type JsonObject, type JsonValue, method } from '@atenea/mcpcompat'
import { HeaderValueError, paramHeaders, planHeaders } from '@atenea/mcpcompat/transport'
import type { Conversation } from './conversation.ts'
import type { EraResult } from './era-result.ts'
import type { ToolCallReport } from './report.ts'
import { showAnswer } from './show.ts'
import { errorOf, resultOf } from './wire/received.ts'

/** The tool that the user named, and its arguments. */
export interface ToolCall {
  readonly name: string
  readonly args: JsonObject
}

/** Calls the one tool that the user asked for. */
export async function callTool(to: Conversation, result: EraResult, { name, args }: ToolCall): Promise<ToolCallReport> {
  to.recorder.doing(`calling ${name}`)
  const answer = await to.ask(
    method.callTool,
    { name, arguments: args },
    { headers: argumentHeaders(result, name, args) },
  )
  const value = resultOf(answer.response)
  const isComplete = value !== undefined && (value['resultType'] ?? 'complete') === 'complete'
  const ok = isComplete && value['isError'] !== true
  const received: JsonValue | undefined = value ?? answer.response?.value['error']
  return {
    name,
    era: to.era,
    ok,
    durationMs: Math.round(answer.durationMs * 100) / 100,
    ...(received !== undefined && { answer: received }),
    ...(!ok && { detail: to.recorder.clean(reasonOf(answer, value)) }),
  }
}

function reasonOf(answer: Parameters<typeof showAnswer>[0], value: JsonObject | undefined): string {
  if (value?.['isError'] === true) return `the tool reports a failure: ${textOf(value)}`
  if (value?.['resultType'] === 'input_required') return 'the tool asks for input, which the probe does not give'
  return errorOf(answer.response)?.message ?? showAnswer(answer)
}

function textOf({ content }: JsonObject): string {
  const blocks = Array.isArray(content) ? (content as readonly JsonValue[]) : []
  return blocks
    .flatMap((block) => (isJsonObject(block) && typeof block['text'] === 'string' ? [block['text']] : []))
    .join(' ')
}

/** The headers that mirror arguments, by the annotations of the tool as it was listed (MH-VAL-09). */
function argumentHeaders(result: EraResult, name: string, args: JsonObject): Readonly<Record<string, string>> {
  const tool = result.lists.tools?.find((entry) => isJsonObject(entry) && entry['name'] === name)
  const planned = isJsonObject(tool) ? planHeaders(tool['inputSchema']) : undefined
  if (planned?.ok !== true) return {}
  try {
    return paramHeaders(planned.plan, args)
  } catch (error) {
    if (error instanceof HeaderValueError) return {}
    throw error
  }
}
