export { WorkflowStoreError } from './workflows/node-sqlite.ts'
export type { CreateSqliteStoreOptions } from './workflows/sqlite.ts'
export { createSqliteStore } from './workflows/sqlite.ts'
