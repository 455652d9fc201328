// what flags and configuration say
export type { CommonValues, FrontValues } from './front-flags.ts'
export { commonFlags, createFrontFlags, limitFlags } from './front-flags.ts'
export { folderEnvironment, servingExits } from './help-terms.ts'
export type { AuthConfig, FrontConfig } from './config/front-config.ts'
export type { ReadFrontSettingsOptions } from './config/read-front-settings.ts'
export { isUrl, readFrontSettings, socketPath } from './config/read-front-settings.ts'
export type { FrontSettings, HttpSetting, Protocol } from './front-settings.ts'
export { defaultHttpHost, frontDefaults } from './front-settings.ts'
export { revisionPolicy } from './revision-policy.ts'

// who may use what
export { authFlags } from './auth/auth-flags.ts'
export type { AuthSettings, IntrospectionSettings } from './auth/auth-settings.ts'
export { authEnvironment } from './auth/auth-settings.ts'
export type { PolicyRule } from './policy/policy-rule.ts'
export type { PrincipalGrants, ServedNames } from './policy/principal-policy.ts'
export { createPrincipalPolicy } from './policy/principal-policy.ts'

// serving
export type { ServeFrontsOptions } from './serve.ts'
export { serveFronts } from './serve.ts'
export type { ConnectToServerOptions } from './connect.ts'
export { connectToServer } from './connect.ts'
export { logDiagnostics } from './log-diagnostics.ts'
