import type { WireHints } from './contract/context.ts'
import { method } from './contract/methods.ts'
import { rpcCode } from './jsonrpc/errors.ts'
import { isJsonObject, toValue } from './jsonrpc/json.ts'
import { isJsonType, isSseType } from './media-types.ts'
import {
  failed,
  isRecognisedModernError,
  judgeDiscoverResult,
  judgeModernError,
  legacy,
  type ProbeContext,
  type ProbeRows,
  type ProbeVerdict,
} from './negotiate.ts'
import { type AnswerBody, readAnswerBody, type RpcOutcome } from './probe-answer.ts'

/** The answer to the first modern request over HTTP. */
export interface HttpProbeAnswer {
  readonly status: number
  readonly headers: WireHints
  /** The body as text. Of an SSE answer: the data of the event that holds the response. */
  readonly body: string
  /** The URL that was asked; without it no redirect is known to stay at its origin. */
  readonly url?: string
  /** Whether a redirect was followed already. */
  readonly redirected?: boolean
}

/** What came instead of an answer. */
export interface HttpProbeFailure {
  /** `stream-ended`: the answer broke off before it held a response. Anything else is a failure of the way. */
  readonly event: 'network-error' | 'timeout' | 'aborted' | 'stream-ended'
}

export interface HttpProbeContext extends ProbeContext {
  /** The method of the first request; `server/discover`, which is the probe, unless said otherwise. */
  readonly method?: string
}

const rows: ProbeRows = {
  retry: 'H08',
  retrySame: 'H09',
  legacyListed: 'H10',
  nothingListed: 'H11',
  noList: 'H12',
  header: 'H13',
  capability: 'H14',
  discovered: 'H16',
  discoveredLegacy: 'H17',
  discoveredNothing: 'H18',
  malformed: 'H19',
  otherResult: 'H20',
}

/** Statuses that say something about the way or the quota, never about the era. */
const noEvidence: ReadonlySet<number> = new Set([402, 408, 413, 421, 425, 426, 429, 431, 451])
const retryLater: ReadonlySet<number> = new Set([408, 425, 429])

/**
 * The verdict about a server after the answer to the first modern request over HTTP: rows H01 to H28 of decisions 1.2 for the
 * probe, decisions 1.4 for another method. The first row that fits wins. An outage, a wall or a throttle never downgrades.
 */
export function judgeHttpProbe(answer: HttpProbeAnswer | HttpProbeFailure, context: HttpProbeContext): ProbeVerdict {
  if ('event' in answer) return judgeFailure(answer)
  const body = readAnswerBody(answer.body)
  const verdict = judgeStatus(answer, body)
  if (verdict !== undefined) return verdict
  const isProbe = (context.method ?? method.discover) === method.discover
  return isProbe ? judgeProbe(answer, body, context) : judgeOther(answer, body, context)
}

function judgeFailure({ event }: HttpProbeFailure): ProbeVerdict {
  // H24
  if (event === 'stream-ended') return failed('H24', 'The answer ended before it held a response.', { retryable: true })
  // H01: the legacy signal is a 4xx, never silence
  return failed('H01', `The server could not be asked: ${event}.`, { retryable: true })
}

/** Rows H02 to H07, which decide by the status alone. */
function judgeStatus(answer: HttpProbeAnswer, body: AnswerBody): ProbeVerdict | undefined {
  const { status, headers } = answer
  const challenge = headers['www-authenticate']
  // H02: authorization answers before MCP does
  if (status === 401 || status === 407) return { kind: 'auth', row: 'H02', challenge }
  // H03
  if (status === 403) {
    return /\binsufficient_scope\b/i.test(challenge ?? '')
      ? { kind: 'auth', row: 'H03', challenge }
      : failed('H03', 'The server refuses access (403): origin, scope or firewall.')
  }
  // H04
  if (noEvidence.has(status) && !isModern(body)) {
    const retryAfter = headers['retry-after']
    return failed('H04', `The server answered with status ${status}.`, {
      retryable: retryLater.has(status),
      ...(retryAfter !== undefined && { retryAfter }),
    })
  }
  // H05: whatever the body says
  if (status >= 500) return failed('H05', `The server failed (${status}).`, { retryable: true })
  if (status >= 300 && status < 400) return judgeRedirect(answer)
  // H01: not even an answer
  return status < 200 ? failed('H01', `The exchange ended with status ${status}.`, { retryable: true }) : undefined
}

function judgeRedirect(answer: HttpProbeAnswer): ProbeVerdict {
  const { status, headers, redirected } = answer
  const location = headers['location']
  // H06
  if ((status === 307 || status === 308) && location !== undefined && redirected !== true) {
    const target = sameOrigin(location, answer.url)
    if (target !== undefined) return { kind: 'follow', row: 'H06', url: target }
  }
  // H07
  return failed('H07', `The server redirects (${status}) to ${location ?? 'nowhere'}; configure the final URL.`)
}

/** The absolute form of a redirect target that stays at the origin of `url`. */
function sameOrigin(location: string, url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(location, url)) return undefined
  const target = new URL(location, url)
  return target.origin === new URL(url).origin ? target.href : undefined
}

/** Rows H08 to H28 for the probe itself; status 2xx or 4xx. */
function judgeProbe(answer: HttpProbeAnswer, body: AnswerBody, context: HttpProbeContext): ProbeVerdict {
  const { status } = answer
  const outcome = body.kind === 'rpc' ? body.outcome : undefined
  if (outcome?.kind === 'error') {
    // H08 to H14: with any 2xx or 4xx
    const modern = judgeModernError(outcome, context, rows)
    if (modern !== undefined) return modern
    // H15: every modern server implements discovery
    if (status === 404 && outcome.code === rpcCode.methodNotFound) return legacy('H15', context)
  }
  return status < 300 ? judgeSuccess(answer, body, context) : judgeClientError(status, body, context)
}

/** Rows H16 to H24. */
function judgeSuccess(answer: HttpProbeAnswer, body: AnswerBody, context: HttpProbeContext): ProbeVerdict {
  switch (body.kind) {
    case 'rpc':
      // H16 to H20, H21
      return body.outcome.kind === 'result'
        ? judgeDiscoverResult(body.outcome.result, context, rows)
        : legacy('H21', context)
    case 'batch':
      // H20: only a legacy revision had batches
      return legacy('H20', context)
    case 'empty':
      // H22: nothing was answered
      return legacy('H22', context, { httpSse: true })
    case 'other-json':
    case 'not-json':
      return judgeForeign(answer)
  }
}

function judgeForeign(answer: HttpProbeAnswer): ProbeVerdict {
  // H23: a captive portal, a web page
  const type = answer.headers['content-type']
  if (!isJsonType(type) && !isSseType(type))
    return failed('H23', 'This is not an MCP endpoint: it answers with something else.')
  // H24
  return failed('H24', 'The answer holds no JSON-RPC response.')
}

/** Rows H25 to H28. */
function judgeClientError(status: number, body: AnswerBody, context: HttpProbeContext): ProbeVerdict {
  // H25, H26
  if (status === 400) return legacy(body.kind === 'rpc' && body.outcome.kind === 'error' ? 'H25' : 'H26', context)
  // H27
  if (status === 404 || status === 405) return legacy('H27', context, { httpSse: true })
  // H28
  return legacy('H28', context)
}

/** Decisions 1.4: the first modern request was another one than the probe, so most answers say little. */
function judgeOther(answer: HttpProbeAnswer, body: AnswerBody, context: HttpProbeContext): ProbeVerdict {
  const { status } = answer
  if (body.kind !== 'rpc') {
    return status < 300 ? judgeSuccess(answer, body, context) : judgeClientError(status, body, context)
  }
  const { outcome } = body
  if (outcome.kind === 'error') return judgeOtherError(status, outcome, body, context)
  if (status >= 300) return judgeClientError(status, body, context)
  // a result without the marker: a legacy server ran a method that both eras have
  const value = toValue(outcome.result)
  const marked = isJsonObject(value) && value['resultType'] !== undefined
  return marked ? { kind: 'modern', row: '1.4', revision: context.requested } : legacy('1.4', context)
}

function judgeOtherError(
  status: number,
  outcome: RpcOutcome & { readonly kind: 'error' },
  body: AnswerBody,
  context: HttpProbeContext,
): ProbeVerdict {
  if (isRecognisedModernError(outcome.code)) return judgeOtherModernError(outcome, context)
  if (status === 404 && outcome.code === rpcCode.methodNotFound) {
    return { kind: 'modern', row: '1.4', revision: context.requested }
  }
  if (status >= 300) return judgeClientError(status, body, context)
  // a modern server must use 404 for an unknown method
  return outcome.code === rpcCode.methodNotFound ? legacy('1.4', context) : { kind: 'inconclusive', row: '1.4' }
}

/** The era is plain; a refused revision is replaced by the one that both sides have, where there is one. */
function judgeOtherModernError(
  outcome: RpcOutcome & { readonly kind: 'error' },
  context: HttpProbeContext,
): ProbeVerdict {
  const choice = outcome.code === rpcCode.unsupportedVersion ? judgeModernError(outcome, context, rows) : undefined
  if (choice === undefined) return { kind: 'modern', row: '1.4', revision: context.requested }
  return choice.kind === 'modern-retry' ? { kind: 'modern', row: '1.4', revision: choice.revision } : choice
}

function isModern(body: AnswerBody): boolean {
  return body.kind === 'rpc' && body.outcome.kind === 'error' && isRecognisedModernError(body.outcome.code)
}
