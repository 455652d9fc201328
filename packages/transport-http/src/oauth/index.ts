// Signing in
export type { CreateOAuthAuthorizerOptions, OAuthAuthorizer } from './authorizer.ts'
export { createOAuthAuthorizer, serverName } from './authorizer.ts'
export type { ClientAuthMethod, OAuthClient } from './client-auth.ts'
export type { OAuthErrorCode, OAuthErrorOptions } from './oauth-error.ts'
export { OAuthError } from './oauth-error.ts'
export type { ClientIdentity, FlowClient, Registration, StaticClient } from './registration.ts'

// Ways to come to tokens
export type { CreateBrowserFlowOptions, RedirectReceiver } from './flows/browser-flow.ts'
export { createBrowserFlow } from './flows/browser-flow.ts'
export { createClientCredentialsFlow } from './flows/client-credentials-flow.ts'
export type { CreateDeviceFlowOptions, DevicePrompt } from './flows/device-flow.ts'
export { createDeviceFlow, offersDeviceFlow } from './flows/device-flow.ts'
export type { CreateEnterpriseFlowOptions } from './flows/enterprise-flow.ts'
export { createEnterpriseFlow } from './flows/enterprise-flow.ts'
export type { Flow, FlowContext, FlowResult } from './flows/flow.ts'
export type { CreateWorkloadFlowOptions } from './flows/workload-flow.ts'
export { createWorkloadFlow } from './flows/workload-flow.ts'

// What is kept
export type { FailedSignIn, RegisteredClient, SignIn, SignInStore } from './sign-in-store.ts'
export { createMemorySignInStore } from './sign-in-store.ts'

// Looking at metadata
export type { DiscoverOptions, DiscoveryStep, IssuerInfo, ResourceInfo } from './discovery.ts'
export { discoverIssuer, discoverResource } from './discovery.ts'
export type { OAuthHttpOptions } from './oauth-http.ts'
export { OAuthHttp } from './oauth-http.ts'
