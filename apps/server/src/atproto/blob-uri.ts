/** The template of all blobs as resources. The authority is empty, since the colons of a DID make no valid host. */
export const blobUriTemplate = 'atenea-blob:///{did}/{cid}'

const form = /^atenea-blob:\/\/\/([^/?#]+)\/([^/?#]+)$/

/** The one spelling under which a blob is named here. */
export function blobUri(did: string, cid: string): string {
  return `atenea-blob:///${did}/${cid}`
}

/**
 * What such a URI names. Clients that expand the template write the colons of a DID as `%3A`, people as they are; a DID with
 * colons may hold a percent sign of its own, which then stays.
 */
export function parseBlobUri(uri: string): { readonly did: string; readonly cid: string } | undefined {
  const [, segment, cid] = form.exec(uri) ?? []
  if (segment === undefined || cid === undefined) return undefined
  if (segment.includes(':')) return { did: segment, cid }
  try {
    return { did: decodeURIComponent(segment), cid }
  } catch {
    return undefined
  }
}
