export type { CreatePassthroughOptions, LookAgainOptions, Passthrough } from './passthrough.ts'
export { createPassthrough } from './passthrough.ts'
export type {
  BackendConnectOptions,
  BackendMode,
  BackendOptions,
  BackendPolicy,
  BackoffOptions,
  Renames,
} from './backend-options.ts'
export type { GrantsOf, PrincipalGrants } from './grants/grants.ts'
export type { OnPassthroughEvent, PassthroughEvent } from './events.ts'
export type { BackendState, BackendStatus, PassthroughStatus } from './status.ts'
export type { ListCacheOptions, MergeOptions, Merger, NamingOptions } from './merger.ts'
export type { CreateNameSchemeOptions, NameCandidate, NameScheme } from './names/name-scheme.ts'
export { createNameScheme } from './names/name-scheme.ts'
export type { CreateMemoryParkStoreOptions, Park, ParkStore } from './parking/park-store.ts'
export { createMemoryParkStore } from './parking/park-store.ts'
export type { BackendPins, McpLock } from './pins/lock.ts'
export { emptyLock, formatLock, parseLock, pinOf } from './pins/lock.ts'
export { sha256 } from './sha256.ts'
