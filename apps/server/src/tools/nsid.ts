/** Segments of a domain, reversed, and a name. */
const nsidPattern =
  /^[a-zA-Z](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)+\.[a-zA-Z][a-zA-Z0-9]{0,62}$/

/**
 * Whether a text is a namespaced identifier.
 *
 * @see https://atproto.com/specs/nsid
 */
export function isNsid(text: string): boolean {
  return text.length <= 317 && text.lastIndexOf('.') <= 253 && nsidPattern.test(text)
}
