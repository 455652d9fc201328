import { escapeMarkup } from '../escape.ts'

/** Text that is markup already. Only `html` makes it, so that whatever is not was escaped. */
export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Part = Markup | string | number | undefined | readonly Part[]

/** A template of markup. What is put into it is escaped, unless it is markup itself; lists are joined, `undefined` is nothing. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return new Markup(strings.map((text, index) => `${text}${index < parts.length ? textOf(parts[index]) : ''}`).join(''))
}

function textOf(part: Part): string {
  if (part === undefined) return ''
  if (part instanceof Markup) return part.text
  if (typeof part === 'string' || typeof part === 'number') return escapeMarkup(String(part))
  return part.map(textOf).join('')
}
