import { AteneaError } from './jsonrpc/errors.ts'

/** `modern`: every request carries its revision. `legacy`: a handshake agrees on one. */
export type Era = 'modern' | 'legacy'

/** The modern revision that this library speaks. */
export const modernRevision = '2026-07-28'

/** The legacy revision that is served and offered unless a policy says otherwise. */
export const legacyRevision = '2025-06-18'

/** Every released revision with its era. What is not here is unknown, whatever its date (A-56). */
const knownRevisions: ReadonlyMap<string, Era> = new Map([
  [modernRevision, 'modern'],
  ['2025-11-25', 'legacy'],
  [legacyRevision, 'legacy'],
  ['2025-03-26', 'legacy'],
  ['2024-11-05', 'legacy'],
])

/** Revisions that this library can speak in an era, newest first. A policy chooses among them. */
export function revisionsOf(era: Era): readonly string[] {
  return [...knownRevisions].filter(([, known]) => known === era).map(([revision]) => revision)
}

/** What a version identifier says about itself. */
export interface ParsedRevision {
  readonly revision: string
  /** Whether it is a released revision that this library knows. */
  readonly known: boolean
  /** By the table where known; by date order where the text is a real date; else `unknown`. */
  readonly era: Era | 'unknown'
}

/**
 * Reads a version identifier (MC-VER-06, A-56). Any string is a version, if perhaps an unknown one; `undefined` means that
 * the value is no string at all, which is a malformed message.
 */
export function parseRevision(value: unknown): ParsedRevision | undefined {
  return typeof value === 'string'
    ? { revision: value, known: knownRevisions.has(value), era: eraOf(value) }
    : undefined
}

/**
 * Whether peers of this revision agree on who they are and what they can be asked once, for a whole connection: then clients that differ
 * need connections of their own. Otherwise every request says so itself, and one connection serves all.
 */
export function keepsSessions(revision: string): boolean {
  return eraOf(revision) === 'legacy'
}

/** The era of a version string. Comparing strings alone would call junk such as `v999` modern. */
export function eraOf(revision: string): Era | 'unknown' {
  const known = knownRevisions.get(revision)
  if (known !== undefined) return known
  if (!isCalendarDate(revision)) return 'unknown'
  return revision < modernRevision ? 'legacy' : 'modern'
}

function isCalendarDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)
  if (match === null) return false
  const year = Number(match[1])
  const month = Number(match[2])
  const day = Number(match[3])
  if (month < 1 || month > 12 || day < 1) return false
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  const days = month === 2 ? (leap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31
  return day <= days
}

/**
 * The revision that was asked for and the one that the peer showed, kept apart. `observed` stays `undefined` until the peer
 * has shown one; it is never filled from `requested`.
 */
export interface RevisionEvidence {
  readonly requested: string
  readonly observed: string | undefined
}

/** Revisions that one side is ready to speak, each list newest first. */
export interface RevisionOffer {
  readonly modern: readonly string[]
  readonly legacy: readonly string[]
}

/** Which exact revisions are accepted. The same object decides for a server what it serves and for a client what it offers. */
export interface RevisionPolicy extends RevisionOffer {
  /** What discovery and version errors advertise: modern revisions, then legacy ones that a handshake really serves (A-25). */
  readonly supported: readonly string[]
  /** The era in which this exact revision is accepted; `undefined` when it is not. */
  accepts(revision: string): Era | undefined
  /**
   * The server's answer to a handshake: the requested revision when it is accepted, otherwise the newest accepted legacy one
   * (LG-LIFE-07), never a modern one. `undefined` when no legacy revision is served.
   */
  negotiateLegacy(requested: string): string | undefined
}

export interface CreateRevisionPolicyOptions {
  /** Modern revisions to accept; all that this library speaks by default, none for a legacy-only policy. */
  readonly modern?: readonly string[]
  /** Legacy revisions to accept; only the default one when left out, none for a modern-only policy. */
  readonly legacy?: readonly string[]
}

/** A revision or a list of revisions that cannot be accepted. The message names the ones that can. */
export class RevisionError extends AteneaError {
  override readonly name: string = 'RevisionError'
}

/** Builds a policy of exact revisions. Throws a `RevisionError` for one that is unknown, of the other era, or when none is left. */
export function createRevisionPolicy(options: CreateRevisionPolicyOptions = {}): RevisionPolicy {
  const modern = acceptedOf('modern', options.modern ?? revisionsOf('modern'))
  const legacy = acceptedOf('legacy', options.legacy ?? [legacyRevision])
  if (modern.length + legacy.length === 0) throw new RevisionError('A policy must accept at least one revision.')
  return {
    modern,
    legacy,
    supported: [...modern, ...legacy],
    accepts: (revision) => (modern.includes(revision) ? 'modern' : legacy.includes(revision) ? 'legacy' : undefined),
    negotiateLegacy: (requested) => (legacy.includes(requested) ? requested : legacy[0]),
  }
}

/**
 * Reads a list such as `2025-06-18,2025-11-25`, which replaces the default legacy revisions. Blanks around entries are
 * ignored, equal entries count once. Throws a `RevisionError` that says what may stand there.
 */
export function parseLegacyRevisions(text: string): readonly string[] {
  const entries = text.split(',').map((entry) => entry.trim())
  if (entries.every((entry) => entry === '')) {
    throw new RevisionError(`The list of legacy revisions is empty. ${legacyAdvice()}`)
  }
  if (entries.includes('')) {
    throw new RevisionError(`The list of legacy revisions has an empty entry: "${text}". ${legacyAdvice()}`)
  }
  return acceptedOf('legacy', entries)
}

function acceptedOf(era: Era, revisions: readonly string[]): readonly string[] {
  for (const revision of revisions) {
    const known = knownRevisions.get(revision)
    if (known === era) continue
    const fault =
      known === undefined
        ? `"${revision}" is not a revision that this library knows.`
        : `"${revision}" is a ${known} revision, not a ${era} one.`
    throw new RevisionError(
      `${fault} ${era === 'legacy' ? legacyAdvice() : `Modern revisions: ${revisionsOf(era).join(', ')}.`}`,
    )
  }
  return revisionsOf(era).filter((revision) => revisions.includes(revision))
}

function legacyAdvice(): string {
  return `Legacy revisions: ${revisionsOf('legacy').join(', ')}.`
}
