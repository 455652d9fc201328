import { type JsonValue, toText } from '@atenea/mcpcompat'
import type { Answer } from './wire/answer.ts'
import { errorOf } from './wire/received.ts'

/** A value for evidence: JSON, cut. */
export function show(value: JsonValue | undefined, maxLength = 160): string {
  if (value === undefined) return 'nothing'
  const text = toText(value)
  return text.length > maxLength ? `${text.slice(0, maxLength).toWellFormed()}…` : text
}

/** What an answer was, in a few words: `200 {"jsonrpc":…}`, `400, error -32600 "…"`, `no answer within 500 ms`. */
export function showAnswer(answer: Answer): string {
  const status = answer.http === undefined ? '' : `${answer.http.status}`
  const error = errorOf(answer.response)
  const what =
    error !== undefined
      ? `error ${error.code ?? show(answer.response?.value['error'])}${error.message === undefined ? '' : ` ${show(error.message)}`}`
      : answer.response !== undefined
        ? cut(answer.response.text)
        : answer.failure !== undefined
          ? answer.failure.message
          : bodyOf(answer)
  return [status, what].filter((part) => part !== '').join(' ')
}

function bodyOf({ http, junk }: Answer): string {
  const text = junk[0]?.text ?? http?.body ?? ''
  return /\S/.test(text) ? cut(text) : 'with an empty body'
}

function cut(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > 240 ? `${line.slice(0, 240).toWellFormed()}…` : line
}
