import type { JsonObject } from '@atenea/mcpcompat'
import { DefinitionError } from '../definition-error.ts'
import type { Check } from './check.ts'
import { compileCheck } from './compile.ts'
import { compileFlatCheck } from './flat-check.ts'
import { inspectSchema } from './inspect.ts'

/** How values are checked against a raw JSON Schema. */
export interface RawSchema {
  /** The check, as soon as there is one: at once for simple schemas, after the first `load` for others. */
  readonly check: Check | undefined
  /** Makes the check. The full validator is loaded the first time that a schema needs it. */
  load(): Promise<Check>
}

/**
 * Takes a raw JSON Schema, 2020-12 or draft-07. Throws a `DefinitionError` when it cannot be served; `where` names it. Only what
 * that needs is done here: a server starts with many schemas and may never use most of them.
 */
export function createRawSchema(schema: JsonObject, where: string): RawSchema {
  const facts = inspectSchema(schema, where)
  if (facts.namesProto && compileCheck(schema) === undefined) {
    throw new DefinitionError(
      `${where}: a property named "__proto__" can only be checked in a simpler schema, one without $ref and the like`,
    )
  }
  let check: Check | undefined
  let isCompiled = false
  let loading: Promise<Check> | undefined
  return {
    get check() {
      if (!isCompiled) {
        isCompiled = true
        check = compileFlatCheck(schema) ?? compileCheck(schema)
      }
      return check
    },
    load() {
      loading ??= import('./ajv.ts')
        .then(({ compileWithAjv }) => compileWithAjv(schema, facts))
        .then((loaded) => (check = loaded))
      return loading
    },
  }
}
