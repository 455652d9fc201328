import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { assertSavable, FileRootError, openBelow, saveBelow } from './file-roots.ts'

let folder: string
let root: string
let other: string

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'atenea-roots-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  root = join(folder, 'root')
  other = join(folder, 'other')
  for (const path of [root, other, join(root, 'sub'), join(folder, 'root-too')]) mkdirSync(path)
  writeFileSync(join(root, 'a.txt'), 'inside')
  writeFileSync(join(other, 'b.txt'), 'in the other')
  writeFileSync(join(folder, 'secret'), 'outside')
  writeFileSync(join(folder, 'root-too/secret'), 'outside')
})

async function readBelow(roots: readonly string[], path: string): Promise<string> {
  await using file = await openBelow(roots, path)
  return await file.handle.readFile('utf8')
}

async function* chunks(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text)
}

describe('reading', () => {
  test('relative paths are below the first root, absolute ones below any', async () => {
    expect(await readBelow([root, other], 'a.txt')).toBe('inside')
    expect(await readBelow([root, other], './sub/../a.txt')).toBe('inside')
    expect(await readBelow([root, other], join(other, 'b.txt'))).toBe('in the other')
  })

  test.each([
    ['a step up', () => '../secret'],
    ['an absolute path', () => join(folder, 'secret')],
    ['a folder that begins alike', () => join(folder, 'root-too/secret')],
    ['the same, by steps', () => '../root-too/secret'],
    ['what does not exist', () => '../nothing'],
  ])('%s leads outside, and whether something is there is not told', async (_what, path) => {
    await expect(readBelow([root], path())).rejects.toThrow(/does not lie below a folder/)
  })

  test('links are followed below a root and not out of it', async () => {
    symlinkSync(join(root, 'a.txt'), join(root, 'good'))
    symlinkSync(join(other, 'b.txt'), join(root, 'across'))
    symlinkSync(join(folder, 'secret'), join(root, 'bad'))
    symlinkSync(folder, join(root, 'up'))
    symlinkSync(join(folder, 'nothing'), join(root, 'dangling'))
    expect(await readBelow([root], 'good')).toBe('inside')
    expect(await readBelow([root, other], 'across')).toBe('in the other')
    for (const path of ['bad', 'up/secret', 'across']) {
      await expect(readBelow([root], path), path).rejects.toThrow(/does not lie below a folder/)
    }
    await expect(readBelow([root], 'dangling')).rejects.toThrow(FileRootError)
  })

  test('only regular files, and a pipe keeps nobody waiting', async () => {
    execFileSync('mkfifo', [join(root, 'pipe')])
    for (const path of ['pipe', 'sub', '.']) await expect(readBelow([root], path), path).rejects.toThrow(FileRootError)
  })

  test('without a root, and for text that is no path, it says so', async () => {
    await expect(readBelow([], 'a.txt')).rejects.toThrow(/--file-root/)
    for (const path of ['', 'a\0b']) await expect(readBelow([root], path)).rejects.toThrow(/empty or holds a NUL/)
    await expect(readBelow([root], 'nothing')).rejects.toThrow(/does not exist/)
    await expect(readBelow([root], 'x'.repeat(300))).rejects.toThrow(/too long a name/)
  })
})

describe('saving', () => {
  test('writes a new file whole and tells where', async () => {
    expect(await saveBelow([root], 'sub/new', chunks('one ', 'two'))).toBe(join(root, 'sub/new'))
    expect(readFileSync(join(root, 'sub/new'), 'utf8')).toBe('one two')
  })

  test('replaces nothing, also not what a link points to', async () => {
    symlinkSync(join(folder, 'fresh'), join(root, 'link'))
    for (const path of ['a.txt', 'sub', 'link']) {
      await expect(saveBelow([root], path, chunks('x')), path).rejects.toThrow(/nothing is overwritten/)
    }
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('inside')
    expect(existsSync(join(folder, 'fresh'))).toBe(false)
  })

  test('leads nowhere outside', async () => {
    symlinkSync(folder, join(root, 'up'))
    for (const path of ['../x', join(folder, 'x'), 'up/x', '.']) {
      await expect(saveBelow([root], path, chunks('x')), path).rejects.toThrow(FileRootError)
    }
    await expect(saveBelow([root], 'missing/x', chunks('x'))).rejects.toThrow(/does not exist/)
    expect(readdirSync(folder).sort()).toEqual(['other', 'root', 'root-too', 'secret'])
  })

  test('a folder that is swapped for a link while the file is written takes it nowhere else', async () => {
    const outside = join(folder, 'outside')
    mkdirSync(outside)
    const before = statSync(outside, { bigint: true }).mtimeNs
    async function* swapping(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('one')
      renameSync(join(root, 'sub'), join(root, 'moved'))
      symlinkSync(outside, join(root, 'sub'))
      yield Buffer.from('two')
      await Promise.resolve()
    }
    await expect(saveBelow([root], 'sub/new', swapping())).rejects.toThrow(FileRootError)
    expect([statSync(outside, { bigint: true }).mtimeNs, readdirSync(join(root, 'moved'))]).toEqual([before, []])
  })

  // Only Linux can name an open folder.
  test.runIf(process.platform === 'linux')(
    'nothing is ever made outside, whoever wins a race for the folder',
    async () => {
      const outside = join(folder, 'outside')
      mkdirSync(outside)
      const before = statSync(outside, { bigint: true }).mtimeNs
      let isLink = false
      const swap = (): void => {
        if (isLink) {
          unlinkSync(join(root, 'sub'))
          renameSync(join(root, 'moved'), join(root, 'sub'))
        } else {
          renameSync(join(root, 'sub'), join(root, 'moved'))
          symlinkSync(outside, join(root, 'sub'))
        }
        isLink = !isLink
      }
      for (let attempt = 0; attempt < 300; attempt++) {
        // after another number of turns each time
        let turns = (attempt * 7) % 200
        const racing = new Promise<void>((resolve) => {
          const turn = (): void => {
            if (turns-- > 0) setImmediate(turn)
            else {
              swap()
              resolve()
            }
          }
          turn()
        })
        const outcome = saveBelow([root], `sub/${attempt}`, chunks('x')).then(
          () => undefined,
          (error: unknown) => expect(error).toBeInstanceOf(FileRootError),
        )
        await Promise.all([racing, outcome])
        if (isLink) swap()
      }
      expect(await saveBelow([root], 'sub/quiet', chunks('x'))).toBe(join(root, 'sub/quiet'))
      expect(statSync(outside, { bigint: true }).mtimeNs).toBe(before)
    },
  )

  test('whether it can be saved is told before', async () => {
    await expect(assertSavable([root], 'sub/new')).resolves.toBeUndefined()
    for (const path of ['a.txt', '../x', 'missing/x', '.']) {
      await expect(assertSavable([root], path), path).rejects.toThrow(FileRootError)
    }
    await expect(assertSavable([], 'x')).rejects.toThrow(/--file-root/)
  })

  test('a source that breaks off leaves nothing behind', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('begun')
      throw new Error('stopped')
    }
    await expect(saveBelow([root], 'half', broken())).rejects.toThrow('stopped')
    expect(readdirSync(root).sort()).toEqual(['a.txt', 'sub'])
  })

  test('of two who save under one name, one wins, and its file is whole', async () => {
    const saved = await Promise.allSettled(
      Array.from({ length: 8 }, (_, n) => saveBelow([root], 'one', chunks(...Array<string>(50).fill(String(n))))),
    )
    expect(saved.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(readFileSync(join(root, 'one'), 'utf8')).toMatch(/^(\d)\1{49}$/)
    expect(readdirSync(root).sort()).toEqual(['a.txt', 'one', 'sub'])
  })
})
