import { normalizeType, unknownType } from './mime-type.ts'
import type { BlobInfo } from './store.ts'

/**
 * Headers under which a blob can be served over HTTP without a browser running what is in it (G10): SVG, HTML and what it
 * may take for them. It is not shown in place but saved, is what it is called and nothing else, and has no origin that a
 * script in it could act for.
 */
export function blobResponseHeaders({ id, size, mimeType }: BlobInfo): Record<string, string> {
  return {
    'content-type': normalizeType(mimeType) ?? unknownType,
    'content-length': String(size),
    'content-disposition': `attachment; filename="${id.text}"`,
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    // What other origins embed with `no-cors` cannot be read by them, but some browsers let it into their process.
    'cross-origin-resource-policy': 'same-origin',
    etag: `"${id.text}"`,
  }
}
