/**
 * The cursor of the page that comes after an item. It names the item, not a position, so that it stays good when others come and
 * go; it is opaque to clients (MC-PAGE-02).
 */
export function encodeCursor(key: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(key))).replaceAll('=', '')
}

/** The item that a cursor names; `undefined` when it is no cursor of ours. */
export function decodeCursor(cursor: string): string | undefined {
  try {
    const bytes = Uint8Array.from(atob(cursor), (character) => character.charCodeAt(0))
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
