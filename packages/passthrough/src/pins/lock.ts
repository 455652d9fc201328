import { canonicalize, isJsonObject, type JsonObject, JsonText, type JsonValue } from '@atenea/mcpcompat'
import { sha256 } from '../sha256.ts'

/** Tools as somebody has looked at them and found them good: what `mcp.lock` holds. */
export interface McpLock {
  /** Pins by the name of the backend. */
  readonly backends: ReadonlyMap<string, BackendPins>
}

export interface BackendPins {
  /** Pins by the backend's own name of the tool. */
  readonly tools: ReadonlyMap<string, string>
}

/** What a lock says about a tool. */
export type PinVerdict = 'pinned' | 'changed' | 'unpinned'

const version = 1
const pinForm = /^sha256-[0-9a-f]{64}$/

/**
 * The pin of a definition: the SHA-256 of its canonical JSON, every member included. The order of members and white space make no
 * difference; anything that a model could read does.
 */
export function pinOf(definition: JsonText): string {
  return `sha256-${sha256(canonicalize(definition.value))}`
}

/** Judges a definition by the pins of its backend. What is not in the lock was never looked at. */
export function judgePin(pins: BackendPins | undefined, own: string, definition: JsonText): PinVerdict {
  const pin = pins?.tools.get(own)
  if (pin === undefined) return 'unpinned'
  return pin === pinOf(definition) ? 'pinned' : 'changed'
}

/** The lock with the pins of one backend replaced by those of what it offers now. Those of others stay. */
export function withPins(lock: McpLock, backend: string, tools: Iterable<readonly [string, JsonText]>): McpLock {
  const pins = new Map([...tools].map(([own, definition]) => [own, pinOf(definition)]))
  return { backends: new Map([...lock.backends, [backend, { tools: pins }]]) }
}

export const emptyLock: McpLock = { backends: new Map() }

/** The text of the file: sorted, so that a difference shows what changed. */
export function formatLock(lock: McpLock): string {
  const backends = sorted(lock.backends).map(([name, { tools }]) => [
    name,
    { tools: Object.fromEntries(sorted(tools)) },
  ])
  return `${JSON.stringify({ version, backends: Object.fromEntries(backends) as JsonObject }, undefined, 2)}\n`
}

/** Reads the text of the file. A `TypeError` that says what is wrong: a lock that cannot be read must not be taken for an empty one. */
export function parseLock(text: string): McpLock {
  const value = parseJson(text)
  if (!isJsonObject(value)) throw new TypeError('the lock is not a JSON object')
  if (value['version'] !== version) {
    throw new TypeError(
      `the lock has version ${JSON.stringify(value['version'])}; this program reads version ${version}`,
    )
  }
  const backends = objectAt(value['backends'], 'backends')
  return {
    backends: new Map(
      Object.entries(backends).map(([name, backend]) => {
        const where = `backends[${JSON.stringify(name)}]`
        const tools = objectAt(objectAt(backend, where)['tools'], `${where}.tools`)
        return [name, { tools: new Map(Object.entries(tools).map(([own, pin]) => [own, checkedPin(pin, where, own)])) }]
      }),
    ),
  }
}

function parseJson(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue
  } catch (error) {
    throw new TypeError('the lock is not JSON', { cause: error })
  }
}

function objectAt(value: JsonValue | undefined, where: string): JsonObject {
  if (!isJsonObject(value)) throw new TypeError(`${where} of the lock is not an object`)
  return value
}

function checkedPin(pin: JsonValue | undefined, where: string, own: string): string {
  if (typeof pin === 'string' && pinForm.test(pin)) return pin
  throw new TypeError(
    `${where}.tools[${JSON.stringify(own)}] of the lock is no pin ("sha256-" and 64 hexadecimal digits)`,
  )
}

function sorted<Value>(map: ReadonlyMap<string, Value>): [string, Value][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1))
}
