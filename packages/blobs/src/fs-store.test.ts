import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { open as openFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { collect, idOf, inChunks, someBytes } from '../test/_util/bytes.ts'
import { testFolder } from '../test/_util/folders.ts'
import { storeSuite } from '../test/_util/store-suite.ts'
import type { BlobDiagnostic } from './diagnostics.ts'
import { headerBytes } from './fs-header.ts'
import { layoutOf } from './fs-layout.ts'
import { type FileHandle, type FileSystem, localFiles } from './fs-port.ts'
import { createFsStore, type CreateFsStoreOptions } from './fs-store.ts'
import type { BlobStore } from './store.ts'

storeSuite('a store in files', (maxBytes) =>
  // Each file has a header, which counts: two blobs in this suite fit with theirs, and three do not.
  createFsStore(testFolder(), { maxBytes: maxBytes === undefined ? undefined : maxBytes + 2 * headerBytes }),
)

interface Tested {
  readonly root: string
  readonly store: BlobStore
  readonly told: BlobDiagnostic[]
  readonly fileOf: (id: ReturnType<typeof idOf>) => string
}

function tested(options: CreateFsStoreOptions = {}): Tested {
  const root = testFolder()
  const told: BlobDiagnostic[] = []
  const store = createFsStore(root, { onDiagnostic: (diagnostic) => void told.push(diagnostic), ...options })
  return { root, store, told, fileOf: layoutOf(root).fileOf }
}

/** All files below a folder, as paths from it. */
function filesIn(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort()
}

/** A file system in which calls of an open file can be answered otherwise. */
function filesWith(change: (file: FileHandle) => Partial<Pick<FileHandle, 'write' | 'sync'>>): FileSystem {
  return {
    ...localFiles,
    async open(...args) {
      const file = await localFiles.open(...args)
      return Object.assign(file, change(file))
    },
  }
}

const systemError = (code: string): Error => Object.assign(new Error(`${code}: made up`), { code })

describe('the files', () => {
  test('fan out by the digest, for the own user only, and say what they are', async () => {
    const { root, store } = tested()
    const { bytes, id } = someBytes(1000)
    await store.put(inChunks(bytes), { mimeType: 'image/png' })
    const path = `v1/${id.hex.slice(0, 2)}/${id.hex.slice(2)}`
    expect(filesIn(root)).toEqual([path])
    expect(statSync(join(root, path)).mode & 0o777).toBe(0o600)
    for (const folder of ['v1', 'v1/tmp', `v1/${id.hex.slice(0, 2)}`]) {
      expect(statSync(join(root, folder)).mode & 0o777).toBe(0o700)
    }
    const written = readFileSync(join(root, path))
    expect(written.subarray(0, headerBytes).toString()).toMatch(/^atenea-blob 1 [0-9a-f]{16} image\/png +\n$/)
    expect(written.subarray(headerBytes)).toEqual(bytes)
  })

  test('can be checked by hand with common tools', async () => {
    const { root, store } = tested()
    const { bytes, id } = someBytes(1000)
    await store.put(bytes)
    const [path = ''] = filesIn(root)
    const printed = execFileSync('sh', ['-c', `tail -c +${headerBytes + 1} "$1" | sha256sum`, 'sh', join(root, path)])
    expect(printed.toString().split(' ')[0]).toBe(id.hex)
  })

  test('G4: no path is made of anything but a digest', async () => {
    const { root, store } = tested()
    const forged = { text: 'x', hex: '../../../escaped', digest: new Uint8Array(32) } as never
    await expect(store.open(forged)).rejects.toThrow(TypeError)
    await expect(store.delete(forged)).rejects.toThrow(TypeError)
    expect(existsSync(join(root, '../escaped'))).toBe(false)
  })

  test('are shared with a later process', async () => {
    const { root, store } = tested()
    const { bytes, id } = someBytes(2_000_000)
    await store.put(bytes, { mimeType: 'video/mp4' })
    await using blob = await createFsStore(root).open(id)
    expect([blob.info.mimeType, await collect(blob.read())]).toEqual(['video/mp4', bytes])
  })

  test('may be deleted while the process runs, folders included', async () => {
    const { root, store } = tested()
    const first = someBytes(10)
    await store.put(first.bytes)
    rmSync(join(root, 'v1'), { recursive: true })
    expect(await store.stat(first.id)).toBeUndefined()
    const second = someBytes(10)
    await store.put(second.bytes)
    expect((await store.stat(second.id))?.size).toBe(10)
  })
})

describe('a damaged file', () => {
  const damages: [string, (path: string) => void][] = [
    ['in which one byte of the blob changed', (path) => flip(path, headerBytes + 5)],
    ['in which one byte of the type changed', (path) => flip(path, 'atenea-blob 1 0123456789abcdef im'.length)],
    ['that is cut', (path) => truncateSync(path, headerBytes + 500)],
    ['that is cut within its header', (path) => truncateSync(path, 20)],
    ['that is empty', (path) => truncateSync(path, 0)],
    ['that goes on', (path) => writeFileSync(path, 'more', { flag: 'a' })],
    ['that is another one', (path) => writeFileSync(path, 'x'.repeat(2000))],
  ]

  function flip(path: string, at: number): void {
    const bytes = readFileSync(path)
    bytes[at] = (bytes[at] ?? 0) ^ 1
    writeFileSync(path, bytes)
  }

  const sizes: [string, number][] = [
    ['small', 1000],
    ['large', 3_000_000],
  ]

  describe.each(sizes)('%s', (_name, size) => {
    test.each(damages)('%s is noticed, removed and reported, and can be had again', async (_what, damage) => {
      const { root, store, told, fileOf } = tested()
      const { bytes, id } = someBytes(size)
      await store.put(bytes, { mimeType: 'image/png' })
      damage(fileOf(id))
      await expect(store.open(id)).rejects.toMatchObject({ kind: 'damaged', details: { expected: id.text } })
      expect(filesIn(root)).toEqual([])
      expect(told.map(({ code }) => code)).toEqual(['damaged-blob'])
      await expect(store.open(id)).rejects.toMatchObject({ kind: 'not-stored' })
      await using again = await store.receive(inChunks(bytes, 100_000), { expect: id })
      expect(Buffer.from(await again.bytes())).toEqual(bytes)
    })
  })

  test('whose header is wrong does not count as stored', async () => {
    const { root, store, told, fileOf } = tested()
    const { bytes, id } = someBytes(10)
    await store.put(bytes)
    writeFileSync(fileOf(id), 'not one of ours')
    expect(await store.stat(id)).toBeUndefined()
    expect([filesIn(root), told.length]).toEqual([[], 1])
  })

  test('is replaced by whoever brings the right bytes', async () => {
    const { store, fileOf } = tested()
    const { bytes, id } = someBytes(10)
    await store.put(bytes)
    writeFileSync(fileOf(id), 'not one of ours')
    await store.put(bytes, { mimeType: 'a/b' })
    await using blob = await store.open(id)
    expect([blob.info.mimeType, Buffer.from(await blob.bytes())]).toEqual(['a/b', bytes])
  })

  test('with a sector that cannot be read is damaged too', async () => {
    const { bytes, id } = someBytes(10)
    const { root, store } = tested()
    await store.put(bytes)
    const failing = createFsStore(root, {
      files: {
        ...localFiles,
        async open(...args) {
          const file = await localFiles.open(...args)
          return Object.assign(file, { read: () => Promise.reject(systemError('EIO')) })
        },
      },
    })
    await expect(failing.open(id)).rejects.toMatchObject({ kind: 'damaged' })
    expect(filesIn(root)).toEqual([])
  })

  test('that is changed after it was hashed is noticed before its last byte is handed out', async () => {
    const { store, fileOf } = tested()
    const { bytes, id } = someBytes(3_000_000)
    await store.put(bytes)
    await using blob = await store.open(id)
    const file = await openFile(fileOf(id), 'r+')
    await file.write(Buffer.from('other'), 0, 5, headerBytes + 2_000_000)
    await file.close()
    let given = 0
    const reading = (async () => {
      for await (const chunk of blob.read()) given += chunk.length
    })()
    await expect(reading).rejects.toMatchObject({ kind: 'damaged' })
    expect(given).toBeLessThan(3_000_000)
  })
})

describe('a full disk', () => {
  test('fails the put, leaves nothing of it, and all else as it was', async () => {
    let written = 0
    const full = (file: FileHandle): Partial<Pick<FileHandle, 'write'>> => {
      const write = file.write.bind(file) as (
        ...args: unknown[]
      ) => Promise<{ bytesWritten: number; buffer: Uint8Array }>
      return {
        // As a disk does: the last block takes a part, and the next call says that there is no room.
        write: (async (buffer: Uint8Array, from: number, length: number, at: number) => {
          const room = Math.max(0, 3500 - written)
          if (room === 0) throw systemError('ENOSPC')
          const { bytesWritten } = await write(buffer, from, Math.min(length, room), at)
          written += bytesWritten
          return { bytesWritten, buffer }
        }) as FileHandle['write'],
      }
    }
    const { root, store } = tested({ files: filesWith(full) })
    const kept = someBytes(1000)
    await store.put(inChunks(kept.bytes))
    const { bytes, id } = someBytes(5000)
    await expect(store.put(inChunks(bytes))).rejects.toMatchObject({ kind: 'no-space', retryable: true })
    expect(await store.stat(id)).toBeUndefined()
    expect(filesIn(root)).toHaveLength(1)
    await using blob = await store.open(kept.id)
    expect(Buffer.from(await blob.bytes())).toEqual(kept.bytes)
    written = -100_000
    await store.put(inChunks(bytes))
    expect((await store.stat(id))?.size).toBe(5000)
  })

  test('that is noticed only when the file is synced fails the put too', async () => {
    const { root, store } = tested({ files: filesWith(() => ({ sync: () => Promise.reject(systemError('EDQUOT')) })) })
    await expect(store.put(someBytes(10).bytes)).rejects.toMatchObject({ kind: 'no-space' })
    expect(filesIn(root)).toEqual([])
  })

  test('that the system itself reports fails the put', async (context) => {
    context.skip(!existsSync('/dev/full'), 'needs /dev/full')
    const files: FileSystem = {
      ...localFiles,
      open: (path, flags, mode) =>
        localFiles.open(flags === 'wx+' ? '/dev/full' : path, flags === 'wx+' ? 'r+' : flags, mode),
    }
    const { root, store } = tested({ files })
    await expect(store.put(someBytes(10).bytes)).rejects.toMatchObject({ kind: 'no-space' })
    expect(filesIn(root)).toEqual([])
  })

  test('lets go of what was not used for longest, so that the next put finds room', async () => {
    let isFull = false
    const { root, store } = tested({
      files: filesWith((file) => {
        const write = file.write.bind(file)
        return {
          write: ((...args: Parameters<typeof write>) =>
            isFull ? Promise.reject(systemError('ENOSPC')) : write(...args)) as FileHandle['write'],
        }
      }),
    })
    for (let count = 0; count < 5; count++) await store.put(someBytes(1000).bytes)
    isFull = true
    await expect(store.put(someBytes(1000).bytes)).rejects.toMatchObject({ kind: 'no-space' })
    expect(filesIn(root).length).toBeLessThan(5)
  })

  test('a write that takes only a part of the bytes is continued', async () => {
    const { store } = tested({
      files: filesWith((file) => {
        const write = file.write.bind(file) as (...args: unknown[]) => Promise<unknown>
        return {
          write: ((buffer: Uint8Array, from: number, length: number, at: number) =>
            write(buffer, from, Math.min(length, 7), at)) as FileHandle['write'],
        }
      }),
    })
    const { bytes, id } = someBytes(3000)
    await store.put(inChunks(bytes))
    await using blob = await store.open(id)
    expect(Buffer.from(await blob.bytes())).toEqual(bytes)
  })
})

describe('a store that cannot be used', () => {
  test('says so with the code of the system', async () => {
    const root = testFolder()
    writeFileSync(join(root, 'v1'), 'a file where a folder should be')
    const store = createFsStore(root)
    await expect(store.put(someBytes(10).bytes)).rejects.toMatchObject({
      kind: 'storage',
      message: expect.stringMatching(/ENOTDIR|EEXIST/),
    })
    await expect(store.open(someBytes(10).id)).rejects.toMatchObject({ kind: 'storage' })
  })

  test('leaves no temporary file when a name cannot be given', async () => {
    const { root, store } = tested({ files: { ...localFiles, rename: () => Promise.reject(systemError('EACCES')) } })
    await expect(store.put(someBytes(10).bytes)).rejects.toMatchObject({ kind: 'storage' })
    expect(filesIn(root)).toEqual([])
  })

  test('on Windows, where a file that is read cannot be replaced, the one that is there stays', async () => {
    const { root, store } = tested()
    const { bytes, id } = someBytes(10)
    await store.put(bytes)
    const refusing = createFsStore(root, {
      files: { ...localFiles, rename: () => Promise.reject(systemError('EPERM')) },
    })
    expect((await refusing.put(bytes)).id).toEqual(id)
    expect(filesIn(root)).toHaveLength(1)
  })
})

describe('keeping order', () => {
  test('files that are used stay, the others go, and the limit holds over many puts', async () => {
    const { root, store } = tested({ maxBytes: 20 * (1000 + headerBytes) })
    const used = someBytes(1000)
    await store.put(used.bytes)
    for (let count = 0; count < 60; count++) {
      await (await store.open(used.id))[Symbol.asyncDispose]()
      await store.put(someBytes(1000).bytes)
      expect(filesIn(root).length).toBeLessThanOrEqual(20)
    }
    expect(filesIn(root).length).toBeGreaterThan(10)
    expect((await store.stat(used.id))?.size).toBe(1000)
  })

  test('what other processes add is seen before long', async () => {
    const { root, store } = tested({ maxBytes: 40 * (1000 + headerBytes) })
    const other = createFsStore(root, { maxBytes: Number.MAX_SAFE_INTEGER })
    await store.put(someBytes(1000).bytes)
    for (let count = 0; count < 60; count++) await other.put(someBytes(1000).bytes)
    for (let count = 0; count < 6; count++) await store.put(someBytes(1000).bytes)
    expect(filesIn(root).length).toBeLessThanOrEqual(40)
  })

  test('temporary files that nobody has written to for long are cleared, others and foreign files are not', async () => {
    const root = testFolder()
    const { temporary, top } = layoutOf(root)
    mkdirSync(temporary, { recursive: true })
    for (const name of ['old', 'new']) writeFileSync(join(temporary, name), name)
    writeFileSync(join(top, 'README'), 'of the user')
    utimesSync(join(temporary, 'old'), new Date(0), new Date(Date.now() - 61 * 60 * 1000))
    const { bytes, id } = someBytes(10)
    await createFsStore(root).put(bytes)
    expect(filesIn(root)).toEqual(['v1/README', `v1/${id.hex.slice(0, 2)}/${id.hex.slice(2)}`, 'v1/tmp/new'].sort())
  })

  test('what cannot be removed is reported and fails no put', async () => {
    const { store, told } = tested({
      maxBytes: 3000,
      files: { ...localFiles, unlink: () => Promise.reject(systemError('EACCES')) },
    })
    for (let count = 0; count < 4; count++) await store.put(someBytes(1000).bytes)
    expect(new Set(told.map(({ code }) => code))).toEqual(new Set(['cache-trouble']))
  })

  test('a listener that throws changes nothing', async () => {
    const root = testFolder()
    const store = createFsStore(root, {
      maxBytes: 100,
      onDiagnostic: () => {
        throw new Error('listener')
      },
    })
    expect((await store.put(someBytes(1000).bytes)).size).toBe(1000)
  })
})

test('nothing stays open: neither what was read, nor what failed', async () => {
  const { store, fileOf } = tested()
  const openNow = (): number => readdirSync('/proc/self/fd').length
  const before = openNow()
  const { bytes, id } = someBytes(3_000_000)
  for (let count = 0; count < 5; count++) {
    await store.put(bytes)
    await using received = await store.receive(bytes)
    for await (const _ of received.read()) break
    await using opened = await store.open(id)
    for await (const _ of opened.read()) break
    await store.stat(id)
    await expect(store.put(inChunks(bytes), { expect: idOf('x') })).rejects.toMatchObject({ kind: 'mismatch' })
    await expect(store.put(inChunks(bytes), { maxBytes: 1 })).rejects.toMatchObject({ kind: 'too-large' })
  }
  chmodSync(fileOf(id), 0o600)
  truncateSync(fileOf(id), 1_000_000)
  await expect(store.open(id)).rejects.toMatchObject({ kind: 'damaged' })
  expect(openNow()).toBeLessThanOrEqual(before + 1)
})
