import { isNsid } from './nsid.ts'

/** The address of a record. */
export interface RecordUri {
  /** A DID or a handle, in the form of one. */
  readonly authority: string
  readonly collection: string
  readonly rkey: string
}

const maxLength = 8192
const form = /^at:\/\/([^/?#]+)\/([^/?#]+)\/([^/?#]+)$/
const did = /^did:[a-z]+:[a-zA-Z0-9._:%-]*[a-zA-Z0-9._-]$/
const handle = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/i
const recordKey = /^[a-zA-Z0-9._~:-]{1,512}$/

/**
 * Reads the AT-URI of a record, strictly: undefined for what is none, and for one that names a repository or a collection only.
 *
 * @see https://atproto.com/specs/at-uri-scheme
 */
export function parseRecordUri(text: string): RecordUri | undefined {
  if (text.length > maxLength) return undefined
  const [, authority = '', collection = '', rkey = ''] = form.exec(text) ?? []
  const isAuthority = did.test(authority) ? authority.length <= 2048 : authority.length <= 253 && handle.test(authority)
  if (!isAuthority || !isNsid(collection) || !recordKey.test(rkey) || rkey === '.' || rkey === '..') return undefined
  return { authority, collection, rkey }
}
