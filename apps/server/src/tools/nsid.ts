/** Segments of a domain, reversed, and a name. */
const nsidPattern =
  /^[a-zA-Z](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)+\.[a-zA-Z][a-zA-Z0-9]{0,62}$/

/**
 * Whether a text is a namespaced identifier. Its domain is not measured apart: the public vectors and the protocol's own library take one
 * that is longer than a domain may be, so a repository can hold it.
 *
 * @see https://atproto.com/specs/nsid
 */
export function isNsid(text: string): boolean {
  return text.length <= 317 && nsidPattern.test(text)
}
