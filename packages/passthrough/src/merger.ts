import {
  type CallContext,
  createSeal,
  type Dispatcher,
  type Implementation,
  type OnDiagnostic,
  type Seal,
} from '@atenea/mcpcompat'
import { type Clock, type PageLimits, systemClock } from '@atenea/mcpcompat/transport'
import type { BackendPolicy, Renames } from './backend-options.ts'
import type { BackendPort } from './backend-port.ts'
import type { OnPassthroughEvent } from './events.ts'
import { BackendLists, type Listed } from './lists/backend-lists.ts'
import { ListCache } from './lists/list-cache.ts'
import { toolList } from './lists/list-kind.ts'
import { defaultMergedLimits, type MergedListLimits } from './lists/merged-list.ts'
import { LoneBackend } from './lone-backend.ts'
import { ManyBackends } from './many-backends.ts'
import { createLoneNames, createNameScheme, type NameScheme } from './names/name-scheme.ts'
import { emptyLock, type McpLock, withPins } from './pins/lock.ts'
import { SealedAsks } from './sealed-asks.ts'
import type { WholeServer, WholeServerOptions } from './whole-server.ts'

/** How tools and prompts of several backends are called. */
export interface NamingOptions {
  /** Stands between the name of the backend and that of the tool. Default `__`. */
  readonly separator?: string | undefined
  /** Whether names are kept to 64 characters of `a-z A-Z 0-9 _ -`, which every client takes. Default true. */
  readonly narrow?: boolean | undefined
}

/** What is kept of lists. */
export interface ListCacheOptions {
  /** Lists and pages that are kept. Default 4,096. */
  readonly maxEntries?: number | undefined
  /** Characters that are kept. Default 64 Mi. */
  readonly maxCharacters?: number | undefined
}

/** What is done with lists and names, on top of what the backends do. */
export interface MergeOptions {
  readonly names?: NamingOptions | undefined
  /** Tools of the backends must be as they are pinned here; others are neither listed nor called. Absent: nothing is pinned. */
  readonly lock?: McpLock | undefined
  /**
   * Seals the state of questions of several backends (BR-301), and names of calls that wait (BR-221). Default: a key of this process, with
   * which no question outlives it and no replica understands another's.
   */
  readonly seal?: Seal | undefined
  /** How long one of several backends is waited for before the others answer without it, in milliseconds. Default 10,000. */
  readonly waitMs?: number | undefined
  readonly listCache?: ListCacheOptions | undefined
  /** How far the list of a backend is followed. Default 1,000 pages and 100,000 items. */
  readonly listLimits?: Partial<PageLimits> | undefined
  /** How much of a merged list goes into one page. Default 1,000 items or 4 Mi characters. */
  readonly pageLimits?: Partial<MergedListLimits> | undefined
}

/** One backend and what the configuration says about it. */
export interface MergedBackend {
  readonly port: BackendPort
  readonly allow?: BackendPolicy | undefined
  readonly rename?: Renames | undefined
}

export interface CreateMergerOptions extends MergeOptions {
  readonly backends: readonly MergedBackend[]
  /** Who the proxy is, where there are several backends. */
  readonly info: Implementation
  readonly onEvent?: OnPassthroughEvent | undefined
  readonly onDiagnostic?: OnDiagnostic | undefined
  readonly clock?: Clock | undefined
}

/** All backends as one server: their lists, names and policies. Disposing it ends what it keeps open, and not the backends. */
export interface Merger extends Dispatcher, Disposable {
  /**
   * Pins of everything that this client is offered now, whether pinned before or not, on top of those given. `missing` names the backends
   * that could not be asked; what was pinned of them stays.
   */
  pin(
    lock: McpLock | undefined,
    context: CallContext,
  ): Promise<{ readonly lock: McpLock; readonly missing: readonly string[] }>
}

/**
 * Puts backends together. With one backend names, cursors and everything else stay as they are, save for what the configuration says; with
 * several, their lists become one. A `TypeError` for names that cannot be told apart.
 */
export function createMerger(options: CreateMergerOptions): Merger {
  const { backends, lock, clock = systemClock, onEvent, onDiagnostic, listCache, listLimits } = options
  const [only] = backends
  if (only === undefined) throw new TypeError('there is no backend')
  const names = namesOf(options)
  const cache = new ListCache<Listed>({
    now: () => clock.now(),
    maxEntries: listCache?.maxEntries,
    maxSize: listCache?.maxCharacters,
  })
  const lists = new Map(
    backends.map(({ port, allow }): [string, BackendLists] => {
      const pins = lock && { backend: lock.backends.get(port.name) }
      return [
        port.name,
        new BackendLists({ port, allow, names, pins, cache, limits: listLimits, clock, onEvent, onDiagnostic }),
      ]
    }),
  )
  const around = { lists, names, clock, onEvent, onDiagnostic }
  const whole: WholeServer =
    backends.length === 1
      ? new LoneBackend({ ...around, isRenamed: hasRenames(only) })
      : new ManyBackends({
          ...around,
          info: options.info,
          asks: new SealedAsks(options.seal ?? createSeal({ maxLength: maxSealedLength })),
          waitMs: options.waitMs ?? 10_000,
          pageLimits: { ...defaultMergedLimits, ...options.pageLimits },
        })
  return {
    call: (call, context) => whole.call(call, context),
    notify: async (notice, context) => {
      await Promise.all(backends.map(async ({ port }) => await port.notify(notice, context)))
    },
    view: (principal, viewer) => whole.view(principal, viewer),
    drain: async () => {
      await whole.drain()
      for (const each of lists.values()) each.unfollow()
      await Promise.all(backends.map(({ port }) => port.drain()))
    },
    pin: (before, context) => pinAll([...lists.values()], before ?? emptyLock, context),
    [Symbol.dispose]() {
      for (const each of lists.values()) each.close()
    },
  }
}

/** A backend's own state may be long; a client that cannot carry it could not have carried the backend's either. */
const maxSealedLength = 8 * 1024 * 1024

function namesOf({ backends, names }: CreateMergerOptions): WholeServerOptions['names'] {
  const [only, ...others] = backends as readonly [MergedBackend, ...MergedBackend[]]
  if (others.length === 0) {
    return {
      tools: createLoneNames(only.port.name, only.rename?.tools),
      prompts: createLoneNames(only.port.name, only.rename?.prompts),
    }
  }
  const scheme = (of: (rename: Renames | undefined) => ReadonlyMap<string, string> | undefined): NameScheme =>
    createNameScheme({
      ...names,
      backends: backends.map(({ port }) => port.name),
      renames: new Map(backends.map(({ port, rename }) => [port.name, of(rename) ?? new Map()])),
    })
  return { tools: scheme((rename) => rename?.tools), prompts: scheme((rename) => rename?.prompts) }
}

function hasRenames({ rename }: MergedBackend): boolean {
  return (rename?.tools?.size ?? 0) > 0 || (rename?.prompts?.size ?? 0) > 0
}

async function pinAll(
  all: readonly BackendLists[],
  before: McpLock,
  context: CallContext,
): Promise<{ readonly lock: McpLock; readonly missing: readonly string[] }> {
  let lock = before
  const missing: string[] = []
  const read = await Promise.allSettled(all.map((lists) => lists.current(toolList, context)))
  for (const [index, result] of read.entries()) {
    const { name } = all[index] as BackendLists
    if (result.status === 'rejected') missing.push(name)
    else lock = withPins(lock, name, result.value?.value.offer.definitions ?? [])
  }
  return { lock, missing }
}
