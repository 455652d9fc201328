/** What a source file imports, read from its syntax tree. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'
import { rootDir } from './workspace.ts'

export interface Import {
  /** Path of the importing file from the root. */
  readonly file: string
  /** Undefined where it is computed while the program runs. */
  readonly specifier: string | undefined
  /** `type`: gone after compiling. `static`: loaded with the file. `dynamic`: loaded when the program comes there. */
  readonly kind: 'type' | 'static' | 'dynamic'
}

/** Every way in which a file can name another module: import, export from, import(), import types, require, import =. */
export function importsOf(file: string): Import[] {
  const found: Import[] = []
  const add = (specifier: string | undefined, kind: Import['kind']): void => void found.push({ file, specifier, kind })
  const { program, errors } = parseSync(file, readFileSync(join(rootDir, file), 'utf8'))
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`)
  new Visitor({
    // An import whose names are all types stays as `import {} from` and is still loaded; only `import type` is gone.
    ImportDeclaration: (node) => add(node.source.value, node.importKind === 'type' ? 'type' : 'static'),
    ExportNamedDeclaration: (node) => {
      if (node.source !== null) add(node.source.value, node.exportKind === 'type' ? 'type' : 'static')
    },
    ExportAllDeclaration: (node) => add(node.source.value, node.exportKind === 'type' ? 'type' : 'static'),
    ImportExpression: (node) => add(literal(node.source), 'dynamic'),
    TSImportType: (node) => add(literal(node.source), 'type'),
    TSImportEqualsDeclaration: (node) => {
      if (node.moduleReference.type === 'TSExternalModuleReference') {
        add(node.moduleReference.expression.value, node.importKind === 'type' ? 'type' : 'static')
      }
    },
    CallExpression: (node) => {
      const called = node.callee.type === 'MemberExpression' ? node.callee.property : node.callee
      if (called.type === 'Identifier' && (called.name === 'require' || called.name === 'getBuiltinModule')) {
        add(literal(node.arguments[0]), 'dynamic')
      }
    },
  }).visit(program)
  return found
}

function literal(node: { readonly type: string } | undefined): string | undefined {
  return node?.type === 'Literal' && 'value' in node && typeof node.value === 'string' ? node.value : undefined
}
