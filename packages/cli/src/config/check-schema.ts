import type { Node } from 'jsonc-parser'
import { toJSONSchema, type ZodType } from 'zod'
import { suggest } from '../suggest.ts'
import { keysAt } from './known-keys.ts'
import type { TellFault } from './source.ts'

/** The value as the schema reads it, or `undefined` after every fault was told with its place. `node` is that of the value. */
export function checkSchema<T>(value: unknown, schema: ZodType<T>, node: Node, tell: TellFault): T | undefined {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const shape = toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  for (const issue of result.error.issues) {
    const path = issue.path.map((step) => (typeof step === 'number' ? step : String(step)))
    if (issue.code !== 'unrecognized_keys') {
      tell(nodeAt(node, path), `${path.length === 0 ? '' : `${path.join('.')}: `}${issue.message}`)
      continue
    }
    for (const key of issue.keys) {
      const meant = suggest(key, keysAt(shape, path))
      const hint = meant === undefined ? '' : `; did you mean ${JSON.stringify(meant)}?`
      tell(keyNode(nodeAt(node, path), key), `unknown key ${JSON.stringify(key)}${hint}`)
    }
  }
  return undefined
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

/** The node of a key of an object, or the object where it has none. */
function keyNode(object: Node, key: string): Node {
  return object.children?.find(({ children }) => children?.[0]?.value === key)?.children?.[0] ?? object
}
