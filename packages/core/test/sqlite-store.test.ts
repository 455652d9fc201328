import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Diagnostic } from '@atenea/mcpcompat'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type CreateSqliteStoreOptions, createSqliteStore } from '../src/sqlite.ts'
import { openDatabase } from '../src/workflows/node-sqlite.ts'
import { type OwnedWorkflows, createWorkflows } from '../src/workflows/workflows.ts'
import { type Counter, counterOf, nextCounter, zero } from './_util/counter.ts'

let folder = ''
let path = ''
const cleanups: (() => unknown)[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'atenea-sqlite-'))
  path = join(folder, 'workflows.db')
})

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  rmSync(folder, { recursive: true, force: true })
})

interface Opened {
  readonly workflows: OwnedWorkflows
  readonly diagnostics: Diagnostic[]
  readonly close: () => PromiseLike<void>
}

/** The workflows that the child processes work on as well. */
function open(options: CreateSqliteStoreOptions = {}): Opened {
  const diagnostics: Diagnostic[] = []
  const store = createSqliteStore(path, { onDiagnostic: (diagnostic) => diagnostics.push(diagnostic), ...options })
  const close = (): PromiseLike<void> => store[Symbol.asyncDispose]()
  cleanups.push(close)
  return { workflows: createWorkflows({ store }).of({ id: 'local', authenticated: true }, 'count'), diagnostics, close }
}

interface Child {
  readonly process: ChildProcess
  readonly lines: string[]
  /** Exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>
}

function start(action: string, argument: string): Child {
  const script = fileURLToPath(new URL('_util/workflow-child.ts', import.meta.url))
  const child = spawn(process.execPath, [script, path, action, argument], { stdio: ['ignore', 'pipe', 'inherit'] })
  cleanups.push(() => child.kill('SIGKILL'))
  const lines: string[] = []
  const reading = once(
    createInterface(child.stdout).on('line', (line) => lines.push(line)),
    'close',
  )
  const ended = once(child, 'exit').then(async ([code, signal]: unknown[]) => {
    await reading
    return (code ?? signal) as number | string
  })
  return { process: child, lines, ended }
}

async function until(condition: () => boolean): Promise<void> {
  await vi.waitUntil(condition, { timeout: 15_000, interval: 1 })
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms))
}

/** Files that were put aside, without what belongs to them. */
function setAside(): string[] {
  return readdirSync(folder).filter((name) => /\.bad-\d{8}T\d{6}Z(?:-\d+)?$/.test(name))
}

/** A sound file with some workflows in it, closed. */
async function makeSoundFile(): Promise<void> {
  const { workflows, close } = open()
  for (let count = 0; count < 40; count++) await workflows.create(counterOf(count))
  await close()
}

describe('F20: processes that die', () => {
  test('nothing acknowledged is lost and nothing is torn when a writer is killed, and the work can go on', {
    timeout: 60_000,
  }, async () => {
    const first = open()
    const { id } = await first.workflows.create(zero)
    await first.close()
    let acknowledged = 0
    for (let round = 0; round < 6; round++) {
      const child = start('count-for-ever', id)
      await until(() => child.lines.length >= 10)
      await pause(Math.random() * 20)
      child.process.kill('SIGKILL')
      expect(await child.ended).toBe('SIGKILL')
      acknowledged = Number(child.lines.at(-1))

      const { workflows, diagnostics, close } = open()
      const { state, version } = await workflows.load(id)
      const { count } = state as Counter
      expect(count).toBeGreaterThanOrEqual(acknowledged)
      expect(count).toBeLessThanOrEqual(acknowledged + 1)
      expect(version).toBe(count + 1)
      expect(state).toEqual(counterOf(count))
      expect((await workflows.modify(id, (seen) => nextCounter(seen as Counter))).version).toBe(count + 2)
      expect(diagnostics).toEqual([])
      await close()
    }
    expect(acknowledged).toBeGreaterThan(60)
    expect(setAside()).toEqual([])
  })

  test('a process that is killed while it makes the file leaves one that works', { timeout: 60_000 }, async () => {
    for (let round = 0; round < 8; round++) {
      const child = start('create', '0')
      await pause(40 + round * 8)
      child.process.kill('SIGKILL')
      await child.ended
      const { workflows, diagnostics, close } = open()
      await workflows.create(1)
      for (const id of child.lines) expect((await workflows.load(id)).state).toBe('0')
      expect(diagnostics).toEqual([])
      await close()
      for (const name of readdirSync(folder)) rmSync(join(folder, name))
    }
  })
})

describe('F20: several processes on one file', () => {
  test('two count to two hundred together', { timeout: 60_000 }, async () => {
    const { workflows } = open()
    const { id } = await workflows.create(zero)
    const children = [start('count', id), start('count', id)]
    for (const child of children) expect(await child.ended).toBe(0)
    const { state, version } = await workflows.load(id)
    expect(state).toEqual(counterOf(200))
    expect(version).toBe(201)
    expect(setAside()).toEqual([])
  })

  test('three that open one bad file in the same moment put it aside once, and lose nothing of each other', {
    timeout: 60_000,
  }, async () => {
    for (let round = 0; round < 8; round++) {
      writeFileSync(path, 'not a database, but somebody may want it back\n'.repeat(100))
      const moment = String(Date.now() + 150)
      const children = [start('create', moment), start('create', moment), start('create', moment)]
      for (const child of children) expect(await child.ended).toBe(0)
      const lines = children.flatMap((child) => child.lines)
      expect(lines.filter((line) => line === 'workflow-store-set-aside')).toHaveLength(1)
      expect(setAside()).toHaveLength(1)
      const { workflows, close } = open()
      const ids = lines.filter((line) => line.startsWith('wf_'))
      expect(ids).toHaveLength(3)
      for (const id of ids) expect((await workflows.load(id)).state).toBe(moment)
      await close()
      for (const name of readdirSync(folder)) rmSync(join(folder, name))
    }
  })

  test('twenty parallel changes of two stores in one process are all kept', async () => {
    const [one, two] = [open().workflows, open().workflows]
    const { id } = await one.create(zero)
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        (n % 2 === 0 ? one : two).modify(id, (seen) => nextCounter(seen as Counter)),
      ),
    )
    expect(await two.load(id)).toMatchObject({ state: counterOf(20), version: 21 })
  })

  test('a lock of somebody else is waited for without blocking, and not for ever', async () => {
    const { workflows } = open({ busyTimeoutMs: 300 })
    const { id } = await workflows.create(1)
    const other = openDatabase(path)
    cleanups.push(() => other.close())
    other.exec('BEGIN IMMEDIATE')
    let turns = 0
    const timer = setInterval(() => turns++, 10)
    await expect(workflows.modify(id, () => 2)).rejects.toMatchObject({
      name: 'WorkflowStoreError',
      message: expect.stringContaining('locked'),
    })
    clearInterval(timer)
    expect(turns).toBeGreaterThan(3)
    expect((await workflows.load(id)).state).toBe(1)

    const reason = new Error('cancelled')
    await expect(workflows.modify(id, () => 2, { signal: abortAfter(20, reason) })).rejects.toBe(reason)

    const waiting = workflows.modify(id, () => 3)
    await pause(50)
    other.exec('COMMIT')
    expect((await waiting).state).toBe(3)
  })
})

function abortAfter(delayMs: number, reason: Error): AbortSignal {
  const controller = new AbortController()
  setTimeout(() => controller.abort(reason), delayMs)
  return controller.signal
}

describe('F20: bad files are put aside and named, never overwritten', () => {
  /** Opens the store on a bad file and tells where the file went. */
  async function openOnBadFile(): Promise<{ readonly movedTo: string; readonly message: string }> {
    const { workflows, diagnostics } = open()
    const { id } = await workflows.create('new')
    expect((await workflows.load(id)).state).toBe('new')
    expect(diagnostics).toHaveLength(1)
    expect(diagnostics[0]).toMatchObject({ level: 'error', code: 'workflow-store-set-aside' })
    const names = setAside()
    expect(names).toHaveLength(1)
    const movedTo = join(folder, names[0] as string)
    const { message } = diagnostics[0] as Diagnostic
    expect(message).toContain(path)
    expect(message).toContain(movedTo)
    return { movedTo, message }
  }

  test('a truncated database', async () => {
    await makeSoundFile()
    truncateSync(path, Math.floor(statSync(path).size * 0.6))
    const bytes = readFileSync(path)
    const { movedTo, message } = await openOnBadFile()
    expect(readFileSync(movedTo).equals(bytes)).toBe(true)
    expect(message).toContain('damaged')
  })

  test.each([1, 15, 16, 99, 100, 511, 512, 4095, 4096, 4097, 8192])(
    'a database of which %i bytes are left',
    async (size) => {
      await makeSoundFile()
      truncateSync(path, size)
      const bytes = readFileSync(path)
      const { movedTo } = await openOnBadFile()
      expect(readFileSync(movedTo).equals(bytes)).toBe(true)
    },
  )

  test('a database with garbage in the middle', async () => {
    await makeSoundFile()
    const bytes = readFileSync(path)
    bytes.fill(0xa5, 4096, 20_000)
    writeFileSync(path, bytes)
    const { movedTo } = await openOnBadFile()
    expect(readFileSync(movedTo).equals(bytes)).toBe(true)
  })

  test.each([
    ['text', 'hello\n'],
    ['JSON', '{"workflows":[]}'],
    ['zeros', '\0'.repeat(10_000)],
  ])('a file of %s', async (_, contents) => {
    writeFileSync(path, contents)
    const { movedTo, message } = await openOnBadFile()
    expect(readFileSync(movedTo, 'latin1')).toBe(contents)
    expect(message).toContain('not a SQLite database')
  })

  test.each([0, 0x12345678])('a database of another program (application id %i)', async (applicationId) => {
    const foreign = openDatabase(path)
    foreign.exec(
      `CREATE TABLE theirs (a); INSERT INTO theirs VALUES ('precious'); PRAGMA application_id = ${applicationId}`,
    )
    foreign.close()
    const bytes = readFileSync(path)
    const { movedTo, message } = await openOnBadFile()
    expect(readFileSync(movedTo).equals(bytes)).toBe(true)
    expect(message).toContain('another program')
  })

  test('a database with our mark that lacks our table', async () => {
    await makeSoundFile()
    const database = openDatabase(path)
    database.exec('DROP TABLE workflows')
    database.close()
    const { message } = await openOnBadFile()
    expect(message).toContain('damaged')
  })

  test('an empty database whose log is not: what was committed only there is kept with it', async () => {
    const { workflows } = open()
    await workflows.create('in the log')
    const copy = join(folder, 'copy.db')
    copyFileSync(`${path}-wal`, `${copy}-wal`)
    const log = readFileSync(`${copy}-wal`)
    writeFileSync(copy, '')
    path = copy
    const { movedTo, message } = await openOnBadFile()
    expect(readFileSync(`${movedTo}-wal`).equals(log)).toBe(true)
    expect(message).toContain('log')
  })

  test('an empty file holds nothing, so it is used', async () => {
    writeFileSync(path, '')
    const { workflows, diagnostics } = open()
    await workflows.create(1)
    expect(diagnostics).toEqual([])
    expect(setAside()).toEqual([])
  })

  test('a second bad file does not take the name of the first', async () => {
    for (const contents of ['first', 'second']) {
      writeFileSync(path, contents)
      const { workflows, close } = open()
      await workflows.create(1)
      await close()
    }
    expect(
      setAside()
        .map((name) => readFileSync(join(folder, name), 'utf8'))
        .sort(),
    ).toEqual(['first', 'second'])
  })

  test('a database of a newer version is refused and left alone', async () => {
    await makeSoundFile()
    const database = openDatabase(path)
    database.exec('PRAGMA user_version = 2; PRAGMA wal_checkpoint(TRUNCATE)')
    database.close()
    const bytes = readFileSync(path)
    const { workflows, close } = open()
    await expect(workflows.create(1)).rejects.toMatchObject({
      name: 'WorkflowStoreError',
      message: expect.stringContaining('newer'),
    })
    await close()
    expect(setAside()).toEqual([])
    expect(readFileSync(path).equals(bytes)).toBe(true)
  })
})

describe('the file', () => {
  test('is made with its folder, for its owner only', async () => {
    path = join(folder, 'a', 'b', 'workflows.db')
    const { workflows } = open()
    await workflows.create(1)
    expect(statSync(join(folder, 'a')).mode & 0o777).toBe(0o700)
    for (const suffix of ['', '-wal', '-shm']) expect(statSync(path + suffix).mode & 0o777).toBe(0o600)
  })

  test('keeps what was written, over a close', async () => {
    const first = open()
    const created = await first.workflows.create({ a: [1, '\u0000é🎉\u2028'] })
    await first.close()
    expect(await open().workflows.load(created.id)).toEqual(created)
  })

  test('is not opened before it is used, nor after the store was closed', async () => {
    const { workflows, close } = open()
    expect(readdirSync(folder)).toEqual([])
    await close()
    await expect(workflows.create(1)).rejects.toMatchObject({
      name: 'WorkflowStoreError',
      message: expect.stringContaining('closed'),
    })
    expect(readdirSync(folder)).toEqual([])
  })

  test('that cannot be opened is an error that names it', async () => {
    path = folder
    await expect(open().workflows.create(1)).rejects.toThrow(folder)
  })

  test('needs a Node that has SQLite, and says so', async () => {
    const lookup = vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined)
    cleanups.push(() => lookup.mockRestore())
    await expect(open().workflows.create(1)).rejects.toMatchObject({
      name: 'WorkflowStoreError',
      message: expect.stringContaining('22.13'),
    })
  })
})
