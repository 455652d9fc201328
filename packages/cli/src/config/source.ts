import {
  createScanner,
  getNodePath,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
  type SyntaxKind,
} from 'jsonc-parser'
import { UsageError } from '../exit-error.ts'
import { readWhole } from '../read-whole.ts'
import { expandVariables } from './expand.ts'
import { positionAt } from './position.ts'

/** Where a fault is: an offset in the text. */
export interface Place {
  readonly offset: number
}
export type TellFault = (place: Place, message: string) => void
/** Where `${NAME}` in strings is looked up. */
export type Environment = Readonly<Record<string, string | undefined>>

const maxBytes = 1024 * 1024
const maxDepth = 100

/** What the scanner calls its tokens; its own enumeration exists for compilers of TypeScript only. */
const token = { openBrace: 1, closeBrace: 2, openBracket: 3, closeBracket: 4, end: 17 } as const satisfies Record<
  string,
  SyntaxKind
>

/** The text of a configuration file. Throws a `UsageError` where it cannot be one. */
export function readConfigText(file: string): string {
  const { isUtf8 } = process.getBuiltinModule('node:buffer')
  try {
    const bytes = readWhole(file, maxBytes)
    if (!isUtf8(bytes)) throw new UsageError(`${file} is not UTF-8; save it in that encoding`)
    return bytes.toString('utf8').replace(/^\ufeff/, '')
  } catch (error) {
    if (error instanceof UsageError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new UsageError(`cannot read the configuration ${file}: ${reason}`, { cause: error })
  }
}

/** The text of one file and what is wrong with it. */
export class Source {
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

  /** What a node holds, with its variables put in. What is wrong goes to `tell`, or to the faults of the file. */
  valueOf(node: Node, environment: Environment, tell: TellFault = this.fault): unknown {
    if (node.type === 'array') return (node.children ?? []).map((child) => this.valueOf(child, environment, tell))
    if (node.type === 'object') {
      const members = (node.children ?? []).flatMap(({ children: [key, value] = [] }) =>
        key === undefined || value === undefined ? [] : [{ key, name: String(key.value), value }],
      )
      const seen = new Set<string>()
      for (const { key, name } of members) {
        if (seen.has(name)) tell(key, `the key ${JSON.stringify(name)} is there twice`)
        else if (name === '__proto__') tell(key, 'unknown key "__proto__"')
        seen.add(name)
      }
      return Object.fromEntries(members.map(({ name, value }) => [name, this.valueOf(value, environment, tell)]))
    }
    if (node.type !== 'string') return node.value as unknown
    const expanded = expandVariables(String(node.value), environment)
    if (typeof expanded === 'string') return expanded
    const path = getNodePath(node).join('.')
    const { variable } = expanded
    tell(node, `${path}: the variable ${variable} is not set; set it, or write \${${variable}:-default}`)
    return ''
  }

  /** A message with the place that it is about before it. */
  at({ offset }: Place, message: string): string {
    const { line, column } = positionAt(this.#text, offset)
    return `${this.#file}:${line}:${column}: ${message}`
  }

  readonly fault: TellFault = (place, message) => {
    this.#faults.push(this.at(place, message))
  }

  throwFaults(): void {
    if (this.#faults.length > 0) throw new UsageError(this.#faults.join('\n'))
  }
}

/** `InvalidSymbol` as words. */
function spaced(name: string): string {
  return name.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()
}
