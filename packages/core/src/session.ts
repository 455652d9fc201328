import type { CallContext, Peer, Principal, Scope } from '@atenea/mcpcompat'

/**
 * What the application keeps for one modern dispatch, or for one legacy transport session. A modern one is closed before its
 * response is sent, however the call ended; a handler reaches no other one. Nothing in it grants anything.
 */
export interface Session {
  /** What the client said of itself when the session was opened. For logs and for what it can do (MC-META-11). */
  readonly client: Peer
  readonly principal: Principal
  readonly closed: boolean
  /** Belongs to this session alone and is empty after its end. */
  readonly state: Map<unknown, unknown>
  /** Runs once at the end, last in first out. Runs at once when the session is closed already. */
  defer(dispose: () => void | Promise<void>): void
}

const key = Symbol('atenea.core.session')

/** The session of a call, opened by the first handler that asks for it. It ends with the scope of the call. */
export function sessionOf(context: CallContext): Session {
  const { scope } = context
  const open = scope.state.get(key)
  if (open instanceof ScopeSession) return open
  const session = new ScopeSession(scope, context.peer, context.principal)
  if (!scope.closed) scope.state.set(key, session)
  return session
}

class ScopeSession implements Session {
  readonly client: Peer
  readonly principal: Principal
  readonly state = new Map<unknown, unknown>()
  readonly #scope: Scope

  constructor(scope: Scope, client: Peer, principal: Principal) {
    this.#scope = scope
    this.client = client
    this.principal = principal
    // First in, so that it runs after whatever handlers defer.
    scope.defer(() => this.state.clear())
  }

  get closed(): boolean {
    return this.#scope.closed
  }

  defer(dispose: () => void | Promise<void>): void {
    this.#scope.defer(dispose)
  }
}
