import { dirname, resolve } from 'node:path'
import type { Node } from 'jsonc-parser'
import { type ZodType, z } from 'zod'
import { UsageError } from '../exit-error.ts'
import { suggest } from '../suggest.ts'
import { checkSchema } from './check-schema.ts'
import { type Environment, readConfigText, Source, type TellFault } from './source.ts'

/** How a server is reached. */
export type ServerTarget =
  | {
      readonly kind: 'command'
      readonly command: string
      readonly args: readonly string[]
      /** What is added to the environment of the process. */
      readonly env: Readonly<Record<string, string>>
      /** Absolute; a relative one in the file is below its folder. */
      readonly cwd: string | undefined
    }
  /** `sse` is the deprecated transport of two endpoints. */
  | { readonly kind: 'http' | 'sse'; readonly url: string; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: 'socket'; readonly path: string }

/** One server of a client's configuration. */
export interface ConfiguredServer<Own = undefined> {
  readonly name: string
  /** Missing where the entry is disabled or has faults. */
  readonly target: ServerTarget | undefined
  readonly disabled: boolean
  readonly timeoutMs: number | undefined
  readonly protocol: 'auto' | 'legacy' | 'modern' | undefined
  readonly enabledTools: readonly string[] | undefined
  readonly disabledTools: readonly string[] | undefined
  /** Its `atenea` object, where a schema of one was given. */
  readonly own: Own | undefined
  /** What makes it unusable, each with file, line and column. Others in the file are not touched by it. */
  readonly faults: readonly string[]
}

export interface ServersFile<Own = undefined, Top = undefined> {
  readonly servers: readonly ConfiguredServer<Own>[]
  /** The `atenea` object of the whole file, where a schema of one was given. */
  readonly own: Top | undefined
  /** Keys that were not understood, each with file, line and column. */
  readonly warnings: readonly string[]
}

export interface LoadServersOptions<Own, Top> {
  /** Path as the user gave it; it appears in messages. */
  readonly file: string
  readonly environment: Environment
  /** Of the `atenea` object of a server, where the caller has a use for one. Strict, so that an unknown key is a fault. */
  readonly serverSchema?: ZodType<Own>
  /** Of the `atenea` object of the file; likewise. */
  readonly topSchema?: ZodType<Top>
}

/** Where servers stand, and all of them count: Claude, Cursor and most others; `.vscode/mcp.json`; the settings of VS Code. */
const places: readonly (readonly string[])[] = [['mcpServers'], ['servers'], ['mcp', 'servers']]

const texts = z.array(z.string())
const record = z.record(z.string(), z.string())
const nonEmpty = z.string().min(1, 'must not be empty')

const entrySchema = z.looseObject({
  type: z.enum(['stdio', 'local', 'http', 'streamable-http', 'streamableHttp', 'sse']).optional(),
  command: nonEmpty.optional(),
  args: texts.optional(),
  env: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]).transform(String)).optional(),
  cwd: nonEmpty.optional(),
  url: nonEmpty.optional(),
  serverUrl: nonEmpty.optional(),
  httpUrl: nonEmpty.optional(),
  headers: record.optional(),
  disabled: z.boolean().optional(),
  enabled: z.boolean().optional(),
  timeout: z.number().positive().optional(),
  protocol: z.enum(['auto', 'legacy', 'modern']).optional(),
  enabledTools: texts.optional(),
  disabledTools: texts.optional(),
})
type Entry = z.infer<typeof entrySchema>

const entryKeys = [...Object.keys(entrySchema.shape), 'atenea']

/**
 * Reads the servers of a client's configuration, as it is: `mcpServers`, or `servers` as VS Code has it, with comments and
 * `${NAME}`, `${env:NAME}`, `${NAME:-default}` in strings. What is wrong with one server is told with that server, and what is
 * foreign is a warning. Throws a `UsageError` where the file as a whole cannot be used. The file is never written.
 */
export async function loadServers<Own = undefined, Top = undefined>(
  options: LoadServersOptions<Own, Top>,
): Promise<ServersFile<Own, Top>> {
  const { file, environment, topSchema } = options
  const source = new Source(file, readConfigText(file))
  const root = source.parse()
  const members = serverMembers(source, root, file)
  const foreign = new ForeignKeys(source, file)
  const servers = members.map((member) => readServer(member, source, foreign, options))
  const ownNode = memberOf(root, 'atenea')
  const own =
    ownNode === undefined || topSchema === undefined
      ? undefined
      : checkSchema(source.valueOf(ownNode, environment), topSchema, ownNode, source.fault)
  source.throwFaults()
  return { servers, own, warnings: foreign.warnings() }
}

/** The zod schema of such a file, for a JSON Schema to publish. Keys of other clients may stand in it. */
export function serversFileSchema<Own, Top>(
  options: Pick<LoadServersOptions<Own, Top>, 'serverSchema' | 'topSchema'>,
): ZodType {
  const { serverSchema, topSchema } = options
  const entry = serverSchema === undefined ? entrySchema : entrySchema.extend({ atenea: serverSchema.optional() })
  const servers = z.record(z.string(), entry).optional()
  return z.looseObject({
    mcpServers: servers,
    servers,
    ...(topSchema !== undefined && { atenea: topSchema.optional() }),
  })
}

/** The servers of all places together. */
function serverMembers(source: Source, root: Node, file: string): readonly Member[] {
  const holders = places.flatMap((place) => {
    const node = place.reduce<Node | undefined>((above, key) => above && memberOf(above, key), root)
    if (node === undefined) return []
    if (node.type !== 'object') {
      source.fault(node, `${place.join('.')} must be an object that holds a server under each name`)
    }
    return [node]
  })
  if (holders.length === 0) {
    const meant = membersOf(root).find(({ name }) => suggest(name, ['mcpServers', 'servers']) !== undefined)
    const hint = meant === undefined ? '' : ` (it has ${JSON.stringify(meant.name)})`
    throw new UsageError(`${file} names no servers: it has neither "mcpServers" nor "servers"${hint}`)
  }
  const members = holders.flatMap(membersOf)
  const seen = new Set<string>()
  for (const { name, keyNode } of members) {
    if (seen.has(name)) source.fault(keyNode, `the server ${JSON.stringify(name)} is there twice`)
    if (name === '' || name === '__proto__') source.fault(keyNode, `${JSON.stringify(name)} can be no name of a server`)
    seen.add(name)
  }
  source.throwFaults()
  return members
}

function readServer<Own, Top>(
  { name, node }: Member,
  source: Source,
  foreign: ForeignKeys,
  { file, environment, serverSchema }: LoadServersOptions<Own, Top>,
): ConfiguredServer<Own> {
  const faults: string[] = []
  const tell: TellFault = (place, message) => {
    faults.push(source.at(place, message))
  }
  const isOff = memberOf(node, 'disabled')?.value === true || memberOf(node, 'enabled')?.value === false
  // What is switched off may name variables that are not set, or be half written.
  const entry = isOff ? undefined : checkSchema(knownValue(source, node, environment, tell), entrySchema, node, tell)
  const ownNode = isOff || serverSchema === undefined ? undefined : memberOf(node, 'atenea')
  const own =
    ownNode === undefined || serverSchema === undefined
      ? undefined
      : checkSchema(source.valueOf(ownNode, environment, tell), serverSchema, ownNode, tell)
  if (!isOff) foreign.see(name, node)
  const timeoutMs = timeoutOf(entry?.timeout)
  if (timeoutMs !== entry?.timeout) foreign.readAsSeconds(name, node)
  const folder = dirname(resolve(file))
  const target = entry === undefined ? undefined : targetOf(name, entry, folder, (message) => tell(node, message))
  return {
    name,
    target: faults.length === 0 ? target : undefined,
    disabled: isOff,
    timeoutMs,
    protocol: entry?.protocol,
    enabledTools: entry?.enabledTools,
    disabledTools: entry?.disabledTools,
    own,
    faults,
  }
}

/** Most clients mean milliseconds; some mean seconds, and no call is meant to end within less than one. */
function timeoutOf(timeout: number | undefined): number | undefined {
  return timeout === undefined || timeout >= 1_000 ? timeout : timeout * 1_000
}

/** The members that are read here. What is foreign is not looked into. */
function knownValue(source: Source, node: Node, environment: Environment, tell: TellFault): unknown {
  if (node.type !== 'object') return source.valueOf(node, environment, tell)
  const known = (node.children ?? []).filter(({ children: [key] = [] }) =>
    Object.hasOwn(entrySchema.shape, `${key?.value}`),
  )
  for (const question of known.flatMap(questionsOf)) {
    tell(question, `only the editor can ask for \${input:…}; write \${NAME} and set that variable`)
  }
  return source.valueOf({ ...node, children: known }, environment, tell)
}

/** Keys of other clients, of which real files are full. */
class ForeignKeys {
  readonly #source: Source
  readonly #file: string
  readonly #near: string[] = []
  readonly #others = new Set<string>()

  constructor(source: Source, file: string) {
    this.#source = source
    this.#file = file
  }

  see(server: string, node: Node): void {
    for (const { name, keyNode } of membersOf(node)) {
      if (entryKeys.includes(name)) continue
      const meant = suggest(name, entryKeys)
      if (meant === undefined) this.#others.add(name)
      else {
        const text = `${server}: the key ${JSON.stringify(name)} is not understood; did you mean ${JSON.stringify(meant)}?`
        this.#near.push(this.#source.at(keyNode, text))
      }
    }
  }

  readAsSeconds(server: string, node: Node): void {
    const member = membersOf(node).find(({ name }) => name === 'timeout')
    if (member === undefined) return
    const text = `${server}: "timeout" is read as seconds, as some clients write it; write milliseconds, 1000 or more, to be clear`
    this.#near.push(this.#source.at(member.keyNode, text))
  }

  /** One for each key that was probably meant otherwise, and one for all the rest. */
  warnings(): readonly string[] {
    if (this.#others.size === 0) return this.#near
    const names = [...this.#others].map((name) => JSON.stringify(name)).join(', ')
    return [...this.#near, `${this.#file}: keys that say nothing here: ${names}`]
  }
}

function targetOf(
  name: string,
  entry: Entry,
  folder: string,
  tell: (message: string) => void,
): ServerTarget | undefined {
  const { type, command, headers = {} } = entry
  const url = entry.url ?? entry.serverUrl ?? entry.httpUrl
  if (command !== undefined && url !== undefined) {
    tell(`${name}: it has both a command and a URL; take one of them out`)
    return undefined
  }
  if (command !== undefined) {
    const words = [command, ...(entry.args ?? []), entry.cwd ?? '', ...Object.entries(entry.env ?? {}).flat()]
    if (words.some((word) => word.includes('\0'))) {
      tell(`${name}: no command, argument or variable can hold the character U+0000`)
      return undefined
    }
    return {
      kind: 'command',
      command,
      args: entry.args ?? [],
      env: entry.env ?? {},
      cwd: entry.cwd === undefined ? undefined : resolve(folder, entry.cwd),
    }
  }
  if (url === undefined) {
    tell(`${name}: it needs a "command" to start or a "url" to ask`)
    return undefined
  }
  if (url.startsWith('unix:')) return { kind: 'socket', path: url.slice('unix:'.length) }
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    tell(`${name}: ${JSON.stringify(url)} is no URL that begins with http://, https:// or unix:`)
    return undefined
  }
  const [badName, badValue] = [
    Object.keys(headers).find(isNoHeaderName),
    Object.entries(headers).find(hasNoHeaderValue),
  ]
  if (badName !== undefined) {
    tell(`${name}: ${JSON.stringify(badName)} can be no name of a header`)
    return undefined
  }
  if (badValue !== undefined) {
    // The value may be a secret.
    tell(
      `${name}: the value of the header ${JSON.stringify(badValue[0])} holds a line end or another character that HTTP does not take; look at the variables in it`,
    )
    return undefined
  }
  return { kind: type === 'sse' ? 'sse' : 'http', url, headers }
}

function isNoHeaderName(name: string): boolean {
  return !/^[!#$%&'*+.^_`|~\w-]+$/.test(name)
}

function hasNoHeaderValue([, value]: readonly [string, string]): boolean {
  return !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)
}

interface Member {
  readonly name: string
  readonly keyNode: Node
  readonly node: Node
}

function membersOf(object: Node): Member[] {
  if (object.type !== 'object') return []
  return (object.children ?? []).flatMap(({ children: [keyNode, node] = [] }) =>
    keyNode === undefined || node === undefined ? [] : [{ name: String(keyNode.value), keyNode, node }],
  )
}

function memberOf(object: Node, name: string): Node | undefined {
  return membersOf(object).find((member) => member.name === name)?.node
}

/** Strings in which an editor would put what it asks its user for. */
function questionsOf(node: Node): Node[] {
  if (node.type === 'string') return /\$\{input:/.test(String(node.value)) ? [node] : []
  return (node.children ?? []).flatMap(questionsOf)
}
