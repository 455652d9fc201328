import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isJsonObject, type JsonObject } from '@atenea/mcpcompat'
import { askAt, type HttpAnswer } from '../_util/http-carriers.ts'
import { askModern, type AskOptions, type LegacySession, openSession } from '../_util/http-client.ts'
import { Running } from '../_util/running.ts'

/** The built proxy with HTTP in front, as raw clients of both eras ask it. Disposing it ends it. */
export class Front implements AsyncDisposable {
  readonly proxy: Running
  /** Where it keeps what it remembers; gone with it. */
  readonly folder: string

  constructor(...args: readonly string[]) {
    this.folder = mkdtempSync(join(tmpdir(), 'proxy-reports-'))
    this.proxy = new Running({ app: 'proxy', folder: this.folder, args })
  }

  /** Asks as a modern client. */
  async ask(method: string, params: JsonObject = {}, options: AskOptions = {}): Promise<HttpAnswer> {
    return await askModern({ ask: askAt(await this.proxy.url()) }, method, params, options)
  }

  /** The one message of the answer to a modern client. */
  async answer(method: string, params: JsonObject = {}, options: AskOptions = {}): Promise<JsonObject> {
    return await lastMessage(await this.ask(method, params, options))
  }

  /** A legacy client with a session of its own. */
  async session(): Promise<LegacySession> {
    return await openSession({ ask: askAt(await this.proxy.url()) })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.proxy[Symbol.asyncDispose]()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** The answer itself, whether it came as JSON or at the end of a stream. */
export async function lastMessage(answer: HttpAnswer): Promise<JsonObject> {
  return messagesIn(await answer.text()).at(-1) ?? {}
}

/** All messages in the text of an answer. */
export function messagesIn(text: string): readonly JsonObject[] {
  return text
    .split('\n')
    .map((line) => line.replace(/^data: ?/, ''))
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as JsonObject)
}

/** The message of an error. Throws when there is none. */
export function failureOf(message: JsonObject): { readonly code: number; readonly message: string } {
  const { error } = message
  if (!isJsonObject(error)) throw new Error(`no error: ${JSON.stringify(message)}`)
  return error as unknown as { code: number; message: string }
}
