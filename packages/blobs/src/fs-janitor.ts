import { join } from 'node:path'
import type { OnBlobDiagnostic } from './diagnostics.ts'
import { blobFileName, fanOutName, type Layout } from './fs-layout.ts'
import { codeOf, type FileSystem, removeFile } from './fs-port.ts'

/** Keeps a store within its limit and clears what processes that died left behind. */
export interface Janitor {
  /** A file of so many bytes was added. Resolves when the store is within its limit, as far as this process can see. */
  added(bytes: number): Promise<void>
  /** Removes least recently used files until so many bytes are free, or none is left. */
  makeRoom(bytes: number): Promise<void>
}

export interface CreateJanitorOptions {
  readonly files: FileSystem
  readonly layout: Layout
  readonly maxBytes: number
  /** Milliseconds without a write after which a temporary file belongs to nobody. */
  readonly staleMs: number
  readonly report: OnBlobDiagnostic
}

interface Kept {
  readonly path: string
  readonly bytes: number
  readonly usedAt: number
}

const sizeOf = (kept: readonly Kept[]): number => kept.reduce((sum, { bytes }) => sum + bytes, 0)

/** After the limit was passed, room is made for more than one blob, so that not every one needs a look at all files. */
const filledAgainTo = 0.9
/** Other processes add files that we do not see. We look again after having added this part of the limit ourselves. */
const lookAgainAfter = 1 / 8

/** A janitor of the files of a layout. Several processes can each have one for the same folder. */
export function createJanitor({ files, layout, maxBytes, staleMs, report }: CreateJanitorOptions): Janitor {
  /** Bytes in the store when we looked, and what we added since. Undefined before the first look. */
  let seen: number | undefined
  let addedSince = 0
  let last: Promise<void> = Promise.resolve()

  function trouble(message: string, cause: unknown): void {
    report({ level: 'warning', code: 'cache-trouble', message, cause })
  }

  async function namesIn(folder: string): Promise<string[]> {
    try {
      return await files.readdir(folder)
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') trouble(`the folder ${folder} cannot be looked into`, error)
      return []
    }
  }

  /** Undefined for what has gone in the meantime. */
  async function look(path: string): Promise<{ bytes: number; usedAt: number; writtenAt: number } | undefined> {
    try {
      const { size, atimeMs, mtimeMs } = await files.stat(path)
      return { bytes: size, usedAt: atimeMs, writtenAt: mtimeMs }
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') trouble(`the file ${path} cannot be looked at`, error)
      return undefined
    }
  }

  async function remove(path: string): Promise<boolean> {
    try {
      await removeFile(files, path)
      return true
    } catch (error) {
      trouble(`the file ${path} cannot be removed`, error)
      return false
    }
  }

  /** All files of blobs, least recently used first. */
  async function survey(): Promise<Kept[]> {
    const kept: Kept[] = []
    const folders = (await namesIn(layout.top)).filter((name) => fanOutName.test(name))
    for (const folder of folders) {
      const names = (await namesIn(join(layout.top, folder))).filter((name) => blobFileName.test(name))
      const found = await Promise.all(
        names.map(async (name) => {
          const path = join(layout.top, folder, name)
          const facts = await look(path)
          return facts === undefined ? [] : [{ path, ...facts }]
        }),
      )
      kept.push(...found.flat())
    }
    return kept.sort((a, b) => a.usedAt - b.usedAt)
  }

  async function sweep(): Promise<void> {
    const before = Date.now() - staleMs
    for (const name of await namesIn(layout.temporary)) {
      const path = join(layout.temporary, name)
      const facts = await look(path)
      if (facts !== undefined && facts.writtenAt < before) await remove(path)
    }
  }

  /** Removes the first files until no more than `target` bytes are left. The last one used stays: somebody is about to read it. */
  async function reduce(kept: readonly Kept[], target: number): Promise<number> {
    let total = sizeOf(kept)
    for (const { path, bytes } of kept.slice(0, -1)) {
      if (total <= target) break
      if (await remove(path)) total -= bytes
    }
    return total
  }

  async function tidy(): Promise<void> {
    addedSince = 0
    await sweep()
    const kept = await survey()
    const total = sizeOf(kept)
    seen = total > maxBytes ? await reduce(kept, maxBytes * filledAgainTo) : total
  }

  /** One look at a time. */
  function next(work: () => Promise<void>): Promise<void> {
    const done = last.then(work)
    last = done.catch(() => undefined)
    return done
  }

  const isDue = (): boolean =>
    seen === undefined || seen + addedSince > maxBytes || addedSince > maxBytes * lookAgainAfter

  return {
    async added(bytes) {
      addedSince += bytes
      if (isDue()) await next(async () => (isDue() ? tidy() : undefined))
    },
    makeRoom: (bytes) =>
      next(async () => {
        const kept = await survey()
        addedSince = 0
        seen = await reduce(kept, Math.max(0, sizeOf(kept) - bytes))
      }),
  }
}
