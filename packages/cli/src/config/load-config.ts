import {
  createScanner,
  getNodePath,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
  type SyntaxKind,
} from 'jsonc-parser'
import { toJSONSchema, type ZodType } from 'zod'
import { UsageError } from '../exit-error.ts'
import { suggest } from '../suggest.ts'
import { expandVariables } from './expand.ts'
import { keysAt } from './known-keys.ts'
import { positionAt } from './position.ts'

export interface LoadConfigOptions<T> {
  /** Path as the user gave it; it appears in messages. */
  readonly file: string
  /** Objects in it should be strict, so that an unknown key is a fault. */
  readonly schema: ZodType<T>
  /** Where `${NAME}` in strings is looked up. */
  readonly environment: Readonly<Record<string, string | undefined>>
}

const maxBytes = 1024 * 1024
const maxDepth = 100

/** What the scanner calls its tokens; its own enumeration exists for compilers of TypeScript only. */
const token = { openBrace: 1, closeBrace: 2, openBracket: 3, closeBracket: 4, end: 17 } as const satisfies Record<
  string,
  SyntaxKind
>

/**
 * Reads a configuration file: JSON with comments and trailing commas, `${NAME}` and `${NAME:-default}` in strings. Throws a
 * `UsageError` that lists every fault with its line and column. The file is never written.
 */
export async function loadConfig<T>({ file, schema, environment }: LoadConfigOptions<T>): Promise<T> {
  const text = await readText(file)
  const source = new Source(file, text)
  const root = source.parse()
  const value = source.valueOf(root, environment)
  source.throwFaults()
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const shape = toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  for (const issue of result.error.issues) {
    const path = issue.path.map((step) => (typeof step === 'number' ? step : String(step)))
    if (issue.code !== 'unrecognized_keys') {
      source.fault(nodeAt(root, path), `${path.length === 0 ? '' : `${path.join('.')}: `}${issue.message}`)
      continue
    }
    for (const key of issue.keys) {
      const meant = suggest(key, keysAt(shape, path))
      const hint = meant === undefined ? '' : `; did you mean ${JSON.stringify(meant)}?`
      source.fault(keyNode(nodeAt(root, path), key), `unknown key ${JSON.stringify(key)}${hint}`)
    }
  }
  source.throwFaults()
  throw new Error('the schema refused the file without saying why')
}

async function readText(file: string): Promise<string> {
  const { isUtf8 } = process.getBuiltinModule('node:buffer')
  const { readFile, stat } = process.getBuiltinModule('node:fs/promises')
  try {
    const { size } = await stat(file)
    if (size > maxBytes) throw new UsageError(`${file} has ${size} bytes; a configuration has at most ${maxBytes}`)
    const bytes = await readFile(file)
    if (!isUtf8(bytes)) throw new UsageError(`${file} is not UTF-8; save it in that encoding`)
    return bytes.toString('utf8').replace(/^\ufeff/, '')
  } catch (error) {
    if (error instanceof UsageError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new UsageError(`cannot read the configuration ${file}: ${reason}`, { cause: error })
  }
}

/** The text of one file and what is wrong with it. */
class Source {
  readonly #file: string
  readonly #text: string
  readonly #faults: string[] = []

  constructor(file: string, text: string) {
    this.#file = file
    this.#text = text
  }

  parse(): Node {
    if (this.#text.trim() === '') {
      throw new UsageError(`${this.#file} is empty; write {} for a configuration without settings`)
    }
    this.#refuseDepth()
    const errors: ParseError[] = []
    const root = parseTree(this.#text, errors, { allowTrailingComma: true })
    for (const { error, offset } of errors.slice(0, 1)) {
      this.fault({ offset }, `this is not JSON: ${spaced(printParseErrorCode(error))}`)
    }
    this.throwFaults()
    if (root === undefined)
      throw new UsageError(`${this.#file} is empty; write {} for a configuration without settings`)
    return root
  }

  /** What reads the tree calls itself for each level, and a configuration has a handful of them. */
  #refuseDepth(): void {
    const scanner = createScanner(this.#text, true)
    let depth = 0
    for (let kind: number = scanner.scan(); kind !== token.end; kind = scanner.scan()) {
      if (kind === token.closeBrace || kind === token.closeBracket) depth--
      if (kind !== token.openBrace && kind !== token.openBracket) continue
      depth++
      if (depth <= maxDepth) continue
      this.fault({ offset: scanner.getTokenOffset() }, `nested deeper than ${maxDepth} levels`)
      this.throwFaults()
    }
  }

  valueOf(node: Node, environment: Readonly<Record<string, string | undefined>>): unknown {
    if (node.type === 'array') return (node.children ?? []).map((child) => this.valueOf(child, environment))
    if (node.type === 'object') {
      const members = (node.children ?? []).flatMap(({ children: [key, value] = [] }) =>
        key === undefined || value === undefined ? [] : [{ key, name: String(key.value), value }],
      )
      const seen = new Set<string>()
      for (const { key, name } of members) {
        if (seen.has(name)) this.fault(key, `the key ${JSON.stringify(name)} is there twice`)
        else if (name === '__proto__') this.fault(key, 'unknown key "__proto__"')
        seen.add(name)
      }
      return Object.fromEntries(members.map(({ name, value }) => [name, this.valueOf(value, environment)]))
    }
    if (node.type !== 'string') return node.value as unknown
    const expanded = expandVariables(String(node.value), environment)
    if (typeof expanded === 'string') return expanded
    const path = getNodePath(node).join('.')
    const { variable } = expanded
    this.fault(node, `${path}: the variable ${variable} is not set; set it, or write \${${variable}:-default}`)
    return ''
  }

  fault({ offset }: { readonly offset: number }, message: string): void {
    const { line, column } = positionAt(this.#text, offset)
    this.#faults.push(`${this.#file}:${line}:${column}: ${message}`)
  }

  throwFaults(): void {
    if (this.#faults.length > 0) throw new UsageError(this.#faults.join('\n'))
  }
}

/** The node at a path, or the nearest one above it. */
function nodeAt(root: Node, path: readonly (string | number)[]): Node {
  let node = root
  for (const step of path) {
    const below =
      typeof step === 'number'
        ? node.children?.[step]
        : node.children?.find(({ children }) => children?.[0]?.value === step)?.children?.[1]
    if (below === undefined) return node
    node = below
  }
  return node
}

function keyNode(object: Node, key: string): Node {
  return object.children?.find(({ children }) => children?.[0]?.value === key)?.children?.[0] ?? object
}

/** `InvalidSymbol` as words. */
function spaced(name: string): string {
  return name.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()
}
