import type { JsonObject } from '../jsonrpc/json.ts'
import type { RpcId } from '../jsonrpc/message.ts'
import type { Call } from './call.ts'
import type { CallContext, LogLevel, Peer, Principal, Resume, Scope, WireHints } from './context.ts'
import type { PeerSession } from './peer-session.ts'

/**
 * A context that stands for another one, for those on the way of a call who change a part of it: what a subclass does not say itself is
 * that of `origin`. `source` and the watching of aborts are not handed on, since whoever stands in between may change what they are about.
 */
export class DelegatedContext implements CallContext {
  readonly origin: CallContext

  constructor(origin: CallContext) {
    this.origin = origin
  }

  get signal(): AbortSignal {
    return this.origin.signal
  }

  get peer(): Peer {
    return this.origin.peer
  }

  get principal(): Principal {
    return this.origin.principal
  }

  get meta(): JsonObject {
    return this.origin.meta
  }

  get metaText(): CallContext['metaText'] {
    return this.origin.metaText
  }

  get progressToken(): RpcId | undefined {
    return this.origin.progressToken
  }

  get logLevel(): LogLevel | undefined {
    return this.origin.logLevel
  }

  get hints(): WireHints {
    return this.origin.hints
  }

  get resume(): Resume | undefined {
    return this.origin.resume
  }

  get scope(): Scope {
    return this.origin.scope
  }

  get session(): PeerSession | undefined {
    return this.origin.session
  }

  emit(notice: Call): void | Promise<void> {
    return this.origin.emit(notice)
  }
}
