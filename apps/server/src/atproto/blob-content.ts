import { isUtf8 } from 'node:buffer'

/** How the bytes of a blob may be shown. Its type is what was found, never what somebody called it. */
export type BlobContent =
  | { readonly kind: 'image'; readonly mimeType: string }
  | { readonly kind: 'text'; readonly mimeType: string; readonly text: string }
  | { readonly kind: 'bytes'; readonly mimeType: 'application/octet-stream' }

const bytes = { kind: 'bytes', mimeType: 'application/octet-stream' } as const

/** Text that nothing runs when it is shown; other kinds of text are called plain. */
const namedText = new Set(['text/plain', 'text/markdown', 'text/csv', 'text/tab-separated-values', 'text/vtt'])
/** In the names of what a browser, or a program for documents, may run. */
const activeContent = /html|xml|xsl|svg|script|css|component|cache-manifest/

/**
 * Judges bytes by what they are called and what they hold (G10): an image when its first bytes are those of one and nothing else
 * is claimed, text when it is called that and is valid UTF-8, and otherwise bytes without a name. HTML, SVG and scripts are bytes
 * however they are called.
 */
export function blobContent(data: Uint8Array, claimed: string | undefined): BlobContent {
  const [essence = '', ...parameters] = (claimed ?? '').toLowerCase().split(';')
  const type = essence.trim()
  const image = imageType(data)
  const isUnnamed = type === '' || type === 'application/octet-stream' || type === '*/*'
  if (image !== undefined && (isUnnamed || type === image || (type === 'image/jpg' && image === 'image/jpeg'))) {
    return { kind: 'image', mimeType: image }
  }
  if (!type.startsWith('text/') || activeContent.test(type) || !isUnicode(parameters)) return bytes
  if (data.includes(0) || !isUtf8(data)) return bytes
  return {
    kind: 'text',
    mimeType: namedText.has(type) ? type : 'text/plain',
    text: Buffer.from(data.buffer, data.byteOffset, data.length).toString('utf8'),
  }
}

/** What a blob is called whose bytes were not looked at: as its PDS says, unless a browser would run what is called so. */
export function linkedType(claimed: string | undefined): string {
  const type = (claimed ?? '').toLowerCase()
  return /^(?:image|audio|video|text)\//.test(type) && !activeContent.test(type) ? type : bytes.mimeType
}

function isUnicode(parameters: readonly string[]): boolean {
  const charset = parameters.map((one) => /^\s*charset="?([^"]*)"?\s*$/.exec(one)?.[1]).find((one) => one !== undefined)
  return charset === undefined || ['utf-8', 'utf8', 'us-ascii', 'ascii'].includes(charset)
}

function imageType(data: Uint8Array): string | undefined {
  const head = Buffer.from(data.buffer, data.byteOffset, Math.min(data.length, 12)).toString('latin1')
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (head.startsWith('GIF87a') || head.startsWith('GIF89a')) return 'image/gif'
  if (head.startsWith('RIFF') && head.slice(8) === 'WEBP') return 'image/webp'
  return undefined
}
