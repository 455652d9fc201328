import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import {
  createRevisionPolicy,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  legacyRevision,
  modernRevision,
} from '@atenea/mcpcompat'
import {
  createMemoryPair,
  encodeMessage,
  parseMessage,
  type RpcMessage,
  serveConnection,
} from '@atenea/mcpcompat/transport'
import { describe, expect, test } from 'vitest'
import { createServedCore } from '../src/served-core.ts'
import { WireInspector } from '../src/wire-inspector.ts'

/**
 * One line of a transcript: what the client sends (`C`), what the server must send (`S`), the end of the server, or a word to the
 * reader. A text `<name>` stands for what the server sent there, and goes back where the client says it.
 */
type Line =
  | { readonly C: JsonObject }
  | { readonly S: JsonObject }
  | { readonly end: true }
  | { readonly about: string }

const folder = new URL('transcripts/', import.meta.url)
const revisionOf: Readonly<Record<string, string>> = { modern: modernRevision, legacy: legacyRevision }
/** `UPDATE_TRANSCRIPTS=1` writes what the server sends now; read the difference before you keep it. */
const isUpdating = process.env['UPDATE_TRANSCRIPTS'] === '1'

/** Plays the client's lines and gives the whole conversation, each answer after the lines that led to it. */
async function play(lines: readonly Line[], inspector: WireInspector): Promise<Line[]> {
  const [client, server] = createMemoryPair()
  const names = new Map<string, string>()
  const played: Line[] = []
  const heard: JsonObject[] = []
  const shutdown = new AbortController()
  const served = serveConnection(server, createServedCore(), {
    policy: createRevisionPolicy(),
    signal: shutdown.signal,
  })
  const reading = (async () => {
    for await (const batch of client.inbound) {
      for (const { message } of batch) heard.push(JSON.parse(encodeMessage(message as RpcMessage)) as JsonObject)
    }
  })()
  const collect = async (): Promise<void> => {
    for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setTimeout(resolve, 2))
    for (const message of heard.splice(0)) {
      inspector.look('server', message)
      played.push({ S: name(message, names) })
    }
  }
  for (const line of lines) {
    if ('S' in line) continue
    played.push(line)
    if ('C' in line) {
      const message = fill(line.C, names)
      inspector.look('client', message)
      void client.send(parseMessage(JSON.stringify(message), 'parsed') as RpcMessage)
      await collect()
    } else if ('end' in line) {
      shutdown.abort()
      await served
      await reading
      await collect()
    }
  }
  return played
}

/** Random parts of what the server sends get names. */
function name(message: JsonObject, names: Map<string, string>): JsonObject {
  const { result } = message
  if (!isJsonObject(result) || typeof result['requestState'] !== 'string') return message
  names.set('<state>', result['requestState'])
  return { ...message, result: { ...result, requestState: '<state>' } }
}

function fill<T extends JsonValue | undefined>(value: T, names: ReadonlyMap<string, string>): T {
  if (typeof value === 'string') return (names.get(value) ?? value) as T
  if (Array.isArray(value)) return value.map((entry: JsonValue) => fill(entry, names)) as unknown as T
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, fill(entry, names)])) as unknown as T
}

describe.each(readdirSync(folder))('%s', (file) => {
  const path = new URL(file, folder)
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line)

  test('the server says exactly this, and the specification has nothing against it', async () => {
    const inspector = new WireInspector(revisionOf[file.replace(/\.jsonl$/, '')] ?? '')
    const played = await play(lines, inspector)
    if (isUpdating) writeFileSync(path, played.map((line) => `${JSON.stringify(line)}\n`).join(''))
    expect(played).toEqual(isUpdating ? played : lines)
    expect(inspector.faults.server).toEqual([])
  })
})
