import type { Call, CallContext, OnDiagnostic, Outcome, Principal, ServerView, Viewer } from '@atenea/mcpcompat'
import type { Clock } from '@atenea/mcpcompat/transport'
import type { OnPassthroughEvent } from './events.ts'
import type { BackendLists } from './lists/backend-lists.ts'
import type { NameScheme } from './names/name-scheme.ts'

/** What one backend and several have in common once they are put together. */
export interface WholeServer {
  call(call: Call, context: CallContext): Outcome | Promise<Outcome>
  view(principal: Principal, viewer?: Viewer): ServerView | Promise<ServerView>
  /** Ends the listens that are open here. */
  drain(): Promise<void>
}

export interface WholeServerOptions {
  /** By the name of the backend, in the order of the configuration. */
  readonly lists: ReadonlyMap<string, BackendLists>
  readonly names: { readonly tools: NameScheme; readonly prompts: NameScheme }
  readonly clock: Clock
  readonly onEvent: OnPassthroughEvent | undefined
  readonly onDiagnostic: OnDiagnostic | undefined
}
