import {
  type Call,
  type CallContext,
  method,
  notice as noticeName,
  type Outcome,
  RpcError,
  canonicalize,
} from '@atenea/mcpcompat'
import {
  abortable,
  type ClientConnection,
  type Clock,
  filterAdmits,
  type LinkedSignal,
  linkSignals,
  listenFilterFault,
  memberOf,
  type SubscriptionFilter,
} from '@atenea/mcpcompat/transport'
import { ForwardedContext } from './forwarded-context.ts'

export interface KeptListenOptions {
  readonly call: Call
  readonly context: CallContext
  /** Gives the connection, made anew where it was lost; rejects when that is not possible now. */
  readonly connect: (signal: AbortSignal) => Promise<ClientConnection>
  /** Milliseconds until connecting may be tried again. */
  readonly retryInMs: () => number
  /** Aborts with `listenDrained` when open listens are to end with their result. */
  readonly drained: AbortSignal
  readonly clock: Clock
}

/** The reason with which listens are told to end in order. */
export const listenDrained: unique symbol = Symbol('drained')

const closing: Outcome = { kind: 'result', value: {} }

const reopening = { firstMs: 500, maxMs: 30_000 }

/** A subscription that lived so long was in order, and is opened again at once. */
const steadyMs = 60_000

/**
 * Keeps a subscription of a caller open over the connections to its backend (BR-131, BR-235): the caller sees one acknowledgement, and after a
 * gap one change of everything that it may have missed. A backend that offers something else afterwards ends the subscription, so that the
 * caller looks anew.
 */
export async function keepListen(options: KeptListenOptions): Promise<Outcome> {
  using link = linkSignals([options.context.signal, options.drained])
  try {
    return await new KeptListen(options, link).run()
  } catch (error) {
    if (link.signal.aborted && link.signal.reason === listenDrained) return closing
    throw error
  }
}

class KeptListen {
  readonly #options: KeptListenOptions
  readonly #link: LinkedSignal
  /** What the caller was told that it hears of. */
  #granted: SubscriptionFilter | undefined
  #offered: string | undefined
  /** The caller has missed something since the last loss. */
  #gap = false
  #acknowledgedAt = 0
  #failures = 0

  constructor(options: KeptListenOptions, link: LinkedSignal) {
    this.#options = options
    this.#link = link
  }

  async run(): Promise<Outcome> {
    const { signal } = this.#link
    for (;;) {
      try {
        const connection = await this.#options.connect(signal)
        const offered = canonicalize(connection.server.capabilities)
        if (this.#offered !== undefined && offered !== this.#offered) return closing
        this.#offered = offered
        await connection.call(this.#options.call, new ListenContext(this, this.#options.context, signal))
      } catch (error) {
        signal.throwIfAborted()
        // Before the acknowledgement the caller is owed the reason; afterwards it was promised to hear of changes.
        if (this.#granted === undefined) throw error
        if (RpcError.is(error)) this.#failures = Math.max(this.#failures, 1)
      }
      signal.throwIfAborted()
      if (this.#granted === undefined) return closing
      // One that is acknowledged and ended again and again is no reason to ask without a pause.
      if (this.#options.clock.now() - this.#acknowledgedAt > steadyMs) this.#failures = 0
      this.#gap = true
      await this.#pause(signal)
    }
  }

  /** What the backend says on the listen. */
  take(notice: Call): void | Promise<void> {
    if (notice.method !== noticeName.acknowledged) return this.#options.context.emit(notice)
    this.#acknowledgedAt = this.#options.clock.now()
    if (this.#granted === undefined) {
      const granted = memberOf(notice.params, 'notifications')
      this.#granted = listenFilterFault(granted) === undefined ? (granted as SubscriptionFilter) : {}
      return this.#options.context.emit(notice)
    }
    if (this.#gap) return this.#tellAll(this.#granted)
  }

  async #pause(signal: AbortSignal): Promise<void> {
    const { clock, retryInMs } = this.#options
    const ownMs = this.#failures === 0 ? 0 : Math.min(reopening.maxMs, reopening.firstMs * 2 ** (this.#failures - 1))
    this.#failures++
    const delayMs = Math.max(ownMs, retryInMs())
    if (delayMs === 0) return
    let timer: Disposable | undefined
    const pause = new Promise<void>((resolve) => {
      timer = clock.after(delayMs, resolve)
    })
    try {
      await abortable(pause, signal)
    } finally {
      timer?.[Symbol.dispose]()
    }
  }

  #tellAll(granted: SubscriptionFilter): void {
    this.#gap = false
    const { context } = this.#options
    const missed: Call[] = lists.map((name) => ({ method: name, params: {} }))
    for (const uri of granted.resourceSubscriptions ?? []) {
      missed.push({ method: noticeName.resourceUpdated, params: { uri } })
    }
    for (const change of missed) if (filterAdmits(granted, change)) void context.emit(change)
  }
}

const lists = [noticeName.toolsChanged, noticeName.promptsChanged, noticeName.resourcesChanged]

/** The context of a listen on one connection. */
class ListenContext extends ForwardedContext {
  readonly #listen: KeptListen

  constructor(listen: KeptListen, origin: CallContext, signal: AbortSignal) {
    super(origin, { signal })
    this.#listen = listen
  }

  override emit(notice: Call): void | Promise<void> {
    return this.#listen.take(notice)
  }
}

export function isListen(call: Call): boolean {
  return call.method === method.listen
}
