// Server
export type { AuthRequest, Authenticate, Challenge, VerifyToken } from './auth/authenticate.ts'
export { createBearerAuthenticator } from './auth/authenticate.ts'
export type { ProtectedResource } from './auth/protected-resource.ts'
export type { NodeRequest, NodeResponse } from './carrier/node-exchange.ts'
export type { CreateHttpHandlerOptions, DrainOptions, HttpHandler } from './handler.ts'
export { createHttpHandler } from './handler.ts'

// Client
