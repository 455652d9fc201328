// Server
export type {
  AuthRequest,
  Authenticate,
  AuthUnavailable,
  Challenge,
  CreateBearerAuthenticatorOptions,
  VerifyToken,
} from './auth/authenticate.ts'
export { createBearerAuthenticator } from './auth/authenticate.ts'
export type { ProtectedResource } from './auth/protected-resource.ts'
export type { NodeRequest, NodeResponse } from './carrier/node-exchange.ts'
export type { CreateHttpHandlerOptions, DrainOptions, HttpHandler } from './handler.ts'
export { createHttpHandler } from './handler.ts'
export type { Readiness, ReadinessReport } from './readiness.ts'

// Client
export type { AuthChallenge } from './auth/challenge.ts'
export type { AuthFields, Authorizer, AuthRefusal, RenewOptions } from './authorizer.ts'
export { parseChallenges } from './auth/challenge.ts'
export type { Payload } from './answer.ts'
export type { ConnectHttpOptions } from './client.ts'
export { connectHttp } from './client.ts'
export type { Authorization, Credentials } from './endpoint.ts'
export type { CreateFetchSendOptions } from './fetch-send.ts'
export { createFetchSend } from './fetch-send.ts'
export type { HttpStatusErrorOptions } from './http-errors.ts'
export { HttpAuthError, HttpRedirectError, HttpStatusError, SessionLostError } from './http-errors.ts'
export type { DialHttpSseOptions } from './http-sse/dial.ts'
export { dialHttpSse } from './http-sse/dial.ts'
export type { Ending, HttpAnswer, HttpBody, HttpRequest, HttpSend } from './send.ts'
export type { CreateSseDecoderOptions, SseDecoder, SseEvent } from './sse/decode.ts'
export { createSseDecoder } from './sse/decode.ts'
export type { StoredVerdict, VerdictStore } from './verdicts.ts'
export { createVerdictStore } from './verdicts.ts'
