import { createNodeSend } from '@atenea/transport-http/node'
import { OAuthError } from '@atenea/transport-http/oauth'
import type { Probing } from '../carrier.ts'
import { untried } from '../era-result.ts'
import type { UrlTarget } from '../report.ts'
import { walkAuthorization } from './walk-authorization.ts'

/**
 * What comes after a refusal: looks at the way to a token and, where somebody signs in, gives the target with which the probe is made again.
 * `undefined` when nobody does. What was found about the way stays in `result.auth`.
 */
export async function pastTheWall(
  target: UrlTarget,
  { options, recorder, result }: Probing,
): Promise<UrlTarget | undefined> {
  const { auth, challenges = [] } = result
  if (auth === undefined) return undefined
  const { signal } = options
  using send = createNodeSend()
  const { url } = target
  const way = { url, status: auth.status, challenges, send, signal }
  const authorization = await walkAuthorization({ ...way, recorder })
  result.auth = { ...auth, ...(authorization !== undefined && { authorization }) }
  if (options.signIn === undefined || authorization === undefined) return undefined
  recorder.doing('sign-in')
  const from = performance.now()
  try {
    const value = await options.signIn(way)
    recorder.step({ name: 'sign-in', from, to: performance.now(), ok: true })
    return { ...target, headers: { ...target.headers, authorization: value } }
  } catch (error) {
    if (!OAuthError.is(error)) throw error
    recorder.step({ name: 'sign-in', from, to: performance.now(), ok: false, detail: error.message })
    result.auth = { ...result.auth, signedIn: false }
    return undefined
  }
}

/** Begins anew after a sign-in; what is known about the refusal is kept. */
export function beginAnew({ options, result }: Probing): void {
  const reason = 'the server could not be reached after the sign-in'
  if (options.protocol !== 'legacy') result.modern = untried(reason)
  if (options.protocol !== 'modern') result.legacy = untried(reason)
  result.auth = undefined
  result.trouble = undefined
}
