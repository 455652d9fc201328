import type { JsonObject, JsonValue } from '@atenea/mcpcompat'
import { isJsonObject, JsonText } from '@atenea/mcpcompat'
import { elementTexts } from './array-elements.ts'

/** One case: an input of some kind and what the protocol code must make of it. */
export interface Vector {
  readonly id: string
  readonly kind: string
  readonly input: JsonObject
  readonly expect: JsonObject
  /** The input as it stands in the file, where the order of keys and the digits of numbers count. */
  readonly source: JsonText
  /** Requirements that the case shows. */
  readonly requirements: readonly string[]
  readonly note: string
}

/** A server that `http_validate` and `era_select_stdio` cases name. */
export interface ServerFixture {
  readonly modernVersions: readonly string[]
  readonly legacyVersions: readonly string[]
  readonly allowedOrigins: readonly string[]
  /** Negotiated revision by session id. */
  readonly legacySessions: JsonObject
  readonly sessionRequired: boolean
  readonly methods: readonly string[]
  /** Input schema by tool name. */
  readonly tools: JsonObject
}

/** A file of vectors. */
export interface VectorFile {
  readonly vectors: readonly Vector[]
  readonly servers: ReadonlyMap<string, ServerFixture>
}

/** The file is not of the format. The message says where. */
export class VectorFileError extends Error {
  override readonly name: string = 'VectorFileError'
}

/** Reads the text of a vector file. Throws a `VectorFileError`. */
export function parseVectorFile(text: string): VectorFile {
  let file: JsonValue
  try {
    file = JSON.parse(text) as JsonValue
  } catch (error) {
    throw new VectorFileError(`not JSON: ${(error as Error).message}`, { cause: error })
  }
  if (!isJsonObject(file)) throw new VectorFileError('the file is not a JSON object')
  if (file['format'] !== 1) throw new VectorFileError(`format is ${JSON.stringify(file['format'])}, not 1`)
  const vectors = file['vectors']
  if (!Array.isArray(vectors)) throw new VectorFileError('vectors is not an array')
  const sources = elementTexts(new JsonText(text).member('vectors')?.text ?? '[]')
  const fixtures = isJsonObject(file['fixtures']) ? file['fixtures'] : {}
  return {
    vectors: (vectors as readonly JsonValue[]).map((vector, index) => parseVector(vector, index, sources[index] ?? '')),
    servers: parseServers(isJsonObject(fixtures['servers']) ? fixtures['servers'] : {}),
  }
}

function parseVector(value: JsonValue, index: number, text: string): Vector {
  const where = `vectors[${index}]`
  if (!isJsonObject(value)) throw new VectorFileError(`${where} is not an object`)
  const { id, kind, input, expect, requirements, note } = value
  if (typeof id !== 'string') throw new VectorFileError(`${where}.id is not a string`)
  if (typeof kind !== 'string') throw new VectorFileError(`${where} (${id}).kind is not a string`)
  if (!isJsonObject(input)) throw new VectorFileError(`${where} (${id}).input is not an object`)
  if (!isJsonObject(expect)) throw new VectorFileError(`${where} (${id}).expect is not an object`)
  return {
    id,
    kind,
    input,
    expect,
    source: new JsonText(text).member('input') ?? new JsonText('{}'),
    requirements: strings(requirements),
    note: typeof note === 'string' ? note : '',
  }
}

function parseServers(servers: JsonObject): ReadonlyMap<string, ServerFixture> {
  return new Map(Object.keys(servers).map((name) => [name, parseServer(name, servers)]))
}

function parseServer(name: string, servers: JsonObject): ServerFixture {
  const merged = inherit(name, servers, new Set())
  return {
    modernVersions: strings(merged['modernVersions']),
    legacyVersions: strings(merged['legacyVersions']),
    allowedOrigins: strings(merged['allowedOrigins']),
    legacySessions: isJsonObject(merged['legacySessions']) ? merged['legacySessions'] : {},
    sessionRequired: merged['sessionRequired'] === true,
    methods: strings(merged['methods']),
    tools: isJsonObject(merged['tools']) ? merged['tools'] : {},
  }
}

/** A server with the members of the one that it extends, its own ones on top. */
function inherit(name: string, servers: JsonObject, seen: Set<string>): JsonObject {
  const server = Object.hasOwn(servers, name) ? servers[name] : undefined
  if (!isJsonObject(server)) throw new VectorFileError(`fixtures.servers has no server ${JSON.stringify(name)}`)
  if (seen.has(name)) throw new VectorFileError(`fixtures.servers: ${JSON.stringify(name)} extends itself`)
  seen.add(name)
  const base = server['extends']
  return typeof base === 'string' ? { ...inherit(base, servers, seen), ...server } : server
}

/** The strings of an array; empty for anything else. */
export function strings(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value)
    ? (value as readonly JsonValue[]).filter((entry): entry is string => typeof entry === 'string')
    : []
}
