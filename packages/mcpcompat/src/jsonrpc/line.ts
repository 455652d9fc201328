/**
 * JSON text as one line of well-formed Unicode. A raw line break can only stand between tokens, where a space means the same;
 * a surrogate without its partner becomes U+FFFD.
 */
export function toLine(text: string): string {
  if (text.includes('\n') || text.includes('\r')) text = text.replace(/[\n\r]/g, ' ')
  return text.isWellFormed() ? text : text.toWellFormed()
}
