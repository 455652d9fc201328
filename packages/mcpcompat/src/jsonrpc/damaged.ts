import type { RpcId } from './message.ts'

const version = String.raw`"jsonrpc"\s*:\s*"2\.0"`
const id = String.raw`"id"\s*:\s*(-?\d{1,16}|"[^"\\]{0,200}")`
const payload = String.raw`"(?:result|error)"\s*:`
const idFirst = new RegExp(String.raw`^\s*\{\s*(?:${version}\s*,\s*)?${id}\s*,\s*(?:${version}\s*,\s*)?${payload}`)
const payloadFirst = new RegExp(String.raw`^\s*\{\s*(?:${version}\s*,\s*)?${payload}`)
const idLast = new RegExp(String.raw`,\s*(?:${version}\s*,\s*)?${id}\s*(?:,\s*${version}\s*)?\}\s*$`)

/** Characters at each end of a message that are enough to tell what it answers. */
export const edgeLength = 512

/**
 * Which request a text was to answer that cannot be read as a whole, because it is no JSON (Python writes NaN), no UTF-8 or too long: told
 * from its two ends, as far as they leave no doubt. Whoever waits for that answer will get no other.
 */
export function answeredId(head: string, tail: string): RpcId | undefined {
  const [, text] = idFirst.exec(head) ?? (payloadFirst.test(head) ? idLast.exec(tail) : undefined) ?? []
  if (text === undefined) return undefined
  const value: unknown = text.startsWith('"') ? text.slice(1, -1) : Number(text)
  return typeof value === 'string' || Number.isSafeInteger(value) ? (value as RpcId) : undefined
}

/** Like `answeredId`, of a text that is there as a whole. */
export function answeredIdOf(text: string): RpcId | undefined {
  return answeredId(text.slice(0, edgeLength), text.slice(-edgeLength))
}
