import { type JsonObject, isJsonObject, type JsonValue } from '@atenea/mcpcompat'
import type { Clock } from '@atenea/mcpcompat/transport'
import { readText } from '../read-body.ts'
import { safeUrl } from '../safe-url.ts'
import type { HttpSend } from '../send.ts'

export interface AskJsonOptions {
  readonly send: HttpSend
  readonly clock: Clock
  /** For an answer as a whole. */
  readonly timeoutMs: number
}

export interface JsonQuestion {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface JsonReply {
  readonly status: number
  /** `undefined` for an answer that is no JSON object. */
  readonly value: JsonObject | undefined
}

/** Asks once and gives what came. Rejects when nothing did. */
export type AskJson = (question: JsonQuestion) => Promise<JsonReply>

/** Metadata and key sets have a few kilobytes. */
const maxBytes = 512 * 1024

/** Questions to an authorization server: bounded in time and size, and never redirected. */
export function createAskJson({ send, clock, timeoutMs }: AskJsonOptions): AskJson {
  return async ({ method, url, headers = {}, body }) => {
    const aborting = new AbortController()
    const late = new Error(`${safeUrl(url)} did not answer within ${timeoutMs} ms`)
    using _timer = clock.after(timeoutMs, () => aborting.abort(late))
    const answer = await send({
      method,
      url,
      headers: { accept: 'application/json', ...headers },
      ...(body !== undefined && { body }),
      signal: aborting.signal,
      repeatable: true,
    })
    if (answer.status >= 300 && answer.status < 400) {
      aborting.abort()
      throw new Error(`${safeUrl(url)} redirects, which is not followed here`)
    }
    const value = parse(await readText(answer.body, maxBytes))
    return { status: answer.status, value: value !== undefined && isJsonObject(value) ? value : undefined }
  }
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}
