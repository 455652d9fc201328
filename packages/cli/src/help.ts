import type { Flags } from './flags.ts'
import { wrap } from './wrap.ts'

/** What the help text of a command says. */
export interface HelpText {
  /** One line: what the command is for. */
  readonly summary: string
  /** Ways to call it, without prompt. */
  readonly usage: readonly string[]
  readonly sections: readonly HelpSection[]
}

export type HelpSection =
  | { readonly title: string; readonly flags: Flags }
  /** Terms with their meaning, such as exit codes or environment variables. */
  | { readonly title: string; readonly terms: readonly (readonly [string, string])[] }
  /** Lines that are shown as they are, such as examples. */
  | { readonly title: string; readonly lines: readonly string[] }

/** What every program heeds. */
export const colourEnvironment: readonly (readonly [string, string])[] = [['NO_COLOR', 'when set, nothing is coloured']]

const width = 100
const indent = 2
const widestTerm = 30

/** The text for `--help`, wrapped to 100 columns, ending with a line feed. */
export function renderHelp(help: HelpText): string {
  const usage = help.usage.map((line, index) => `${index === 0 ? 'Usage:' : '      '} ${line}`).join('\n')
  const sections = help.sections.map((section) => `${section.title}:\n${renderSection(section)}`)
  return `${[help.summary, usage, ...sections].join('\n\n')}\n`
}

function renderSection(section: HelpSection): string {
  if ('lines' in section) return section.lines.map((line) => `${' '.repeat(indent)}${line}`).join('\n')
  return renderTerms('flags' in section ? flagTerms(section.flags) : section.terms)
}

function flagTerms(flags: Flags): (readonly [string, string])[] {
  return Object.entries(flags).map(([name, { short, placeholder, help, shownDefault, isRepeatable }]) => {
    const term = `${short === undefined ? '' : `-${short}, `}--${name}${placeholder === undefined ? '' : ` ${placeholder}`}`
    const notes = [
      ...(isRepeatable ? ['may be repeated'] : []),
      ...(shownDefault === undefined ? [] : [`default: ${shownDefault}`]),
    ]
    return [term, notes.length === 0 ? help : `${help} (${notes.join('; ')})`]
  })
}

function renderTerms(terms: readonly (readonly [string, string])[]): string {
  const column = Math.min(widestTerm, Math.max(...terms.map(([term]) => term.length))) + indent + 2
  return terms
    .map(([term, meaning]) => {
      const lines = wrap(meaning, width - column)
      const head = `${' '.repeat(indent)}${term}`
      const isLong = head.length + 2 > column
      const body = lines.map((line) => `${' '.repeat(column)}${line}`).join('\n')
      return isLong ? `${head}\n${body}` : `${head.padEnd(column)}${body.trimStart()}`
    })
    .join('\n')
}
