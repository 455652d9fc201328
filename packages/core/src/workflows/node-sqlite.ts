import { AteneaError } from '@atenea/mcpcompat'

/**
 * The part of `node:sqlite` that is used here. Written by hand, because the types of the oldest supported Node do not have the
 * module yet, and a second version of them for one file would let other modules of a newer Node compile as well.
 */
export interface SqliteDatabase {
  exec(sql: string): void
  prepare(sql: string): SqliteStatement
  close(): void
}

export interface SqliteStatement {
  run(...values: SqliteValue[]): { readonly changes: number | bigint }
  get(...values: SqliteValue[]): SqliteRow | undefined
  /** Steps to the end of the statement, so that the failure of a commit is thrown, which `get` would not show. */
  all(...values: SqliteValue[]): readonly SqliteRow[]
}

export type SqliteRow = Readonly<Record<string, SqliteValue>>

export type SqliteValue = string | number | null

interface SqliteModule {
  readonly DatabaseSync: new (path: string) => SqliteDatabase
}

/** The store cannot be used: not on this Node, not with these rights, or not in this version. */
export class WorkflowStoreError extends AteneaError {
  override readonly name: string = 'WorkflowStoreError'
}

/** Opens a database file. Loads SQLite on first use, which costs nothing before. */
export function openDatabase(path: string): SqliteDatabase {
  const sqlite = process.getBuiltinModule('node:sqlite') as SqliteModule | undefined
  if (sqlite === undefined) {
    throw new WorkflowStoreError(
      `Workflows in a file need Node 22.13 or newer; this is ${process.version}. Update Node, or keep workflows in memory.`,
    )
  }
  return new sqlite.DatabaseSync(path)
}

/** SQLite's primary result codes that mean something to us. */
export const sqliteCode = { busy: 5, corrupt: 11, notADatabase: 26 } as const

/** The primary result code of an error of SQLite, or `undefined` for any other error. */
export function sqliteCodeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined
  return error.errcode & 0xff
}
