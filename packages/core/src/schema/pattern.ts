import { type Program, compileProgram, runProgram } from './pattern-program.ts'
import { parsePattern, shapeOf } from './pattern-syntax.ts'

/** A compiled `pattern`. */
export interface Pattern {
  /** Whether some part of `text` matches. Ends in bounded time; text that would need more does not match. */
  test(text: string): boolean
  /** The source; validators tell patterns apart by it. */
  toString(): string
}

/** Steps that a test by the engine's own matcher may take, as far as they can be foretold. */
const nativeSteps = 1e7

/**
 * Compiles the `pattern` of a schema so that no text can hold the process up (MC-SCH-08).
 *
 * The engine's own matcher backtracks: `^(a+)+$` against forty letters runs for years. It is used where the pattern's shape
 * and the length of the text rule that out; elsewhere an automaton decides, whose time is linear in the text. What neither
 * can take, such as nested repetition together with a backreference, is a `SyntaxError`.
 */
export function compilePattern(source: string): Pattern {
  const flags = flagsOf(source)
  const native = new RegExp(source, flags)
  const tree = parsePattern(source, flags)
  const shape = shapeOf(tree)
  if (shape.nested && shape.opaque !== undefined) {
    throw new SyntaxError(`the pattern ${source} holds ${shape.opaque} and can take exponential time; write it simpler`)
  }
  const build = (): Program => compileProgram(tree, flags)
  let program = shape.nested ? build() : undefined
  return {
    test(text) {
      if (!shape.nested && text.length ** shape.degree <= nativeSteps) return native.test(text)
      if (shape.opaque !== undefined) return false
      program ??= build()
      return runProgram(program, text)
    },
    toString: () => source,
  }
}

/** Throws what `compilePattern` would throw, for less: a pattern without groups can always be compiled once it is valid. */
export function checkPattern(source: string): void {
  if (source.includes('(')) compilePattern(source)
  else flagsOf(source)
}

/** Unicode mode, as the dialects ask for, unless the pattern is only valid without it. A `SyntaxError` when it never is. */
function flagsOf(source: string): 'u' | '' {
  try {
    return new RegExp(source, 'u').unicode ? 'u' : ''
  } catch {
    return new RegExp(source, '').unicode ? 'u' : ''
  }
}
