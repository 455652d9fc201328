// what flags and configuration say
export type { CommonValues, FrontValues } from './front-flags.ts'
export { commonFlags, createFrontFlags, limitFlags } from './front-flags.ts'
export type { FrontConfig } from './config/front-config.ts'
export type { ReadFrontSettingsOptions } from './config/read-front-settings.ts'
export { isUrl, readFrontSettings, socketPath } from './config/read-front-settings.ts'
export type { FrontSettings, HttpSetting, Protocol } from './front-settings.ts'
export { defaultHttpHost, frontDefaults } from './front-settings.ts'
export { revisionPolicy } from './revision-policy.ts'

// serving
export type { ServeFrontsOptions } from './serve.ts'
export { serveFronts } from './serve.ts'
export type { ConnectToServerOptions } from './connect.ts'
export { connectToServer } from './connect.ts'
export { logDiagnostics } from './log-diagnostics.ts'
