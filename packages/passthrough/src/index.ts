export type { CreatePassthroughOptions, Passthrough } from './passthrough.ts'
export { createPassthrough } from './passthrough.ts'
export type {
  BackendConnectOptions,
  BackendMode,
  BackendOptions,
  BackendPolicy,
  BackoffOptions,
} from './backend-options.ts'
export type { OnPassthroughEvent, PassthroughEvent } from './events.ts'
export type { BackendState, BackendStatus, PassthroughStatus } from './status.ts'
