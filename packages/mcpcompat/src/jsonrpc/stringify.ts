import type { JsonValue } from './json.ts'

/**
 * `JSON.stringify` without its two traps: it works for values of any depth, and its output holds no escape of a lone
 * surrogate, which strict parsers refuse. A `TypeError` for a cycle, a bigint, or a value that has no JSON text.
 */
export function stringify(value: unknown): string {
  // Whether a text is well formed is known before it is written, mostly without looking at it.
  if (typeof value === 'string') return JSON.stringify(value.isWellFormed() ? value : value.toWellFormed())
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (error) {
    // The engine recurses and gives up between one and ten thousand levels, depending on how much stack is left.
    if (!(error instanceof RangeError)) throw error
    text = stringifyDeep(value)
  }
  if (text === undefined) throw new TypeError('value cannot be written as JSON')
  return text.includes('\\ud') ? replaceLoneSurrogates(text) : text
}

/** The same text for the same value whatever the order of members: keys sorted by UTF-16 code units, no white space. */
export function canonicalize(value: JsonValue): string {
  return stringifyDeep(value, sortedKeys) ?? 'null'
}

/** `JSON.stringify` writes `\ud…` only for a surrogate that has lost its partner. */
function replaceLoneSurrogates(text: string): string {
  return text.replace(/\\(?:u(d[0-9a-f]{3})|[^])/g, (escape, surrogate: string | undefined) =>
    surrogate === undefined ? escape : '\ufffd',
  )
}

interface Frame {
  readonly container: object
  /** The names of an object's members in the order of writing; `undefined` for an array. */
  readonly keys: readonly string[] | undefined
  /** Index of the next element or name. */
  next: number
  /** Whether the next one needs a comma. */
  written: boolean
}

/** Like `JSON.stringify(value)` with an explicit stack in place of recursion. */
function stringifyDeep(root: unknown, keysOf: (object: object) => readonly string[] = Object.keys): string | undefined {
  const first = prepare(root, '')
  if (typeof first !== 'object' || first === null) return JSON.stringify(first)
  const parts: string[] = []
  const frames: Frame[] = []
  const open = new Set<object>()
  const enter = (container: object): void => {
    if (open.has(container)) throw new TypeError('value holds a cycle and cannot be written as JSON')
    open.add(container)
    const isArray = Array.isArray(container)
    parts.push(isArray ? '[' : '{')
    frames.push({ container, keys: isArray ? undefined : keysOf(container), next: 0, written: false })
  }
  enter(first)
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    const { container, keys } = frame
    const index = frame.next++
    if (index >= (keys === undefined ? (container as readonly unknown[]).length : keys.length)) {
      parts.push(keys === undefined ? ']' : '}')
      open.delete(container)
      frames.pop()
      continue
    }
    const key = keys === undefined ? String(index) : (keys[index] as string)
    const value = prepare((container as Record<string, unknown>)[key], key)
    const isContainer = typeof value === 'object' && value !== null
    const text = isContainer ? undefined : JSON.stringify(value)
    if (!isContainer && text === undefined && keys !== undefined) continue // JSON.stringify leaves such members out as well
    if (frame.written) parts.push(',')
    frame.written = true
    if (keys !== undefined) parts.push(JSON.stringify(key), ':')
    if (isContainer) enter(value)
    else parts.push(text ?? 'null')
  }
  return parts.join('')
}

/** What `JSON.stringify` writes in place of a value: the answer of its `toJSON`, and the primitive of a boxed one. */
function prepare(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null) return value
  const { toJSON } = value as { toJSON?: unknown }
  const answer: unknown = typeof toJSON === 'function' ? (toJSON as (key: string) => unknown).call(value, key) : value
  return answer instanceof Number || answer instanceof String || answer instanceof Boolean ? answer.valueOf() : answer
}

function sortedKeys(object: object): readonly string[] {
  return Object.keys(object).sort()
}
