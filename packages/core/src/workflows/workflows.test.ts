import type { JsonValue, Principal } from '@atenea/mcpcompat'
import { describe, expect, test } from 'vitest'
import { createMemoryStore } from './memory.ts'
import {
  type CreateWorkflowsOptions,
  type OwnedWorkflows,
  WorkflowConflictError,
  WorkflowLimitError,
  WorkflowNotFoundError,
  createWorkflows,
} from './workflows.ts'

const alice: Principal = { id: 'alice', authenticated: true }
const bob: Principal = { id: 'bob', authenticated: true }

function open(options: Partial<CreateWorkflowsOptions> = {}): OwnedWorkflows {
  return createWorkflows({ store: createMemoryStore(), ...options }).of(alice, 'upload')
}

/** What happened, told as a caller would see it. */
async function failure(attempt: Promise<unknown>): Promise<Error> {
  const error: unknown = await attempt.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof Error)) throw new Error('it did not fail')
  return error
}

describe('createWorkflows', () => {
  test('creates, loads, updates and completes under one id', async () => {
    let time = 1_000
    const workflows = open({ now: () => time, ttlMs: 500 })
    const created = await workflows.create({ chunks: [] })
    expect(created).toMatchObject({
      state: { chunks: [] },
      version: 1,
      completed: false,
      createdAt: 1_000,
      updatedAt: 1_000,
      expiresAt: 1_500,
    })
    time = 1_400
    const updated = await workflows.update(created, { chunks: [1] })
    expect(updated).toMatchObject({ id: created.id, version: 2, createdAt: 1_000, updatedAt: 1_400, expiresAt: 1_900 })
    const completed = await workflows.complete(updated, { cid: 'x' }, { ttlMs: 5_000 })
    expect(completed).toMatchObject({ state: { cid: 'x' }, version: 3, completed: true, expiresAt: 6_400 })
    expect(await workflows.load(created.id)).toEqual(completed)
  })

  test('ids have at least 128 random bits and never repeat', async () => {
    const workflows = open()
    const ids = new Set<string>()
    for (let count = 0; count < 500; count++) ids.add((await workflows.create(null)).id)
    expect(ids.size).toBe(500)
    for (const id of ids) expect(id).toMatch(/^wf_[0-9a-f]{40}$/)
  })

  test('an unknown, foreign, expired or ended workflow and one of another kind are one and the same error', async () => {
    let time = 0
    const all = createWorkflows({ store: createMemoryStore(), now: () => time })
    const [mine, theirs, other] = [all.of(alice, 'upload'), all.of(bob, 'upload'), all.of(alice, 'other')]
    const [foreign, expired, ended, wrongKind] = [
      await theirs.create(1),
      await mine.create(1, { ttlMs: 10 }),
      await mine.create(1),
      await other.create(1),
    ]
    await mine.expire(ended.id)
    time = 10
    const errors: Error[] = []
    for (const id of ['wf_0', '', '__proto__', foreign.id, expired.id, ended.id, wrongKind.id]) {
      errors.push(await failure(mine.load(id)))
      errors.push(await failure(mine.update({ id, version: 1 }, 2)))
      errors.push(await failure(mine.complete({ id, version: 1 }, 2)))
      errors.push(await failure(mine.modify(id, () => 2)))
      errors.push(await failure(mine.expire(id)))
    }
    for (const error of errors) expect(error).toBeInstanceOf(WorkflowNotFoundError)
    expect(new Set(errors.map(({ message }) => message)).size).toBe(1)
    expect(await theirs.load(foreign.id)).toEqual(foreign)
  })

  test('an update of a version that is not the newest is a conflict', async () => {
    const workflows = open()
    const seen = await workflows.create(1)
    await workflows.update(seen, 2)
    expect(await failure(workflows.update(seen, 3))).toMatchObject({ name: 'WorkflowConflictError', completed: false })
    expect(await failure(workflows.complete(seen, 3))).toBeInstanceOf(WorkflowConflictError)
    expect((await workflows.load(seen.id)).state).toBe(2)
  })

  test('a completed workflow cannot be changed any more', async () => {
    const workflows = open()
    const completed = await workflows.complete(await workflows.create(1), 'done')
    for (const attempt of [
      workflows.update(completed, 2),
      workflows.complete(completed, 2),
      workflows.modify(completed.id, () => 2),
    ]) {
      expect(await failure(attempt)).toMatchObject({ name: 'WorkflowConflictError', completed: true })
    }
    expect((await workflows.load(completed.id)).state).toBe('done')
  })

  test('F20: twenty parallel changes are all kept', async () => {
    const workflows = open()
    const { id } = await workflows.create([])
    const add =
      (n: number) =>
      async (state: JsonValue): Promise<JsonValue> => {
        await new Promise((resolve) => setTimeout(resolve, n % 3))
        return [...(state as number[]), n]
      }
    await Promise.all(Array.from({ length: 20 }, (_, n) => workflows.modify(id, add(n))))
    const { state, version } = await workflows.load(id)
    expect(version).toBe(21)
    expect([...(state as number[])].sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => n))
  })

  test('a change that throws changes nothing, and its error comes through, even when it is a conflict of another workflow', async () => {
    const workflows = open()
    const { id } = await workflows.create(1)
    const error = new WorkflowConflictError(false)
    let ran = 0
    const failing = (): never => {
      ran++
      throw error
    }
    await expect(workflows.modify(id, failing)).rejects.toBe(error)
    expect(ran).toBe(1)
    expect(await workflows.load(id)).toMatchObject({ state: 1, version: 1 })
  })

  test('an abort ends the changing', async () => {
    const workflows = open()
    const { id } = await workflows.create(1)
    const reason = new Error('cancelled')
    await expect(workflows.modify(id, () => 2, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect((await workflows.load(id)).state).toBe(1)
  })

  test('limits hold: workflows of an owner, bytes of a state, time to live', async () => {
    const workflows = open({ maxPerOwner: 2, maxStateBytes: 10 })
    const first = await workflows.create('12345678')
    await workflows.create('ééé')
    expect(await failure(workflows.create(1))).toBeInstanceOf(WorkflowLimitError)
    await workflows.expire(first.id)
    expect(await failure(workflows.create('123456789'))).toBeInstanceOf(WorkflowLimitError)
    expect(await failure(workflows.create('ééééé'))).toBeInstanceOf(WorkflowLimitError)
    const last = await workflows.create('')
    expect(await failure(workflows.update(last, '123456789'))).toBeInstanceOf(WorkflowLimitError)
    for (const ttlMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(await failure(workflows.update(last, '', { ttlMs }))).toBeInstanceOf(RangeError)
    }
  })

  test('what has expired is forgotten by and by', async () => {
    let time = 100_000
    const store = createMemoryStore()
    const workflows = createWorkflows({ store, now: () => time, ttlMs: 1_000 }).of(alice, 'upload')
    const { id } = await workflows.create(1)
    time += 61_000
    await workflows.create(2)
    expect(await store.find({ id, owner: 'alice', kind: 'upload' }, 0)).toBeUndefined()
  })

  test('E13: states and ids with prototype names are data', async () => {
    const workflows = open()
    const state = JSON.parse('{"__proto__":{"admin":true},"constructor":1}') as JsonValue
    const loaded = await workflows.load((await workflows.create(state)).id)
    expect(Object.keys(loaded.state as object)).toEqual(['__proto__', 'constructor'])
    expect((loaded.state as { admin?: unknown }).admin).toBeUndefined()
  })
})
