import { isJsonObject, type JsonObject, type JsonText, type JsonValue } from '@atenea/mcpcompat'
import { type ServerFixture, type VectorFile, VectorFileError } from './vector-file.ts'

/** How the cases of one kind are run: a change of shape around the shipped code, never a rule of the protocol. */
export interface Kind {
  /** What the shipped code makes of the input, in the members that `expect` uses. `source` is the same input as its text. */
  run(input: JsonObject, file: VectorFile, source: JsonText): JsonObject
  /** Members that are compared only where a case gives them. */
  readonly optional?: readonly string[]
  /** Changes an expectation whose form allows several answers into the one that came, if it is among them. */
  readonly accept?: Accept
}

/** The expectation to compare with. */
export type Accept = (expect: JsonObject, actual: JsonObject) => JsonObject

/** A member that must be a string. */
export function text(input: JsonObject, key: string): string {
  const value = input[key]
  if (typeof value !== 'string') throw new VectorFileError(`input.${key} is not a string`)
  return value
}

/** A member that is an object, or an empty one when it is absent or null, which stands for absent. */
export function object(input: JsonObject, key: string): JsonObject {
  const value = input[key]
  return isJsonObject(value) ? value : {}
}

/** A member that is there, null included. */
export function given(input: JsonObject, key: string): JsonValue {
  const value = input[key]
  if (value === undefined) throw new VectorFileError(`input.${key} is missing`)
  return value
}

/** The text of a member that is there, as it stands in the file. */
export function givenText(source: JsonText, key: string): JsonText {
  const value = source.member(key)
  if (value === undefined) throw new VectorFileError(`input.${key} is missing`)
  return value
}

/** The server that a case names. */
export function serverOf(input: JsonObject, file: VectorFile): ServerFixture {
  const server = file.servers.get(text(input, 'server'))
  if (server === undefined)
    throw new VectorFileError(`input.server ${JSON.stringify(input['server'])} is not in fixtures.servers`)
  return server
}

/** The members that have a value. */
export function present(members: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}

/** A JSON-RPC id. */
export function idOf(input: JsonObject, key: string): string | number {
  const value = input[key]
  if (typeof value !== 'string' && typeof value !== 'number') throw new VectorFileError(`input.${key} is not an id`)
  return value
}

/** Header fields as a carrier hands them on: names in lower case, a field that was sent twice joined by commas. */
export function headersOf(input: JsonObject): Readonly<Record<string, string>> {
  const fields = new Map<string, string>()
  for (const [name, value] of Object.entries(object(input, 'headers'))) {
    const key = name.toLowerCase()
    const values = (Array.isArray(value) ? (value as readonly JsonValue[]) : [value]).filter(
      (part) => typeof part === 'string',
    )
    fields.set(key, [...(fields.has(key) ? [fields.get(key)] : []), ...values].join(', '))
  }
  return Object.fromEntries(fields)
}
