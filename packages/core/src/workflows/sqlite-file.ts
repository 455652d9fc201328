import { closeSync, existsSync, mkdirSync, openSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { type SqliteDatabase, WorkflowStoreError, openDatabase, sqliteCode, sqliteCodeOf } from './node-sqlite.ts'

/** Why a file cannot be used as it is. Whatever it holds is somebody's, so it is moved and never written. */
export type FileFault =
  | 'not a SQLite database'
  | 'damaged'
  | 'a database of another program'
  | 'empty, though its log is not'

export interface SetAside {
  readonly fault: FileFault
  /** Where the file is now, with what belongs to it (`-wal`, `-shm`, `-journal`) beside it. */
  readonly movedTo: string
}

/** "AtnW" in the header of the file tells our databases from those of other programs. */
const applicationId = 0x41746e57
const schemaVersion = 1
/** Longest time for which SQLite itself may block the process; longer locks are waited for without blocking. */
const blockingWaitMs = 20

/**
 * Opens the database of a store, and makes it when there is none. A bad file is put aside under a name that tells so, and a
 * new one takes its place. Throws SQLite's error when another process holds a lock; then it can be tried again.
 */
export function openStoreFile(path: string, onSetAside: (aside: SetAside) => void): SqliteDatabase {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const opened = openSound(path)
  if (typeof opened !== 'string') return opened
  // Two processes that find the same bad file must not both move what is at that path: the second would move the new one.
  return underLock(`${path}.lock`, () => {
    const reopened = openSound(path)
    if (typeof reopened !== 'string') return reopened
    onSetAside({ fault: reopened, movedTo: putAside(path) })
    const fresh = openSound(path)
    if (typeof fresh === 'string') throw new WorkflowStoreError(`${path} was replaced by something that is ${fresh}`)
    return fresh
  })
}

function openSound(path: string): SqliteDatabase | FileFault {
  closeSync(openSync(path, 'a', 0o600)) // SQLite would let everyone read what it creates
  const { size } = statSync(path)
  // SQLite takes one byte for an empty database and would write over it. Of an empty one it deletes the log, and what was committed
  // only there would be gone.
  if (size === 1) return 'not a SQLite database'
  if (size === 0 && (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) {
    return 'empty, though its log is not'
  }
  const database = openDatabase(path)
  try {
    database.exec(`PRAGMA busy_timeout = ${blockingWaitMs}`)
    const fault = claim(database, path)
    if (fault === undefined) return database
    database.close()
    return fault
  } catch (error) {
    database.close()
    const code = sqliteCodeOf(error)
    if (code === sqliteCode.notADatabase) return 'not a SQLite database'
    if (code === sqliteCode.corrupt) return 'damaged'
    throw error
  }
}

/** Makes sure that the database is ours and whole, making our tables in one that holds nothing yet. */
function claim(database: SqliteDatabase, path: string): FileFault | undefined {
  if (isBlank(database)) initialize(database)
  if (readNumber(database, 'PRAGMA application_id') !== applicationId) return 'a database of another program'
  const version = readNumber(database, 'PRAGMA user_version')
  if (version > schemaVersion) {
    throw new WorkflowStoreError(
      `${path} was written by a newer version of this program (format ${version}, this one reads ${schemaVersion}). ` +
        'Update the program, or name another file.',
    )
  }
  if (database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'] !== 'ok') return 'damaged'
  if (readNumber(database, "SELECT count(*) FROM sqlite_schema WHERE name = 'workflows'") !== 1) return 'damaged'
  // FULL: an answer that was given must still be true after a power cut, and workflows change at the pace of people and models,
  // so a sync for each commit is affordable. With NORMAL the last commits could be lost, though never torn.
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  return undefined
}

function isBlank(database: SqliteDatabase): boolean {
  return (
    readNumber(database, 'PRAGMA application_id') === 0 &&
    readNumber(database, 'SELECT count(*) FROM sqlite_schema') === 0
  )
}

/** In one transaction of the old journal, so that the file has our mark from the moment at which it has anything. */
function initialize(database: SqliteDatabase): void {
  database.exec('BEGIN IMMEDIATE')
  try {
    // Another process may have been first.
    if (isBlank(database)) {
      database.exec(`
        CREATE TABLE workflows (
          id TEXT PRIMARY KEY NOT NULL,
          owner TEXT NOT NULL,
          kind TEXT NOT NULL,
          state TEXT NOT NULL,
          version INTEGER NOT NULL,
          completed INTEGER NOT NULL,
          created_at INTEGER NOT NULL,
          updated_at INTEGER NOT NULL,
          expires_at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX workflows_by_owner ON workflows (owner, expires_at);
        CREATE INDEX workflows_by_expiry ON workflows (expires_at);
        PRAGMA application_id = ${applicationId};
        PRAGMA user_version = ${schemaVersion};
      `)
    }
    database.exec('COMMIT')
  } catch (error) {
    database.exec('ROLLBACK')
    throw error
  }
}

function readNumber(database: SqliteDatabase, query: string): number {
  return Number(Object.values(database.prepare(query).get() ?? {})[0])
}

/** Moves the logs first: a log that was left behind would be played into the database that comes next. */
function putAside(path: string): string {
  const stamp = new Date().toISOString().replace(/[-:]|\.\d+/g, '')
  let movedTo = `${path}.bad-${stamp}`
  for (let copy = 2; existsSync(movedTo); copy++) movedTo = `${path}.bad-${stamp}-${copy}`
  for (const suffix of ['-wal', '-shm', '-journal', '']) {
    if (existsSync(path + suffix)) renameSync(path + suffix, movedTo + suffix)
  }
  return movedTo
}

/**
 * Runs `work` while no other process runs theirs under this lock. It is a lock of SQLite on a file of its own, so that the
 * system takes it back from a process that dies. The file stays: removing it would let two processes hold different ones.
 */
function underLock<T>(path: string, work: () => T): T {
  const lock = openDatabase(path)
  try {
    lock.exec(`PRAGMA busy_timeout = ${blockingWaitMs}; BEGIN EXCLUSIVE`)
    return work()
  } finally {
    lock.close()
  }
}
