import type { BlobId } from './blob-id.ts'
import { createExpiringMap } from './expiring-map.ts'

/**
 * What to make of a blob that this client uploaded and that its PDS does not serve, since no record refers to it yet:
 * `explain` says so (kind `not-referenced` instead of `not-found`), `serve` gives it from the store, `ignore` remembers no
 * uploads.
 */
export type OwnUploadsPolicy = 'ignore' | 'explain' | 'serve'

/** Uploads of this client, for as long as a PDS keeps one that no record refers to. */
export interface OwnUploads {
  readonly serves: boolean
  has(did: string, id: BlobId): boolean
  add(did: string, id: BlobId): void
}

/** A PDS must keep an upload for an hour. */
const keptMs = 60 * 60 * 1000
const maxEntries = 10_000

/** Remembers uploads as far as a policy asks for it. */
export function createOwnUploads(policy: OwnUploadsPolicy): OwnUploads {
  const uploads = createExpiringMap<true>({ ttlMs: policy === 'ignore' ? 0 : keptMs, maxEntries })
  return {
    serves: policy === 'serve',
    has: (did, id) => uploads.get(`${did} ${id.text}`) === true,
    add: (did, id) => uploads.set(`${did} ${id.text}`, true),
  }
}
