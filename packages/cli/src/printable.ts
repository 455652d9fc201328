/**
 * The text without control characters, so that nothing that a peer sent can move the cursor of a terminal. Line feeds stay, and
 * what follows them is indented, so that it cannot pass for a line of its own.
 */
export function printable(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r?\n/g, '\n  ')
    .replace(/[^\P{Cc}\n]|[\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, escaped)
}

/** A character of 16 bits as `\u001b` shows it. */
export function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
