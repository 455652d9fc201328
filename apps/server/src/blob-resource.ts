import { defineResourceTemplate, resourceNotFound } from '@atenea/core'
import type { AtprotoAccess } from './atproto/atproto.ts'
import type { AtprotoSettings } from './atproto/atproto-settings.ts'
import { blobUriTemplate, parseBlobUri } from './atproto/blob-uri.ts'

/** Bytes never change, but an account may stop offering them. */
const whileOffered = { ttlMs: 60_000, cacheScope: 'public' } as const

/** Blobs of all accounts as resources. A read depends on what the account offers and never on what was read before. */
export const blobResource = (access: AtprotoAccess, { dids }: AtprotoSettings) =>
  defineResourceTemplate({
    uriTemplate: blobUriTemplate,
    name: 'blob',
    title: 'Blob of an AT Protocol account',
    description:
      'A blob (image, video, other file) that an account offers, verified against its CID. Up to 7 MB can be read; get_blob can save larger ones.',
    hints: whileOffered,
    complete: {
      did: ({ value }) => dids.filter((did) => did.startsWith(value)),
    },
    read: async ({ uri }, context) => {
      const named = parseBlobUri(uri)
      if (named === undefined) throw resourceNotFound(uri)
      const { readBlob } = await import('./atproto/read-blob.ts')
      return await readBlob(await access(), { ...named, uri }, context)
    },
  })
