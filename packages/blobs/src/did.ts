import { BlobError } from './blob-error.ts'
import { isHostName, isReservedHost } from './host-name.ts'

/** A DID of a method that the AT Protocol supports, and where its document is. */
export type Did =
  | { readonly method: 'plc'; readonly text: string }
  | { readonly method: 'web'; readonly text: string; readonly documentUrl: URL }

const maxLength = 2048
const syntax = /^did:[a-z]+:[a-zA-Z0-9._:%-]*[a-zA-Z0-9._-]$/
const plc = /^did:plc:[a-z2-7]{24}$/
/** A host alone; paths are not supported, and ports only on localhost, for development. */
const web = /^did:web:(?:([a-z0-9.-]+)|localhost%3A(\d{1,5}))$/

/**
 * Reads a DID. A `BlobError` of kind `invalid-identifier` for what is none, or of a method that is not supported. DIDs are
 * case-sensitive, and nothing is put right.
 */
export function parseDid(text: string): Did {
  if (typeof text !== 'string' || text.length > maxLength || !syntax.test(text)) {
    throw invalidIdentifier(text, 'is not a DID')
  }
  if (plc.test(text)) return { method: 'plc', text }
  if (text.startsWith('did:plc:')) throw invalidIdentifier(text, 'is not a did:plc: those have 24 characters of base32')
  if (!text.startsWith('did:web:')) throw invalidIdentifier(text, 'has a DID method that is not supported')
  const [, host, port] = web.exec(text) ?? []
  const onLocalhost = `http://localhost:${port ?? 80}/.well-known/did.json`
  if ((host === 'localhost' || port !== undefined) && URL.canParse(onLocalhost)) {
    return { method: 'web', text, documentUrl: new URL(onLocalhost) }
  }
  if (host === undefined || !isHostName(host) || isReservedHost(host)) {
    throw invalidIdentifier(text, 'is not the did:web of a public host')
  }
  return { method: 'web', text, documentUrl: new URL(`https://${host}/.well-known/did.json`) }
}

const shownCharacters = 200

/** Text that names nobody, and why. */
export function invalidIdentifier(text: unknown, why: string): BlobError {
  const shown = typeof text === 'string' ? JSON.stringify(text.slice(0, shownCharacters).toWellFormed()) : typeof text
  return new BlobError('invalid-identifier', `${shown} ${why}`)
}
