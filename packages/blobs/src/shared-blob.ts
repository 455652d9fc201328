import type { BlobInfo, OpenBlob } from './store.ts'

/** An open blob of several owners. It is closed when the last of them has let go. */
export interface SharedBlob {
  /** One more owner. */
  share(): OpenBlob
  /** The first owner, who made this, lets go. */
  release(): void
}

/** Shares an open blob, which belongs to this from now on, under what is known of it. */
export function shareBlob(blob: OpenBlob, info: BlobInfo): SharedBlob {
  let owners = 1

  async function letGo(): Promise<void> {
    owners--
    if (owners === 0) await blob[Symbol.asyncDispose]()
  }

  return {
    share() {
      owners++
      let isMine = true
      return {
        info,
        read: (options) => blob.read(options),
        bytes: (options) => blob.bytes(options),
        async [Symbol.asyncDispose]() {
          if (!isMine) return
          isMine = false
          await letGo()
        },
      }
    },
    release() {
      // What is left of it is a file that nobody reads; that it cannot be closed concerns nobody.
      letGo().catch(() => undefined)
    },
  }
}
