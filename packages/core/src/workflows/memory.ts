import type { WorkflowKey, WorkflowRecord, WorkflowStore } from './store.ts'

/** Keeps workflows in this process: for tests, and for those that need not survive a restart. */
export function createMemoryStore(): WorkflowStore {
  const records = new Map<string, WorkflowRecord>()

  function live({ id, owner, kind }: WorkflowKey, now: number): WorkflowRecord | undefined {
    const record = records.get(id)
    return record?.owner === owner && record.kind === kind && record.expiresAt > now ? record : undefined
  }

  return {
    async insert(record, limit) {
      let owned = 0
      for (const { owner, expiresAt } of records.values()) {
        if (owner === record.owner && expiresAt > record.createdAt) owned++
      }
      if (owned >= limit) return false
      records.set(record.id, record)
      return true
    },

    async find(key, now) {
      return live(key, now)
    },

    async replace(key, version, change) {
      const record = live(key, change.updatedAt)
      if (record === undefined || record.version !== version || record.completed) return undefined
      const next: WorkflowRecord = { ...record, ...change, version: version + 1 }
      records.set(key.id, next)
      return next
    },

    async remove(key, now) {
      return live(key, now) !== undefined && records.delete(key.id)
    },

    async prune(now) {
      for (const { id, expiresAt } of records.values()) if (expiresAt <= now) records.delete(id)
    },

    async [Symbol.asyncDispose]() {
      records.clear()
    },
  }
}
