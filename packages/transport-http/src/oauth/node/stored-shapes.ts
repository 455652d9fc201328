import { isHeaderToken } from '../token-terms.ts'
import type { FailedSignIn, RegisteredClient, SignIn } from '../sign-in-store.ts'

type Members = Readonly<Record<string, unknown>>

/** Whether a file holds a sign-in: nothing else may come near a request. */
export function isSignIn(value: unknown): value is SignIn {
  if (!isRecord(value)) return false
  const { accessToken, tokenType, client, issuedAt, requestedScopes } = value
  return (
    ['server', 'resource', 'issuer', 'clientId'].every((name) => isText(value[name])) &&
    isText(accessToken) &&
    isHeaderToken(accessToken) &&
    (tokenType === 'bearer' || tokenType === 'dpop') &&
    isTime(issuedAt) &&
    isTime(value['signedInAt']) &&
    isOptional(value['expiresAt'], isTime) &&
    isOptional(value['refreshToken'], isText) &&
    isOptional(value['scope'], isString) &&
    isOptional(value['dpopKey'], isRecord) &&
    isOptional(requestedScopes, (list) => Array.isArray(list) && list.every(isString)) &&
    isOptional(client, isRegisteredClient)
  )
}

export function isRegisteredClient(value: unknown): value is RegisteredClient {
  if (!isRecord(value)) return false
  const { issuer, clientId, authMethod } = value
  return (
    isText(issuer) &&
    isText(clientId) &&
    isText(authMethod) &&
    isOptional(value['clientSecret'], isText) &&
    isOptional(value['redirectUri'], isText) &&
    isOptional(value['secretExpiresAt'], isTime)
  )
}

export function isFailedSignIn(value: unknown): value is FailedSignIn {
  return isRecord(value) && isTime(value['at']) && isText(value['code']) && isString(value['message'])
}

function isOptional(value: unknown, is: (value: unknown) => boolean): boolean {
  return value === undefined || is(value)
}

function isRecord(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isString(value: unknown): value is string {
  return typeof value === 'string'
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** A moment that a `Date` can hold. */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && !Number.isNaN(new Date(value).getTime())
}
