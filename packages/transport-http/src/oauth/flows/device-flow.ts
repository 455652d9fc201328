import type { TokenEndpointResponse } from 'oauth4webapi'
import { systemClock } from '@atenea/mcpcompat/transport'
import { wait } from '../../wait.ts'
import { answerFailure } from '../answer-failure.ts'
import { clientAuth } from '../client-auth.ts'
import { OAuthError } from '../oauth-error.ts'
import { requestOptions } from '../registration.ts'
import { deviceGrant, type Flow, type FlowContext, type FlowResult, requestTokens } from './flow.ts'

/** What somebody needs to sign in with another device. */
export interface DevicePrompt {
  /** Where to go. */
  readonly url: string
  /** The same with the code in it, where the authorization server offers that. */
  readonly urlWithCode: string | undefined
  /** What to type there. */
  readonly code: string
  readonly expiresInMs: number
}

export interface CreateDeviceFlowOptions {
  /** Shows it to the one who signs in, and does not wait for what happens then. */
  readonly show: (prompt: DevicePrompt, signal: AbortSignal | undefined) => void | Promise<void>
}

/** The device flow (RFC 8628): for machines without a browser. Somebody types a short code on another device. */
export function createDeviceFlow(options: CreateDeviceFlowOptions): Flow {
  return { interactive: true, run: (context) => signIn(context, options) }
}

/** Bounds for what the authorization server says: nobody types a code for longer, and asking seldom keeps others from signing in. */
const longestCodeMs = 30 * 60_000
const longestIntervalMs = 60_000
/** In characters. */
const longestCode = 100

/** Whether an authorization server offers it. */
export function offersDeviceFlow({ metadata }: FlowContext['issuer']): boolean {
  return metadata.device_authorization_endpoint !== undefined
}

async function signIn(context: FlowContext, { show }: CreateDeviceFlowOptions): Promise<FlowResult> {
  const { issuer, resource, scopes, signal, http } = context
  const { metadata } = issuer
  if (metadata.device_authorization_endpoint === undefined) {
    throw new OAuthError('no-flow', `${issuer.issuer} offers no sign-in with another device.`)
  }
  const client =
    (await context.knownClient()) ??
    (await context.register({ grantTypes: [deviceGrant, 'refresh_token'], redirectUri: undefined }))
  const oauth = await import('oauth4webapi')
  const known = { client_id: client.clientId }
  const begun = systemClock.now()
  let grant: Awaited<ReturnType<typeof oauth.processDeviceAuthorizationResponse>>
  try {
    const response = await oauth.deviceAuthorizationRequest(
      metadata,
      known,
      await clientAuth(client, metadata),
      { resource, ...(scopes !== undefined && { scope: scopes.join(' ') }) },
      { ...requestOptions(oauth, http), ...(signal !== undefined && { signal }) },
    )
    grant = await oauth.processDeviceAuthorizationResponse(metadata, known, response)
  } catch (error) {
    signal?.throwIfAborted()
    throw answerFailure(error, `${issuer.issuer} gave no device code`)
  }
  // It is shown on a terminal.
  if (/\p{C}/u.test(grant.user_code) || grant.user_code.length > longestCode) {
    throw new OAuthError('invalid-response', `${issuer.issuer} gave a code that nobody can type.`)
  }
  const expiresInMs = Math.min(grant.expires_in * 1_000, longestCodeMs)
  await show(
    {
      url: http.guard(grant.verification_uri, 'page for the device code').href,
      urlWithCode:
        grant.verification_uri_complete === undefined
          ? undefined
          : http.guard(grant.verification_uri_complete, 'page for the device code').href,
      code: grant.user_code,
      expiresInMs,
    },
    signal,
  )
  return {
    client,
    tokens: await poll(context, client, grant.device_code, (grant.interval ?? 5) * 1_000, begun + expiresInMs),
  }
}

/** Asks until somebody has signed in, at the pace that the authorization server wants. */
async function poll(
  context: FlowContext,
  client: FlowResult['client'],
  deviceCode: string,
  firstIntervalMs: number,
  endsAt: number,
): Promise<TokenEndpointResponse> {
  const { issuer, resource } = context
  const signal = context.signal ?? new AbortController().signal
  let intervalMs = firstIntervalMs
  for (;;) {
    const leftMs = endsAt - systemClock.now()
    await wait(Math.max(0, Math.min(intervalMs, longestIntervalMs, leftMs)), signal, systemClock, true)
    try {
      return await requestTokens(context, client, {
        what: 'the device code',
        request: (oauth, known, auth, options) =>
          oauth.deviceCodeGrantRequest(issuer.metadata, known, auth, deviceCode, {
            ...options,
            additionalParameters: { resource },
          }),
        read: (oauth, known, response) => oauth.processDeviceCodeResponse(issuer.metadata, known, response),
      })
    } catch (error) {
      if (!OAuthError.is(error)) throw error
      if (error.reason === 'slow_down') intervalMs += 5_000
      // A lost answer to a question that nobody has answered yet changes nothing.
      else if (error.reason !== 'authorization_pending' && error.code !== 'unreachable') {
        if (error.reason === 'access_denied') throw new OAuthError('denied', error.message, { reason: error.reason })
        if (error.reason === 'expired_token')
          throw new OAuthError('sign-in-needed', error.message, { reason: error.reason })
        throw error
      }
    }
    if (systemClock.now() >= endsAt) {
      throw new OAuthError('sign-in-needed', `Nobody typed the code for ${issuer.issuer} in time.`)
    }
  }
}
