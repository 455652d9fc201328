import { discoverResult } from '../discover.ts'
import type { RevisionPolicy } from '../revisions.ts'
import type { Call, Outcome } from './call.ts'
import type { CallContext, Principal } from './context.ts'
import type { Dispatcher, ServerView, Viewer } from './dispatcher.ts'
import { method } from './methods.ts'

/** The dispatcher with discovery in front of it, which is answered from what it offers to the caller (MC-DISC-01, -10). */
export function withDiscovery(dispatcher: Dispatcher, policy: RevisionPolicy): Dispatcher {
  return new DiscoveringDispatcher(dispatcher, policy)
}

class DiscoveringDispatcher implements Dispatcher {
  readonly #inner: Dispatcher
  readonly #policy: RevisionPolicy

  constructor(inner: Dispatcher, policy: RevisionPolicy) {
    this.#inner = inner
    this.#policy = policy
  }

  call(call: Call, context: CallContext): Outcome | Promise<Outcome> {
    if (call.method !== method.discover) return this.#inner.call(call, context)
    return this.#discover(context)
  }

  notify(notice: Call, context: CallContext): void | Promise<void> {
    return this.#inner.notify(notice, context)
  }

  view(principal: Principal, viewer?: Viewer): ServerView | Promise<ServerView> {
    return this.#inner.view(principal, viewer)
  }

  drain(): Promise<void> {
    return this.#inner.drain()
  }

  #discover(context: CallContext): Outcome | Promise<Outcome> {
    const view = this.#inner.view(context.principal, context)
    return view instanceof Promise ? view.then((offered) => this.#discovered(offered)) : this.#discovered(view)
  }

  #discovered(view: ServerView): Outcome {
    return { kind: 'result', value: discoverResult(view, this.#policy) }
  }
}
