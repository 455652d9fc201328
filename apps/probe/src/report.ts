import type { Era, JsonObject, JsonValue } from '@atenea/mcpcompat'
import type { FindingId } from './findings/catalog.ts'
import type { FindingLevel } from './findings/kind.ts'

export type { FindingLevel } from './findings/kind.ts'

/** Grows when a member of the report changes its meaning or goes away; new members alone leave it as it is. */
export const reportVersion = 1

/** What to probe. */
export type ProbeTarget = UrlTarget | SocketTarget | CommandTarget

interface NamedTarget {
  /** The name of the server in the configuration that it was read from. */
  readonly name?: string | undefined
}

export interface UrlTarget extends NamedTarget {
  readonly kind: 'url'
  readonly url: string
  /** Sent with every request, in addition to those of the protocol. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

export interface SocketTarget extends NamedTarget {
  readonly kind: 'socket'
  readonly path: string
}

export interface CommandTarget extends NamedTarget {
  readonly kind: 'command'
  readonly command: string
  readonly args: readonly string[]
  readonly cwd?: string | undefined
  /** In addition to the few variables that children inherit. */
  readonly env?: Readonly<Record<string, string>> | undefined
}

/** What happened on the way to an answer, and how long it took. */
export interface Step {
  readonly name: StepName
  /** For steps that belong to the talk in one era. */
  readonly era?: Era | undefined
  /** Milliseconds since the start of the probe. */
  readonly startMs: number
  readonly durationMs: number
  readonly ok: boolean
  /** What was found (an address, a status), or why it failed. Redacted and bounded. */
  readonly detail?: string | undefined
}

export type StepName =
  | 'spawn'
  | 'connect'
  | 'dns'
  | 'tcp'
  | 'tls'
  | 'http'
  | 'first-byte'
  | 'first-line'
  | 'sign-in'
  | 'discover'
  | 'initialize'
  | 'tools'
  | 'prompts'
  | 'resources'
  | 'templates'
  | 'checks'
  | 'exit'

/** `works-with-defects`: it works, and at least one finding of that era is an error. */
export type EraVerdict = 'works' | 'works-with-defects' | 'refuses' | 'silent-downgrade' | 'not-spoken' | 'not-tried'

/** What one era's client would meet. */
export interface EraReport {
  readonly verdict: EraVerdict
  /** One sentence for people: what was answered. */
  readonly reason: string
  /** The revision that was asked for. */
  readonly requested?: string | undefined
  /** The revision that the server showed in an answer; never filled from `requested`. */
  readonly observed?: string | undefined
  /** What discovery or a refusal names. */
  readonly supportedVersions?: readonly string[] | undefined
  readonly server?: JsonObject | undefined
  readonly instructions?: string | undefined
  readonly capabilities?: JsonObject | undefined
  readonly counts: ListCounts
  readonly lists: Lists
}

export type ListName = 'tools' | 'prompts' | 'resources' | 'templates'

/** Undefined where a list was not asked for, since the server does not offer it, or where the answer was no list. */
export type ListCounts = Readonly<Partial<Record<ListName, number>>>

/** Entries as they were received, all pages together. */
export type Lists = Readonly<Partial<Record<ListName, readonly JsonValue[]>>>

/** One thing that is wrong or worth knowing. */
export interface Finding {
  readonly id: FindingId
  readonly level: FindingLevel
  /** Ids of the rows of the requirement catalogue or of the decisions that it rests on. */
  readonly requirements: readonly string[]
  readonly title: string
  /** The era in which it was seen; left out where it belongs to neither alone. */
  readonly era?: Era | undefined
  /** Whom it is about: a tool, a resource, a header. */
  readonly subject?: string | undefined
  /** What was sent and what came back. Redacted and bounded. */
  readonly evidence: string
  readonly repair: string
  /** How many more of the same kind were left out. */
  readonly more?: number | undefined
}

/** What a 401 or 403 says about how to get in. */
export interface AuthChallenge {
  readonly status: number
  /** `Bearer`, `Basic`, …; undefined when no challenge was sent. */
  readonly scheme?: string | undefined
  /** The parameters of the challenge, redacted. */
  readonly parameters: Readonly<Record<string, string>>
  /** Where the metadata of the protected resource lies, as the challenge says it. */
  readonly resourceMetadata?: string | undefined
  /** What the documents on the way to a token say; left out for a server that wants something else than OAuth. */
  readonly authorization?: AuthorizationReport | undefined
  /** Whether somebody signed in and was let in; left out when nobody tried. */
  readonly signedIn?: boolean | undefined
}

/** The way to a token (RFC 9728, RFC 8414), as far as its documents go. Redacted. */
export interface AuthorizationReport {
  /** What was asked for, in order. */
  readonly documents: readonly {
    readonly document: 'resource' | 'issuer'
    readonly url: string
    /** Left out when nothing came. */
    readonly status?: number | undefined
    readonly outcome: 'used' | 'absent' | 'defective'
  }[]
  readonly resource?: string | undefined
  /** The authorization servers that the resource names. */
  readonly issuers: readonly string[]
  readonly scopes?: readonly string[] | undefined
  /** How clients can introduce themselves. */
  readonly registration: readonly ('client-id-metadata-document' | 'dynamic')[]
  readonly flows: readonly ('browser' | 'device' | 'client-credentials')[]
}

/** What a tool that the user named answered. */
export interface ToolCallReport {
  readonly name: string
  readonly era: Era
  readonly ok: boolean
  readonly durationMs: number
  /** The result or the error as it was received; undefined when nothing came. */
  readonly answer?: JsonValue | undefined
  readonly detail?: string | undefined
}

/** Why a probe ended as it did. `fine` leaves it to the findings whether the program fails. */
export type Outcome = 'fine' | 'auth-required' | 'unreachable' | 'tool-failed'

export interface Report {
  readonly format: 'atenea-probe-report'
  readonly version: typeof reportVersion
  readonly probe: { readonly name: string; readonly version: string }
  readonly target: ReportTarget
  /** ISO 8601, UTC. */
  readonly started: string
  readonly durationMs: number
  readonly outcome: Outcome
  readonly verdict: {
    readonly era: 'dual' | 'modern' | 'legacy' | 'none'
    /** The first line for people. */
    readonly summary: string
    /** Why a client fails to connect; left out when a client of either era gets in. */
    readonly cause?: string | undefined
    /** What to do about the cause. */
    readonly repair?: string | undefined
  }
  readonly steps: readonly Step[]
  readonly modern: EraReport
  readonly legacy: EraReport
  readonly findings: readonly Finding[]
  readonly auth?: AuthChallenge | undefined
  readonly call?: ToolCallReport | undefined
  /** The end of what the server wrote to stderr, or undefined; redacted and bounded. */
  readonly stderr?: string | undefined
}

/** The target as it may be shown: redacted, without the values of headers and variables. */
export interface ReportTarget {
  readonly kind: ProbeTarget['kind']
  /** URL, `unix:PATH`, or the command line. */
  readonly text: string
  readonly name?: string | undefined
}
