import type { Mood } from './words.ts'

/** Marks text for a terminal, or leaves it as it is. */
export interface Style {
  /** Columns in which lines are broken. */
  readonly width: number
  bold(text: string): string
  dim(text: string): string
  mood(mood: Mood, text: string): string
}

const moodColours: Readonly<Record<Mood, string>> = { good: '32', mixed: '33', bad: '31', plain: '36' }

/** Lines are no wider than is good to read, also on a wide terminal. */
const widest = 100
const narrowest = 40

export function createStyle(colour: boolean, columns = widest): Style {
  const marked = (code: string, text: string): string =>
    colour && text !== '' ? `\u001b[${code}m${text}\u001b[0m` : text
  return {
    width: Math.max(narrowest, Math.min(widest, columns)),
    bold: (text) => marked('1', text),
    dim: (text) => marked('2', text),
    mood: (mood, text) => marked(moodColours[mood], text),
  }
}
