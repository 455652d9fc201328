import type { JsonRecord } from './jsonrpc/json.ts'
import { memberOf } from './member.ts'

/** Whether a list goes on, and with which cursor. */
export type NextPage =
  | { readonly more: false; readonly fault?: string }
  | { readonly more: true; readonly cursor: string }

/**
 * Reads `nextCursor` of one page (MC-PAGE-02 to -04). The cursor is opaque, and an empty one is a cursor. A cursor that is no string
 * cannot be sent back, so the list ends there with a fault to report.
 */
export function nextPage(result: JsonRecord): NextPage {
  const cursor = memberOf(result, 'nextCursor')
  if (cursor === undefined || cursor === null) return { more: false }
  return typeof cursor === 'string' ? { more: true, cursor } : { more: false, fault: 'nextCursor is not a string' }
}

/** What a walk does after a page. */
export type PageStep =
  | { readonly kind: 'next'; readonly cursor: string }
  | { readonly kind: 'end' }
  /** The server would go on, but this is no list any more. What was read so far may be used, with a warning. */
  | {
      readonly kind: 'stopped'
      readonly reason: 'repeated-cursor' | 'too-many-pages' | 'too-many-items' | 'bad-cursor'
    }

export interface PageLimits {
  readonly maxPages: number
  readonly maxItems: number
}

const defaultLimits: PageLimits = { maxPages: 1000, maxItems: 100_000 }

/** One pass over all pages of one list. Guards against servers whose lists never end (field report F4). */
export interface PageWalk {
  /** Tells what to do after a page with so many items. A page that was asked for with a known cursor is never asked for again. */
  after(result: JsonRecord, itemCount: number): PageStep
}

/** Starts a walk; the first page is the one without a cursor. */
export function createPageWalk(limits: Partial<PageLimits> = {}): PageWalk {
  const { maxPages, maxItems } = { ...defaultLimits, ...limits }
  const seen = new Set<string>()
  let items = 0
  return {
    after(result, itemCount) {
      items += itemCount
      const next = nextPage(result)
      if (!next.more) return next.fault === undefined ? { kind: 'end' } : { kind: 'stopped', reason: 'bad-cursor' }
      if (seen.has(next.cursor)) return { kind: 'stopped', reason: 'repeated-cursor' }
      seen.add(next.cursor)
      // the page that was just read is not among the cursors, hence the equality
      if (seen.size >= maxPages) return { kind: 'stopped', reason: 'too-many-pages' }
      if (items >= maxItems) return { kind: 'stopped', reason: 'too-many-items' }
      return { kind: 'next', cursor: next.cursor }
    },
  }
}
