import { linkSignals } from '@atenea/mcpcompat/transport'
import { answerFailure } from '../answer-failure.ts'
import { OAuthError } from '../oauth-error.ts'
import type { FlowClient } from '../registration.ts'
import { offlineScope } from '../scopes.ts'
import { deviceGrant, type Flow, type FlowContext, type FlowResult, requestTokens } from './flow.ts'

/** Waits for the browser to come back. */
export interface RedirectReceiver extends AsyncDisposable {
  /** Where it listens. */
  readonly uri: string
  /**
   * The parameters of the first answer that carries this state; others are turned away. `judge` decides about it before the one who signed
   * in is told how it ended; what it throws is thrown. Rejects with the reason of the signal.
   */
  receive<T>(state: string, judge: (answer: URLSearchParams) => Promise<T>, signal: AbortSignal): Promise<T>
}

export interface CreateBrowserFlowOptions {
  /** Shows a page to the one who signs in: opens a browser, or says the URL. It does not wait for what happens there. */
  readonly open: (url: string, signal: AbortSignal) => void | Promise<void>
  /** Listens for the browser; at `preferred` if that is possible, which an authorization server may insist on. */
  readonly listen: (preferred: string | undefined) => Promise<RedirectReceiver>
  /** How long somebody may take to sign in. Default 300,000 ms. */
  readonly timeoutMs?: number | undefined
}

/** The authorization code flow with PKCE (MC-AUTH-06): somebody signs in with a browser, which comes back to us with a code. */
export function createBrowserFlow(options: CreateBrowserFlowOptions): Flow {
  return { interactive: true, run: (context) => signIn(context, options) }
}

async function signIn(context: FlowContext, options: CreateBrowserFlowOptions): Promise<FlowResult> {
  const { issuer, signal } = context
  const { timeoutMs = 300_000 } = options
  const { metadata } = issuer
  if (metadata.authorization_endpoint === undefined || metadata.token_endpoint === undefined) {
    throw new OAuthError('no-flow', `${issuer.issuer} has no endpoint where somebody could sign in with a browser.`)
  }
  if (metadata.code_challenge_methods_supported?.includes('S256') !== true) {
    throw new OAuthError(
      'no-pkce',
      `${issuer.issuer} does not say that it supports PKCE with S256 (code_challenge_methods_supported), so nobody is sent there.`,
    )
  }
  using limit = linkSignals([signal], { timeoutMs })
  try {
    return await withBrowser(context, options, limit.signal)
  } catch (error) {
    signal?.throwIfAborted()
    if (!limit.signal.aborted) throw error
    // A page that says "unknown client" looks like this from here.
    await context.forgetClient()
    throw new OAuthError('sign-in-needed', `Nobody signed in at ${issuer.issuer} within ${timeoutMs / 1_000} s.`, {
      cause: error,
    })
  }
}

async function withBrowser(
  context: FlowContext,
  { open, listen }: CreateBrowserFlowOptions,
  signal: AbortSignal,
): Promise<FlowResult> {
  const oauth = await import('oauth4webapi')
  const { issuer, resource, scopes, dpop } = context
  const { receiver, client } = await meet(context, listen)
  await using listening = receiver
  const verifier = oauth.generateRandomCodeVerifier()
  const state = oauth.generateRandomState()
  const url = new URL(issuer.metadata.authorization_endpoint ?? '')
  const parameters: Record<string, string> = {
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: listening.uri,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    resource,
  }
  if (scopes !== undefined) parameters['scope'] = scopes.join(' ')
  // Without it such a scope is to be ignored (OpenID Connect Core, section 11).
  if (scopes?.includes(offlineScope) === true) parameters['prompt'] = 'consent'
  if (dpop !== undefined) parameters['dpop_jkt'] = await dpop.calculateThumbprint()
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)

  const answered = listening.receive(
    state,
    async (answer) => {
      const code = accepted(oauth, context, client, answer, state)
      return await requestTokens({ ...context, signal }, client, {
        what: 'the code',
        request: (library, known, auth, options) =>
          library.authorizationCodeGrantRequest(issuer.metadata, known, auth, code, listening.uri, verifier, {
            ...options,
            additionalParameters: { resource },
          }),
        read: (library, known, response) =>
          library.processAuthorizationCodeResponse(issuer.metadata, known, response, {
            expectedNonce: library.expectNoNonce,
          }),
      })
    },
    signal,
  )
  answered.catch(() => undefined)
  await open(url.href, signal)
  return { client, tokens: await answered }
}

/** The code, when the answer is that of the authorization server that was asked (RFC 9207); nothing else of a wrong answer is looked at. */
function accepted(
  oauth: typeof import('oauth4webapi'),
  { issuer }: FlowContext,
  client: FlowClient,
  answer: URLSearchParams,
  state: string,
): URLSearchParams {
  try {
    return oauth.validateAuthResponse(issuer.metadata, { client_id: client.clientId }, answer, state)
  } catch (error) {
    if (error instanceof oauth.AuthorizationResponseError) {
      const refused = error.error === 'access_denied' ? 'denied' : 'refused'
      throw answerFailure(error, `${issuer.issuer} did not sign in`, { refused, secrets: [state] })
    }
    const failure = answerFailure(error, `The answer is not one of ${issuer.issuer}`, { secrets: [state] })
    throw OAuthError.is(failure) &&
      (answer.has('iss') || issuer.metadata.authorization_response_iss_parameter_supported === true)
      ? new OAuthError('issuer-mismatch', failure.message)
      : failure
  }
}

/** A receiver and a client that agree about where the browser comes back to. */
async function meet(
  context: FlowContext,
  listen: CreateBrowserFlowOptions['listen'],
): Promise<{ readonly receiver: RedirectReceiver; readonly client: FlowClient }> {
  const { metadata } = context.issuer
  const devices = metadata.device_authorization_endpoint !== undefined
  const grantTypes = ['authorization_code', 'refresh_token', ...(devices ? [deviceGrant] : [])]
  const known = await context.knownClient()
  const receiver = await listen(known?.redirectUri)
  try {
    const anywhere = known?.redirectUri === undefined && known?.registered !== true
    // A client that is bound to no place gets any port of this machine (RFC 8252, section 7.3).
    if (known !== undefined && (anywhere || known.redirectUri === receiver.uri)) return { receiver, client: known }
    if (known !== undefined && known.registered !== true) {
      throw new OAuthError(
        'no-flow',
        `Another program uses ${known.redirectUri}, where the browser has to come back to.`,
      )
    }
    return { receiver, client: await context.register({ grantTypes, redirectUri: receiver.uri }) }
  } catch (error) {
    await receiver[Symbol.asyncDispose]()
    throw error
  }
}
