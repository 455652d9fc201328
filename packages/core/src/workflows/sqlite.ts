import type { AbortOptions, OnDiagnostic } from '@atenea/mcpcompat'
import { type SqliteDatabase, type SqliteRow, WorkflowStoreError, sqliteCode, sqliteCodeOf } from './node-sqlite.ts'
import { openStoreFile } from './sqlite-file.ts'
import type { WorkflowKey, WorkflowRecord, WorkflowStore } from './store.ts'

export interface CreateSqliteStoreOptions {
  /** Hears of a bad file that was put aside (`workflow-store-set-aside`), with its old and its new name. */
  readonly onDiagnostic?: OnDiagnostic | undefined
  /** How long to wait for other processes that write to the same file. Default 5,000 ms. */
  readonly busyTimeoutMs?: number | undefined
}

/**
 * Keeps workflows in one SQLite file, which several processes may share. What a method has done survives the death of the
 * process and a power cut. The file is opened on first use, readable by its owner only, its folder made when there is none.
 *
 * A file that is no database, is damaged, or belongs to another program is put aside as `<path>.bad-<time>` and reported, and an
 * empty one takes its place; one of a newer version of this program is refused. Needs Node 22.13; on an older one the methods
 * reject with a `WorkflowStoreError` that says so. Disposing closes the file.
 */
export function createSqliteStore(path: string, options: CreateSqliteStoreOptions = {}): WorkflowStore {
  const { onDiagnostic, busyTimeoutMs = 5_000 } = options
  let opened: Statements | undefined
  let closed = false

  function open(): Statements {
    const database = openStoreFile(path, ({ fault, movedTo }) => {
      onDiagnostic?.({
        level: 'error',
        code: 'workflow-store-set-aside',
        message: `${path} is ${fault}. It was moved to ${movedTo}, and an empty store was started in its place.`,
      })
    })
    return prepare(database)
  }

  /** SQLite works synchronously; only what another process has locked is waited for. */
  async function run<T>(work: (statements: Statements) => T, { signal }: AbortOptions = {}): Promise<T> {
    const deadline = performance.now() + busyTimeoutMs
    for (let waitMs = 2; ; waitMs = Math.min(2 * waitMs, 100)) {
      signal?.throwIfAborted()
      if (closed) throw new WorkflowStoreError(`the workflow store ${path} is closed`)
      try {
        opened ??= open()
        return work(opened)
      } catch (error) {
        if (sqliteCodeOf(error) !== sqliteCode.busy) throw error
        if (performance.now() > deadline) {
          throw new WorkflowStoreError(`${path} has been locked by another process for ${busyTimeoutMs} ms`, {
            cause: error,
          })
        }
      }
      await new Promise((resolve) => setTimeout(resolve, waitMs * (0.5 + Math.random())))
    }
  }

  return {
    insert: (record, limit, options) =>
      run(({ insert }) => {
        const { id, owner, kind, state, version, completed, createdAt, updatedAt, expiresAt } = record
        const values = [id, owner, kind, state, version, completed ? 1 : 0, createdAt, updatedAt, expiresAt]
        return Number(insert.run(...values, owner, createdAt, limit).changes) === 1
      }, options),

    find: (key, now, options) => run(({ find }) => toRecord(find.get(...keyValues(key), now)), options),

    replace: (key, version, change, options) =>
      run(({ replace }) => {
        const { state, completed, updatedAt, expiresAt } = change
        const values = [state, completed ? 1 : 0, updatedAt, expiresAt]
        return toRecord(replace.all(...values, ...keyValues(key), version, updatedAt)[0])
      }, options),

    remove: (key, now, options) =>
      run(({ remove }) => Number(remove.run(...keyValues(key), now).changes) === 1, options),

    prune: (now, options) => run(({ prune }) => void prune.run(now), options),

    async [Symbol.asyncDispose]() {
      closed = true
      opened?.database.close()
      opened = undefined
    },
  }
}

function prepare(database: SqliteDatabase) {
  const isKey = 'id = ? AND owner = ? AND kind = ?'
  return {
    database,
    // Each is one statement, hence one transaction that takes the lock for writing before it reads.
    insert: database.prepare(
      `INSERT INTO workflows SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?
         WHERE (SELECT count(*) FROM workflows WHERE owner = ? AND expires_at > ?) < ?`,
    ),
    find: database.prepare(`SELECT * FROM workflows WHERE ${isKey} AND expires_at > ?`),
    replace: database.prepare(
      `UPDATE workflows SET state = ?, completed = ?, updated_at = ?, expires_at = ?, version = version + 1
         WHERE ${isKey} AND version = ? AND completed = 0 AND expires_at > ? RETURNING *`,
    ),
    remove: database.prepare(`DELETE FROM workflows WHERE ${isKey} AND expires_at > ?`),
    // A thousand at a time, so that no long lock comes of a long rest.
    prune: database.prepare(
      'DELETE FROM workflows WHERE rowid IN (SELECT rowid FROM workflows WHERE expires_at <= ? LIMIT 1000)',
    ),
  }
}

type Statements = ReturnType<typeof prepare>

function keyValues({ id, owner, kind }: WorkflowKey): [string, string, string] {
  return [id, owner, kind]
}

function toRecord(row: SqliteRow | undefined): WorkflowRecord | undefined {
  if (row === undefined) return undefined
  return {
    id: String(row['id']),
    owner: String(row['owner']),
    kind: String(row['kind']),
    state: String(row['state']),
    version: Number(row['version']),
    completed: row['completed'] === 1,
    createdAt: Number(row['created_at']),
    updatedAt: Number(row['updated_at']),
    expiresAt: Number(row['expires_at']),
  }
}
