// Signing in
export type { CreateOAuthAuthorizerOptions, OAuthAuthorizer } from './oauth/authorizer.ts'
export { createOAuthAuthorizer, serverName } from './oauth/authorizer.ts'
export type { SignedOut, SignOutOptions } from './oauth/sign-out.ts'
export { signOut } from './oauth/sign-out.ts'
export type { ClientAuthMethod, OAuthClient } from './oauth/client-auth.ts'
export type { OAuthErrorCode, OAuthErrorOptions } from './oauth/oauth-error.ts'
export { OAuthError } from './oauth/oauth-error.ts'
export type { ClientIdentity, FlowClient, Registration, StaticClient } from './oauth/registration.ts'

// Ways to come to tokens
export type { CreateBrowserFlowOptions, RedirectReceiver } from './oauth/flows/browser-flow.ts'
export { createBrowserFlow } from './oauth/flows/browser-flow.ts'
export { createClientCredentialsFlow } from './oauth/flows/client-credentials-flow.ts'
export type { CreateDeviceFlowOptions, DevicePrompt } from './oauth/flows/device-flow.ts'
export { createDeviceFlow, offersDeviceFlow } from './oauth/flows/device-flow.ts'
export type { CreateEnterpriseFlowOptions } from './oauth/flows/enterprise-flow.ts'
export { createEnterpriseFlow } from './oauth/flows/enterprise-flow.ts'
export type { Flow, FlowContext, FlowResult } from './oauth/flows/flow.ts'
export type { CreateWorkloadFlowOptions } from './oauth/flows/workload-flow.ts'
export { createWorkloadFlow } from './oauth/flows/workload-flow.ts'

// What is kept
export type { FailedSignIn, RegisteredClient, SignIn, SignInStore } from './oauth/sign-in-store.ts'
export { createMemorySignInStore } from './oauth/sign-in-store.ts'

// Looking at metadata
export type { DiscoverOptions, DiscoveryStep, IssuerInfo, ResourceInfo } from './oauth/discovery.ts'
export { discoverIssuer, discoverResource } from './oauth/discovery.ts'
export type { OAuthHttpOptions } from './oauth/oauth-http.ts'
export { OAuthHttp } from './oauth/oauth-http.ts'
