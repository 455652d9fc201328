/**
 * Text for XML and HTML, inside and outside of attributes. Characters that XML cannot hold, not even escaped, and those that turn
 * the direction of what follows become visible, since they come from servers.
 */
export function escapeMarkup(text: string): string {
  return text
    .toWellFormed()
    .replace(
      /[^\P{Cc}\t\n\r]|[\u202a-\u202e\u2066-\u2069\ufffe\uffff]/gu,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
