import {
  type AbortOptions,
  type CreateAllowListOptions,
  createSeal,
  type Dispatcher,
  type Implementation,
  type OnDiagnostic,
  type RevisionPolicy,
} from '@atenea/mcpcompat'
import { type Clock, safeDiagnostics, systemClock } from '@atenea/mcpcompat/transport'
import { Backend } from './backend.ts'
import type { BackendOptions, BackendPolicy } from './backend-options.ts'
import type { OnPassthroughEvent } from './events.ts'
import { GrantedServer } from './grants/granted-server.ts'
import { compileGrants, type GrantsOf } from './grants/grants.ts'
import { createMerger, type MergeOptions, type Merger } from './merger.ts'
import { createMemoryParkStore, type ParkStore } from './parking/park-store.ts'
import { Parking } from './parking/parking.ts'
import type { PassthroughStatus } from './status.ts'

export interface CreatePassthroughOptions extends MergeOptions {
  /** At least one, each with a name of its own. */
  readonly backends: readonly BackendOptions[]
  /** Which revisions backends may speak. */
  readonly policy: RevisionPolicy
  /** Who the proxy is: towards backends that keep one session for several clients, and towards clients where there are several backends. */
  readonly info: Implementation
  /**
   * Whether questions (elicitation, sampling, roots) cross between clients and backends of different eras. Default false: such questions are
   * then reported to the caller and never put to anybody. Within one era they are always relayed.
   */
  readonly bridgeInput?: boolean | undefined
  /** How long a call of a legacy backend waits for answers of a modern client, in milliseconds. Default and most: 600,000 (10 minutes). */
  readonly parkedMs?: number | undefined
  /** Where such calls are noted. Default: in memory, with its limits. */
  readonly parkStore?: ParkStore | undefined
  /** Whether methods that MCP does not define are passed on (BR-117, BR-212); only a single backend can be meant by them. Default false. */
  readonly passExtensions?: boolean | undefined
  /**
   * What each principal may use of all that is offered, by public names, on top of what is allowed of each backend. Absent: all of it. Backends are
   * then asked for their lists before a call by name, so that what does not exist is answered like what is not granted.
   */
  readonly grantsOf?: GrantsOf | undefined
  readonly onEvent?: OnPassthroughEvent | undefined
  readonly onDiagnostic?: OnDiagnostic | undefined
  readonly clock?: Clock | undefined
}

export interface LookAgainOptions extends AbortOptions {
  /** Names of backends that are left alone. */
  readonly except?: ReadonlySet<string> | undefined
}

/** All backends as one server. Disposing it ends every connection to them. */
export interface Passthrough extends Dispatcher, AsyncDisposable, Pick<Merger, 'pin'> {
  status(): PassthroughStatus
  /**
   * Looks again at backends that were lost or out of reach, where the time for that has come, so that their status does not depend on
   * somebody calling them. Starts none that nobody needed. Never rejects.
   */
  lookAgain(options?: LookAgainOptions): Promise<void>
}

/**
 * Puts backends of either era in front of clients of either era. A dispatcher like any other: serve it with `serveConnection` or an HTTP
 * handler. Nothing is connected before somebody needs it.
 */
export function createPassthrough(options: CreatePassthroughOptions): Passthrough {
  const { policy, info, passExtensions = false, clock = systemClock, grantsOf } = options
  const onEvent = safeEvents(options.onEvent)
  const onDiagnostic = safeDiagnostics(options.onDiagnostic)
  const parking = options.bridgeInput === true ? createParking(options, clock) : undefined
  const around = { policy, info, parking, passExtensions, onEvent, onDiagnostic, clock }
  const backends = options.backends.map((backend) => new Backend(backend, around))
  const merger = createMerger({
    ...options,
    backends: backends.map((port, index) => {
      const { allow, rename } = options.backends[index] as BackendOptions
      return { port, allow: grantsOf === undefined ? allow : lookedAt(allow), rename }
    }),
    clock,
    onEvent,
    onDiagnostic,
  })
  const server = grantsOf === undefined ? merger : new GrantedServer(merger, compileGrants(grantsOf))
  return {
    call: (call, context) => server.call(call, context),
    notify: (notice, context) => merger.notify(notice, context),
    view: (principal, viewer) => server.view(principal, viewer),
    drain: () => merger.drain(),
    pin: (lock, context) => merger.pin(lock, context),
    lookAgain: async ({ signal = new AbortController().signal, except } = {}) => {
      const wanted = backends.filter(({ name }) => except?.has(name) !== true)
      await Promise.all(wanted.map((backend) => backend.lookAgain(signal)))
    },
    status: () => ({ backends: backends.map((backend) => backend.status()) }),
    async [Symbol.asyncDispose]() {
      merger[Symbol.dispose]()
      parking?.end()
      await Promise.all(backends.map((backend) => backend[Symbol.asyncDispose]()))
    },
  }
}

function createParking(
  { seal = createSeal(), parkStore, parkedMs = 600_000 }: CreatePassthroughOptions,
  clock: Clock,
): Parking {
  return new Parking({ seal, store: parkStore ?? createMemoryParkStore(), parkedMs, clock })
}

/** Rules that allow everything, where there are none: what is looked at is answered in one and the same way. */
function lookedAt(allow: BackendPolicy | undefined): BackendPolicy {
  const everything = { allow: ['*'] }
  return {
    tools: { ...everything, ...defined(allow?.tools) },
    prompts: { ...everything, ...defined(allow?.prompts) },
    resources: { ...everything, ...defined(allow?.resources) },
  }
}

function defined({ allow, deny }: CreateAllowListOptions = {}): CreateAllowListOptions {
  return { ...(allow !== undefined && { allow }), ...(deny !== undefined && { deny }) }
}

/** Nothing that a listener throws may disturb a call. */
function safeEvents(listener: OnPassthroughEvent | undefined): OnPassthroughEvent | undefined {
  if (listener === undefined) return undefined
  return (event) => {
    try {
      listener(event)
    } catch {
      // Nobody is left to be told.
    }
  }
}
