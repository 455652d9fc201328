import {
  type Call,
  type CacheHints,
  type CallContext,
  type JsonRecord,
  mergeHints,
  noCache,
  RpcError,
  rpcCode,
} from '@atenea/mcpcompat'
import { cacheHintsOf, createPageWalk, memberOf, type PageLimits, type PageStep } from '@atenea/mcpcompat/transport'
import type { BackendPort } from '../backend-port.ts'
import { type DroppedItem, type ListItem, readItems } from './list-items.ts'
import type { ListKind } from './list-kind.ts'

/** A page as it came. */
export interface ReadPage {
  readonly result: JsonRecord
  readonly hints: CacheHints
}

/** All pages of a list. */
export interface WholeList {
  /** Each own name once, in the order of the backend. */
  readonly items: readonly ListItem[]
  readonly dropped: readonly DroppedItem[]
  readonly hints: CacheHints
  /** Why reading ended before the backend said that it was at its end (field report F4). */
  readonly stopped: (PageStep & { readonly kind: 'stopped' })['reason'] | undefined
}

/** Reads one page. What is no list is an `RpcError`: a list has nothing to ask. */
export async function readPage(
  port: BackendPort,
  kind: ListKind,
  params: JsonRecord,
  context: CallContext,
): Promise<ReadPage> {
  const call: Call = { method: kind.method, params }
  const outcome = await port.call(call, context)
  if (outcome.kind !== 'result') {
    throw new RpcError(
      rpcCode.internalError,
      `Backend ${JSON.stringify(port.name)} answered ${kind.method} with no list`,
    )
  }
  return { result: outcome.value, hints: outcome.hints ?? cacheHintsOf(outcome.value) }
}

/**
 * Reads a list to its end, past all traps of its cursors. A cursor that is refused on the way means that the list has changed: it is read
 * once more from its start (MC-CACHE-19). A backend that says it has the list and does not know the method has an empty one (F7).
 */
export async function readList(
  port: BackendPort,
  kind: ListKind,
  context: CallContext,
  limits?: Partial<PageLimits>,
): Promise<WholeList> {
  try {
    return await walk(port, kind, context, limits)
  } catch (error) {
    if (error instanceof StaleCursor)
      return walk(port, kind, context, limits).catch((again: unknown) => throwCause(again))
    if (RpcError.is(error) && error.code === rpcCode.methodNotFound) return emptyList
    throw error
  }
}

const emptyList: WholeList = { items: [], dropped: [], hints: noCache, stopped: undefined }

/** A backend refused a cursor of its own. */
class StaleCursor extends Error {}

async function walk(
  port: BackendPort,
  kind: ListKind,
  context: CallContext,
  limits: Partial<PageLimits> | undefined,
): Promise<WholeList> {
  const items = new Map<string, ListItem>()
  const dropped: DroppedItem[] = []
  const hints: CacheHints[] = []
  const pages = createPageWalk(limits)
  for (let cursor: string | undefined; ; ) {
    const page = await nextPage(port, kind, cursor, context)
    hints.push(page.hints)
    const read = readItems(kind, page.result)
    const before = items.size
    for (const item of read.items) {
      if (!items.has(item.key)) items.set(item.key, item)
      else drop(dropped, { name: item.key.slice(0, 128), reason: `its ${kind.key} is there more than once` })
    }
    for (const item of read.dropped) drop(dropped, item)
    const step = pages.after(page.result, items.size - before + read.dropped.length)
    if (step.kind === 'next') {
      cursor = step.cursor
      continue
    }
    const stopped = step.kind === 'stopped' ? step.reason : undefined
    return { items: [...items.values()], dropped, hints: mergeHints(hints), stopped }
  }
}

async function nextPage(
  port: BackendPort,
  kind: ListKind,
  cursor: string | undefined,
  context: CallContext,
): Promise<ReadPage> {
  try {
    return await readPage(port, kind, cursor === undefined ? {} : { cursor }, context)
  } catch (error) {
    const isRefused = cursor !== undefined && RpcError.is(error) && error.code === rpcCode.invalidParams
    throw isRefused ? new StaleCursor('A cursor was refused', { cause: error }) : error
  }
}

function throwCause(error: unknown): never {
  throw error instanceof StaleCursor ? error.cause : error
}

/** Reports of a list that never ends must end. */
const maxDropped = 1_000

function drop(dropped: DroppedItem[], item: DroppedItem): void {
  if (dropped.length < maxDropped) dropped.push(item)
}

/** The page that is asked for. An `RpcError` -32602 for what is no cursor. */
export function cursorOf(params: JsonRecord): string | undefined {
  const cursor = memberOf(params, 'cursor')
  if (cursor === undefined) return undefined
  if (typeof cursor === 'string') return cursor
  throw new RpcError(rpcCode.invalidParams, 'cursor must be a string')
}
