import { type Discovered, hasModernMarker, parseDiscoverResult } from './discover.ts'
import { rpcCode } from './jsonrpc/errors.ts'
import { isJsonObject, type Json, type JsonObject, type JsonValue, toValue } from './jsonrpc/json.ts'
import type { RpcOutcome } from './probe-answer.ts'
import type { RevisionOffer } from './revisions.ts'

/** What the client had sent when the answer came, and what it can still do. */
export interface ProbeContext extends RevisionOffer {
  /** The revision that the first request claimed. */
  readonly requested: string
  /** Whether this was already the retry that a verdict asked for; there is only one. */
  readonly retried?: boolean
  /** Client capabilities that could be declared in a retry, beyond those that were. */
  readonly offerable?: JsonObject
}

/** What one answer or event says about a server. `row` is the row of the tables in decisions 1.2 to 1.4, for reports. */
export type ProbeVerdict =
  /** Go on with this modern revision; never send `initialize` on this connection. */
  | {
      readonly kind: 'modern'
      readonly row: string
      readonly revision: string
      readonly discovered?: Discovered
    }
  /** A modern server: send the probe once more, claiming this revision and declaring these capabilities besides. */
  | {
      readonly kind: 'modern-retry'
      readonly row: string
      readonly revision: string
      readonly declare?: JsonObject
    }
  /** Send `initialize` offering this revision. `selected`: the server itself named it. */
  | {
      readonly kind: 'legacy'
      readonly row: string
      readonly revision: string
      readonly selected: boolean
      /** Start the process or connect anew first; the one that was probed is gone. */
      readonly restart?: boolean
      /** When `initialize` fails too, the URL may be one of the deprecated HTTP+SSE transport. */
      readonly httpSse?: boolean
    }
  /** Not evidence of an era: authorize, then probe again. */
  | { readonly kind: 'auth'; readonly row: string; readonly challenge: string | undefined }
  /** Report; nothing may be downgraded because of it. */
  | {
      readonly kind: 'error'
      readonly row: string
      readonly message: string
      readonly retryable: boolean
      /** The `Retry-After` field as received. */
      readonly retryAfter?: string
      /** The error of a modern server that led here. */
      readonly cause?: { readonly code: number; readonly message: string; readonly data?: Json }
    }
  /** Repeat the request at this URL, once. */
  | { readonly kind: 'follow'; readonly row: string; readonly url: string }
  /** No verdict yet. `hold`: keep the message and answer it only after the verdict legacy. */
  | { readonly kind: 'wait'; readonly row: string; readonly hold?: boolean; readonly note?: string }
  /** Nothing can be told from this answer: send the probe. */
  | { readonly kind: 'inconclusive'; readonly row: string }

/** The three errors that only a modern server sends. */
export function isRecognisedModernError(code: number): boolean {
  return (
    code === rpcCode.headerMismatch || code === rpcCode.missingClientCapability || code === rpcCode.unsupportedVersion
  )
}

/** Names of the rows that the two probe tables share. */
export interface ProbeRows {
  readonly retry: string
  readonly retrySame: string
  readonly legacyListed: string
  readonly nothingListed: string
  readonly noList: string
  readonly header: string
  readonly capability: string
  readonly discovered: string
  readonly discoveredLegacy: string
  readonly discoveredNothing: string
  readonly malformed: string
  readonly otherResult: string
}

/** Rows H08 to H14 and S06 to S08. `undefined` for an error that is not a recognised modern one. */
export function judgeModernError(
  outcome: RpcOutcome & { readonly kind: 'error' },
  context: ProbeContext,
  rows: ProbeRows,
): ProbeVerdict | undefined {
  const { code, message, data } = outcome
  const cause = { code, message, ...(data !== undefined && { data }) }
  switch (code) {
    case rpcCode.unsupportedVersion:
      return judgeUnsupported(data === undefined ? undefined : toValue(data), context, rows, cause)
    case rpcCode.headerMismatch:
      // H13, S08: our headers come from the body, so something on the path changes them
      return failed(
        rows.header,
        'A modern server refused the headers of the probe; something on the way changes them.',
        { cause },
      )
    case rpcCode.missingClientCapability: {
      // H14, S08
      const required = capabilitiesToDeclare(data === undefined ? undefined : toValue(data), context)
      if (required !== undefined) {
        return { kind: 'modern-retry', row: rows.capability, revision: context.requested, declare: required }
      }
      return failed(rows.capability, 'A modern server needs a client capability that cannot be offered.', { cause })
    }
    default:
      return undefined
  }
}

function judgeUnsupported(
  data: JsonValue | undefined,
  context: ProbeContext,
  rows: ProbeRows,
  cause: { readonly code: number; readonly message: string },
): ProbeVerdict {
  const supported = isJsonObject(data) ? data['supported'] : undefined
  // H12, S07
  if (!isFilledStringArray(supported)) {
    return failed(rows.noList, 'A modern server refused the revision without naming those that it serves.', { cause })
  }
  if (context.retried === true) {
    return failed(rows.retrySame, 'The server refused the revision of the retry as well.', { cause })
  }
  const common = context.modern.filter((revision) => supported.includes(revision))
  const other = common.find((revision) => revision !== context.requested)
  // H08
  if (other !== undefined) return { kind: 'modern-retry', row: rows.retry, revision: other }
  // H09: half-upgraded clusters answer so
  if (common.length > 0) return { kind: 'modern-retry', row: rows.retrySame, revision: context.requested }
  // H10
  const listed = context.legacy.find((revision) => supported.includes(revision))
  if (listed !== undefined) return { kind: 'legacy', row: rows.legacyListed, revision: listed, selected: true }
  // H11
  return failed(rows.nothingListed, nothingInCommon(supported, context), { cause })
}

/** What a retry must declare besides, when all of it can be offered and this is no retry yet. */
function capabilitiesToDeclare(data: JsonValue | undefined, context: ProbeContext): JsonObject | undefined {
  const required = isJsonObject(data) ? data['requiredCapabilities'] : undefined
  const { offerable } = context
  if (!isJsonObject(required) || offerable === undefined || context.retried === true) return undefined
  return covers(offerable, required) ? required : undefined
}

/** Whether every capability that is needed, down to its parts, is among those on offer. */
function covers(offer: JsonObject, needed: JsonObject): boolean {
  return Object.entries(needed).every(([name, part]) => {
    const offered = Object.hasOwn(offer, name) ? offer[name] : undefined
    return isJsonObject(offered) && (!isJsonObject(part) || covers(offered, part))
  })
}

/** Rows H16 to H20 and S01 to S05: what a result for `server/discover` says. */
export function judgeDiscoverResult(result: Json, context: ProbeContext, rows: ProbeRows): ProbeVerdict {
  const value = toValue(result)
  // H20, S05
  if (!hasModernMarker(value)) return legacy(rows.otherResult, context)
  const discovered = parseDiscoverResult(value)
  // H19, S04
  if (!discovered.valid) {
    return failed(
      rows.malformed,
      `A modern server answered server/discover in a form that cannot be used: ${discovered.reason}.`,
    )
  }
  const { supportedVersions } = discovered
  // H16, S01
  const modern = context.modern.find((revision) => supportedVersions.includes(revision))
  if (modern !== undefined) return { kind: 'modern', row: rows.discovered, revision: modern, discovered }
  // H17, S02
  const common = context.legacy.find((revision) => supportedVersions.includes(revision))
  if (common !== undefined) return { kind: 'legacy', row: rows.discoveredLegacy, revision: common, selected: true }
  // H18, S03
  return failed(rows.discoveredNothing, nothingInCommon(supportedVersions, context))
}

/** The verdict legacy, or an error that says how to allow it when no legacy revision is offered (MC-ERA-09). */
export function legacy(
  row: string,
  context: ProbeContext,
  more: { readonly restart?: boolean; readonly httpSse?: boolean } = {},
): ProbeVerdict {
  const [revision] = context.legacy
  return revision === undefined
    ? failed(row, 'This is a legacy server, and no legacy revision is enabled here.')
    : { kind: 'legacy', row, revision, selected: false, ...more }
}

/** The verdict error. */
export function failed(
  row: string,
  message: string,
  more: Partial<Pick<ProbeVerdict & { readonly kind: 'error' }, 'retryable' | 'retryAfter' | 'cause'>> = {},
): ProbeVerdict {
  return { kind: 'error', row, message, retryable: false, ...more }
}

function nothingInCommon(supported: readonly string[], context: RevisionOffer): string {
  const ours = [...context.modern, ...context.legacy].join(', ')
  const theirs = supported.slice(0, 20).map((revision) => JSON.stringify(revision.slice(0, 40)))
  return `No revision in common. The server speaks ${theirs.join(', ') || 'none'}; this client speaks ${ours}.`
}

function isFilledStringArray(value: JsonValue | undefined): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((entry) => typeof entry === 'string')
}
