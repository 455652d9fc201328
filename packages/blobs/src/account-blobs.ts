import { BlobError } from './blob-error.ts'
import type { BlobId } from './blob-id.ts'
import { createExpiringMap } from './expiring-map.ts'
import type { AbortOptions } from './abort.ts'
import { tooLarge } from './read-chunks.ts'
import type { IdentityResolver } from './identity.ts'
import { bestType } from './mime-type.ts'
import type { OwnUploads } from './own-uploads.ts'
import { type OfferedBlob, offeredBlob, type PdsClient } from './pds.ts'
import { receiveBlob } from './receive-blob.ts'
import { shareBlob, type SharedBlob } from './shared-blob.ts'
import { createSingleFlight } from './single-flight.ts'
import type { BlobStore, OpenBlob } from './store.ts'

/** A verified blob of an account. Dispose it. */
export interface AccountBlob extends OpenBlob {
  readonly did: string
  /** The type that the PDS of the account says, if it says one. `info.mimeType` is the best that is known. */
  readonly servedType: string | undefined
  /** Whether its bytes came out of the store. */
  readonly fromStore: boolean
}

/** Hears how many bytes of a transfer have come, of how many, where the PDS says it. Not called for what is stored. */
export type OnProgress = (received: number, size: number | undefined) => void

export interface GetLimits extends AbortOptions {
  readonly maxBytes: number
}

/** Blobs as accounts offer them. */
export interface AccountBlobs {
  get(
    did: string,
    id: BlobId,
    options: GetLimits & { readonly onProgress: OnProgress | undefined },
  ): Promise<AccountBlob>
  head(did: string, id: BlobId, options: AbortOptions): Promise<OfferedBlob>
}

export interface CreateAccountBlobsOptions {
  readonly store: BlobStore
  readonly identity: IdentityResolver
  readonly pds: PdsClient
  readonly ownUploads: OwnUploads
  /** Milliseconds for which an offer holds. */
  readonly ttlMs: number
}

interface Got {
  readonly shared: SharedBlob
  readonly did: string
  readonly servedType: string | undefined
  readonly fromStore: boolean
}

const maxOffers = 10_000

/**
 * Bytes are the same whoever offers them, but an account may have deleted a blob, or never had it, while the store holds it
 * for another. So whether an account offers a blob is asked of its PDS and believed for a short time, and the store only
 * spares the transfer: what was read before changes no answer.
 */
export function createAccountBlobs(options: CreateAccountBlobsOptions): AccountBlobs {
  const { store, identity, pds, ownUploads, ttlMs } = options
  const offers = createExpiringMap<OfferedBlob>({ ttlMs, maxEntries: maxOffers })
  const asking = createSingleFlight<OfferedBlob, OfferedBlob>({ take: (offer) => offer })
  /** Those who want to hear of a transfer, by its key. */
  const listeners = new Map<string, Set<OnProgress>>()
  const getting = createSingleFlight<Got, AccountBlob>({
    take: ({ shared, ...facts }) => ({ ...shared.share(), ...facts }),
    release: ({ shared }) => shared.release(),
  })

  /** Asks the PDS whether it offers a blob, unless it has just said so. */
  async function offerOf(did: string, id: BlobId, { signal }: AbortOptions): Promise<OfferedBlob> {
    const key = keyOf(did, id)
    const known = offers.get(key)
    if (known !== undefined) return known
    return await asking(
      key,
      async (stop) => {
        const offer = await pds.headBlob(await identity.pdsOf(did, { signal: stop }), did, id, { signal: stop })
        offers.set(key, offer)
        return offer
      },
      { signal },
    )
  }

  /** Undefined when the store has none, or had one that was damaged. */
  async function openStored(id: BlobId, { signal }: AbortOptions): Promise<OpenBlob | undefined> {
    try {
      return await store.open(id, { signal })
    } catch (error) {
      if (BlobError.is(error) && (error.kind === 'not-stored' || error.kind === 'damaged')) return undefined
      throw error
    }
  }

  function tell(key: string, received: number, size: number | undefined): void {
    for (const listener of listeners.get(key) ?? []) {
      try {
        listener(received, size)
      } catch {
        // Others share this transfer.
      }
    }
  }

  /** Lets a listener hear of a transfer while `work` goes on. */
  async function listening<T>(key: string, listener: OnProgress | undefined, work: () => Promise<T>): Promise<T> {
    if (listener === undefined) return await work()
    const all = listeners.get(key) ?? new Set()
    listeners.set(key, all.add(listener))
    try {
      return await work()
    } finally {
      all.delete(listener)
      if (all.size === 0) listeners.delete(key)
    }
  }

  async function download(did: string, id: BlobId, { maxBytes, signal }: GetLimits): Promise<Got> {
    const origin = await identity.pdsOf(did, { signal })
    const response = await pds.getBlob(origin, did, id, { maxBytes, signal })
    const offer = offeredBlob(response)
    const onProgress = (received: number): void => tell(keyOf(did, id), received, offer.size)
    const blob = await receiveBlob(response, { store, expect: id, maxBytes, onProgress, signal })
    offers.set(keyOf(did, id), offer)
    return got(did, blob, { servedType: offer.mimeType, fromStore: false })
  }

  async function open(did: string, id: BlobId, limits: GetLimits): Promise<Got> {
    const { maxBytes, signal } = limits
    if (offers.get(keyOf(did, id)) !== undefined || (await store.stat(id, { signal })) !== undefined) {
      const { mimeType, size } = await offerOf(did, id, { signal })
      if (size !== undefined && size > maxBytes) throw tooLarge(maxBytes, size)
      const blob = await openStored(id, { signal })
      if (blob !== undefined) return got(did, await within(blob, maxBytes), { servedType: mimeType, fromStore: true })
    }
    try {
      return await download(did, id, limits)
    } catch (error) {
      // The store has made room, if it could.
      if (!BlobError.is(error) || error.kind !== 'no-space') throw error
      return await download(did, id, limits)
    }
  }

  /** What an own upload is answered with that its PDS does not serve yet. */
  async function unlessOwn<T>(
    did: string,
    id: BlobId,
    work: () => Promise<T>,
    serve: () => Promise<T | undefined>,
  ): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (!BlobError.is(error) || error.kind !== 'not-found') throw error
      offers.delete(keyOf(did, id))
      if (!ownUploads.has(did, id)) throw error
      const served = ownUploads.serves ? await serve() : undefined
      if (served !== undefined) return served
      const message =
        `${id.text} was uploaded for ${did}, but no record refers to it yet. A PDS serves a blob only as long as one does; ` +
        'until then it keeps it for an hour at least.'
      throw new BlobError('not-referenced', message, { cause: error, details: error.details })
    }
  }

  return {
    async get(did, id, { maxBytes, onProgress, signal }) {
      const start = (stop: AbortSignal): Promise<Got> => {
        const limits = { maxBytes, signal: stop }
        return unlessOwn(
          did,
          id,
          () => open(did, id, limits),
          async () => {
            const blob = await openStored(id, limits)
            return blob && got(did, await within(blob, maxBytes), { servedType: undefined, fromStore: true })
          },
        )
      }
      const key = keyOf(did, id)
      return await listening(key, onProgress, () => getting(`${key} ${maxBytes}`, start, { signal }))
    },
    head: (did, id, { signal }) =>
      unlessOwn(
        did,
        id,
        () => offerOf(did, id, { signal }),
        () => store.stat(id, { signal }),
      ),
  }
}

const keyOf = (did: string, id: BlobId): string => `${did} ${id.text}`

function got(did: string, blob: OpenBlob, facts: Pick<Got, 'servedType' | 'fromStore'>): Got {
  const info = { ...blob.info, mimeType: bestType(facts.servedType, blob.info.mimeType) }
  return { shared: shareBlob(blob, info), did, ...facts }
}

/** The blob, unless it is too large; then it is closed. */
async function within(blob: OpenBlob, maxBytes: number): Promise<OpenBlob> {
  const { size } = blob.info
  if (size <= maxBytes) return blob
  await blob[Symbol.asyncDispose]()
  throw tooLarge(maxBytes, size)
}
