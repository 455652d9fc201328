import { method } from '../contract/methods.ts'

/** Methods that only the legacy revisions have. */
export const legacyMethod = {
  initialize: 'initialize',
  ping: 'ping',
  setLevel: 'logging/setLevel',
  subscribe: 'resources/subscribe',
  unsubscribe: 'resources/unsubscribe',
} as const

/** Notifications that only the legacy revisions have. */
export const legacyNotice = {
  initialized: 'notifications/initialized',
  rootsChanged: 'notifications/roots/list_changed',
} as const

/** The methods that a client may call in the legacy revisions. One that is not here does not exist in them. */
export const methods: ReadonlySet<string> = new Set([
  ...Object.values(legacyMethod),
  method.listTools,
  method.callTool,
  method.listPrompts,
  method.getPrompt,
  method.listResources,
  method.listResourceTemplates,
  method.readResource,
  method.complete,
])
