import type { PatternNode } from './pattern-syntax.ts'

/** One step of the automaton. Targets are indexes of instructions. */
type Instruction =
  | { readonly op: 'char'; readonly accepts: (codePoint: number) => boolean }
  | { readonly op: 'jump'; to: number }
  | { readonly op: 'split'; readonly first: number; second: number }
  | { readonly op: 'assert'; readonly source: '^' | '$' | '\\b' | '\\B' }
  | { readonly op: 'look'; readonly program: Program; readonly negate: boolean }
  | { readonly op: 'match' }

/** A pattern as instructions of a nondeterministic automaton. */
export interface Program {
  readonly instructions: readonly Instruction[]
  /** Whether text is read by code points (Unicode mode) or by code units. */
  readonly unicode: boolean
}

/** Instructions that one pattern may come to; counted repetition is written out. */
const maxInstructions = 5000
/** Steps that one test may take; past that the text counts as not matching. About a tenth of a second. */
const maxSteps = 2e7

/** Writes a pattern as a program. A `SyntaxError` when it has become too large; the parts must all be decidable. */
export function compileProgram(root: PatternNode, flags: 'u' | ''): Program {
  const instructions: Instruction[] = []
  const classes = new Map<string, (codePoint: number) => boolean>()

  const add = <I extends Instruction>(instruction: I): I => {
    if (instructions.length >= maxInstructions) throw new SyntaxError('the pattern repeats too much to be checked')
    instructions.push(instruction)
    return instruction
  }

  const emit = (node: PatternNode): void => {
    switch (node.kind) {
      case 'char': {
        let accepts = classes.get(node.source)
        if (accepts === undefined) classes.set(node.source, (accepts = characterTest(node.source, flags)))
        add({ op: 'char', accepts })
        return
      }
      case 'assert':
        add({ op: 'assert', source: node.source })
        return
      case 'look':
        add({ op: 'look', program: compileProgram(node.body, flags), negate: node.negate })
        return
      case 'seq':
        for (const item of node.items) emit(item)
        return
      case 'alt':
        emitChoice(node.branches)
        return
      case 'repeat':
        emitRepeat(node.body, node.min, node.max)
        return
      case 'opaque':
        throw new SyntaxError(`the pattern holds ${node.what}`)
    }
  }

  const emitChoice = (branches: readonly PatternNode[]): void => {
    const exits: { to: number }[] = []
    for (const [index, branch] of branches.entries()) {
      if (index === branches.length - 1) {
        emit(branch)
        break
      }
      const split = add({ op: 'split', first: instructions.length + 1, second: 0 })
      emit(branch)
      exits.push(add({ op: 'jump', to: 0 }))
      split.second = instructions.length
    }
    for (const exit of exits) exit.to = instructions.length
  }

  const emitRepeat = (body: PatternNode, min: number, max: number): void => {
    for (let n = 0; n < min; n++) emit(body)
    if (max === Infinity) {
      const start = instructions.length
      const split = add({ op: 'split', first: start + 1, second: 0 })
      emit(body)
      add({ op: 'jump', to: start })
      split.second = instructions.length
      return
    }
    const splits: { second: number }[] = []
    for (let n = min; n < max; n++) {
      splits.push(add({ op: 'split', first: instructions.length + 1, second: 0 }))
      emit(body)
    }
    for (const split of splits) split.second = instructions.length
  }

  emit(root)
  add({ op: 'match' })
  return { instructions, unicode: flags === 'u' }
}

/** Whether the program matches somewhere in `text`. */
export function runProgram(program: Program, text: string): boolean {
  return search(program, text, 0, true, { left: maxSteps })
}

interface Budget {
  left: number
}

/** Follows all threads at once, one character after the other; no thread is followed twice at one place. */
function search(program: Program, text: string, start: number, anywhere: boolean, budget: Budget): boolean {
  const { instructions, unicode } = program
  const seenAt = new Int32Array(instructions.length).fill(-1)
  const stack: number[] = []
  let current: number[] = []
  let following: number[] = []

  /** Adds a thread and all that it reaches without reading a character. Tells whether one of them has matched. */
  const reach = (from: number, at: number, threads: number[]): boolean => {
    stack.push(from)
    for (let index = stack.pop(); index !== undefined; index = stack.pop()) {
      if (seenAt[index] === at) continue
      seenAt[index] = at
      budget.left--
      const instruction = instructions[index] as Instruction
      switch (instruction.op) {
        case 'match':
          return true
        case 'char':
          threads.push(index)
          break
        case 'jump':
          stack.push(instruction.to)
          break
        case 'split':
          stack.push(instruction.second, instruction.first)
          break
        case 'assert':
          if (holds(instruction.source, text, at)) stack.push(index + 1)
          break
        case 'look':
          if (search(instruction.program, text, at, false, budget) !== instruction.negate) stack.push(index + 1)
          break
      }
    }
    return false
  }

  for (let at = start; budget.left > 0; ) {
    if ((at === start || anywhere) && reach(0, at, current)) return true
    if (at >= text.length || (current.length === 0 && !anywhere)) return false
    const codePoint = unicode ? (text.codePointAt(at) ?? 0) : text.charCodeAt(at)
    const next = at + (codePoint > 0xffff ? 2 : 1)
    for (const index of current) {
      budget.left--
      const instruction = instructions[index] as Instruction
      if (instruction.op === 'char' && instruction.accepts(codePoint) && reach(index + 1, next, following)) return true
    }
    ;[current, following] = [following, current]
    following.length = 0
    at = next
  }
  return false
}

function holds(assertion: '^' | '$' | '\\b' | '\\B', text: string, at: number): boolean {
  if (assertion === '^') return at === 0
  if (assertion === '$') return at === text.length
  const isBoundary = isWordAt(text, at - 1) !== isWordAt(text, at)
  return isBoundary === (assertion === '\\b')
}

function isWordAt(text: string, at: number): boolean {
  return /\w/.test(text.charAt(at))
}

/** The engine decides what one character may be, so that classes mean here exactly what they mean there. */
function characterTest(source: string, flags: 'u' | ''): (codePoint: number) => boolean {
  const one = new RegExp(`^(?:${source})$`, flags)
  const toText = flags === 'u' ? String.fromCodePoint : String.fromCharCode
  const ascii = Uint8Array.from({ length: 128 }, (_, code) => (one.test(toText(code)) ? 1 : 0))
  return (codePoint) => (codePoint < 128 ? ascii[codePoint] === 1 : one.test(toText(codePoint)))
}
