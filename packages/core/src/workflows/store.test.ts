import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { createMemoryStore } from './memory.ts'
import { createSqliteStore } from './sqlite.ts'
import type { WorkflowRecord, WorkflowStore } from './store.ts'

const record: WorkflowRecord = {
  id: 'wf_1',
  owner: 'alice',
  kind: 'upload',
  state: '{"a":"\u2028é🎉"}',
  version: 1,
  completed: false,
  createdAt: 1_000,
  updatedAt: 1_000,
  expiresAt: 2_000,
}
const key = { id: record.id, owner: record.owner, kind: record.kind }
const change = { state: '2', completed: false, updatedAt: 1_500, expiresAt: 3_000 }

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

function sqliteStore(): WorkflowStore {
  const folder = mkdtempSync(join(tmpdir(), 'atenea-store-'))
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }))
  return createSqliteStore(join(folder, 'workflows.db'))
}

describe.each([
  ['memory', createMemoryStore],
  ['SQLite', sqliteStore],
])('the %s store', (_, create) => {
  function open(): WorkflowStore {
    const store = create()
    cleanups.push(() => store[Symbol.asyncDispose]())
    return store
  }

  test('finds what was inserted, by all three parts of its key and before it expires', async () => {
    const store = open()
    expect(await store.insert(record, 10)).toBe(true)
    expect(await store.find(key, 1_999)).toEqual(record)
    expect(await store.find(key, 2_000)).toBeUndefined()
    for (const foreign of [
      { id: 'wf_2' },
      { owner: 'bob' },
      { owner: 'ALICE' },
      { kind: 'other' },
      { id: '__proto__' },
    ]) {
      expect(await store.find({ ...key, ...foreign }, 1_000)).toBeUndefined()
    }
  })

  test('replaces exactly the version that was named', async () => {
    const store = open()
    await store.insert(record, 10)
    const next = { ...record, ...change, version: 2 }
    expect(await store.replace(key, 2, change)).toBeUndefined()
    expect(await store.replace({ ...key, owner: 'bob' }, 1, change)).toBeUndefined()
    expect(await store.replace(key, 1, change)).toEqual(next)
    expect(await store.replace(key, 1, change)).toBeUndefined()
    expect(await store.find(key, 2_999)).toEqual(next)
  })

  test('replaces nothing that is completed or expired', async () => {
    const store = open()
    await store.insert(record, 10)
    expect(await store.replace(key, 1, { ...change, updatedAt: 2_000 })).toBeUndefined()
    expect(await store.replace(key, 1, { ...change, completed: true })).toMatchObject({ version: 2, completed: true })
    expect(await store.replace(key, 2, change)).toBeUndefined()
  })

  test('removes what is there, for its owner', async () => {
    const store = open()
    await store.insert(record, 10)
    expect(await store.remove({ ...key, owner: 'bob' }, 1_000)).toBe(false)
    expect(await store.remove(key, 2_000)).toBe(false)
    expect(await store.remove(key, 1_000)).toBe(true)
    expect(await store.remove(key, 1_000)).toBe(false)
    expect(await store.find(key, 1_000)).toBeUndefined()
  })

  test('holds an owner to the limit, counting what lives and nobody else', async () => {
    const store = open()
    expect(await store.insert(record, 2)).toBe(true)
    expect(await store.insert({ ...record, id: 'wf_2', kind: 'other' }, 2)).toBe(true)
    expect(await store.insert({ ...record, id: 'wf_3' }, 2)).toBe(false)
    expect(await store.find({ ...key, id: 'wf_3' }, 1_000)).toBeUndefined()
    expect(await store.insert({ ...record, id: 'wf_4', owner: 'bob' }, 2)).toBe(true)
    expect(await store.insert({ ...record, id: 'wf_5', createdAt: 2_000, expiresAt: 3_000 }, 2)).toBe(true)
  })

  test('prunes what has expired and nothing else', async () => {
    const store = open()
    await store.insert(record, 10)
    await store.insert({ ...record, id: 'wf_2', expiresAt: 2_001 }, 10)
    await store.prune(2_000)
    expect(await store.find(key, 0)).toBeUndefined()
    expect(await store.find({ ...key, id: 'wf_2' }, 0)).toBeDefined()
  })

  test('lets one of many that replace the same version win', async () => {
    const store = open()
    await store.insert(record, 10)
    const results = await Promise.all(
      Array.from({ length: 20 }, (_entry, n) => store.replace(key, 1, { ...change, state: String(n) })),
    )
    const won = results.filter((result) => result !== undefined)
    expect(won).toHaveLength(1)
    expect(await store.find(key, 1_500)).toEqual(won[0])
  })
})
