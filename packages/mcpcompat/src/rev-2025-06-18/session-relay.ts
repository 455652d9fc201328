import type { Call } from '../contract/call.ts'
import type { ClientLine } from '../contract/client-line.ts'
import type { CallContext, LogLevel } from '../contract/context.ts'
import type { Implementation } from '../contract/dispatcher.ts'
import { toErrorObject } from '../contract/failure.ts'
import { notice as noticeName } from '../contract/methods.ts'
import type { PeerAskOptions, PeerSession } from '../contract/peer-session.ts'
import { withMember } from '../jsonrpc/edit.ts'
import { rpcCode } from '../jsonrpc/errors.ts'
import { isJsonObject, type JsonObject } from '../jsonrpc/json.ts'
import type { RpcId, RpcRequest, RpcResponse } from '../jsonrpc/message.ts'
import { levelAdmits } from '../log-levels.ts'
import { memberOf } from '../member.ts'
import { metaKey } from '../meta.ts'
import { legacyMethod, legacyNotice } from './methods.ts'

export interface SessionRelayOptions {
  /** The client for whom the connection was made. */
  readonly session: PeerSession
  readonly line: ClientLine
  /** Sends a request of our own to the server. */
  readonly send: (method: string, params: JsonObject, onResponse: (response: RpcResponse | undefined) => void) => void
}

/** Requests of one server that may wait for its client at the same time. */
const maxOpen = 256

/**
 * What passes between a legacy server and the one legacy client that a connection to it was made for, outside of the calls of that client
 * (BR-307). Both sides keep ids of their own.
 */
export class SessionRelay {
  readonly #session: PeerSession
  readonly #line: ClientLine
  readonly #send: SessionRelayOptions['send']
  /** Requests of the server that wait for the client. */
  readonly #open = new Map<RpcId, AbortController>()
  #following: Disposable | undefined

  constructor(options: SessionRelayOptions) {
    this.#session = options.session
    this.#line = options.line
    this.#send = options.send
  }

  /** The params of `initialize`: what the client itself said. */
  initializeParams(revision: string, own: Implementation): JsonObject {
    const { declared, peer } = this.#session
    return { protocolVersion: revision, capabilities: relayable(declared), clientInfo: peer.info ?? own }
  }

  /** From now on the server hears what the client tells its session. `hasLogging`: it can be told a level. */
  start(hasLogging: boolean): void {
    const level = (wanted: LogLevel): void => {
      if (hasLogging) this.#setLevel(wanted)
    }
    this.#following = this.#session.follow({
      level,
      rootsChanged: () =>
        this.#line.post({ kind: 'notification', method: legacyNotice.rootsChanged, params: undefined }),
    })
    if (this.#session.wantedLevel !== undefined) level(this.#session.wantedLevel)
  }

  /** A request of the server goes to the client, and its answer back, whichever it is. */
  take({ id, method, params }: RpcRequest, related: CallContext | undefined): void {
    if (this.#open.has(id)) return
    if (this.#open.size >= maxOpen) {
      this.#line.post({
        kind: 'error',
        id,
        error: { code: rpcCode.internalError, message: 'Too many requests are open' },
      })
      return
    }
    const stop = new AbortController()
    this.#open.set(id, stop)
    const question = { method, params: params ?? {} }
    const onProgress = this.#progressOf(id, progressTokenOf(question.params))
    this.#session.ask(question, { signal: stop.signal, related, onProgress }).then(
      (result) => {
        if (this.#open.delete(id)) this.#line.post({ kind: 'result', id, result })
      },
      (error: unknown) => {
        if (this.#open.delete(id)) this.#line.post({ kind: 'error', id, error: toErrorObject(error) })
      },
    )
  }

  /** Progress goes back under the token of the server, while its request is open. */
  #progressOf(id: RpcId, progressToken: RpcId | undefined): PeerAskOptions['onProgress'] {
    if (progressToken === undefined) return undefined
    return (told) => {
      if (!this.#open.has(id)) return
      const params = withMember(told, metaKey.progressToken, progressToken)
      this.#line.post({ kind: 'notification', method: noticeName.progress, params })
    }
  }

  /** The server takes a request back: nothing is answered, and the client is told. */
  withdrawn(id: RpcId | undefined): void {
    const stop = id === undefined ? undefined : this.#open.get(id)
    if (id === undefined || stop === undefined) return
    this.#open.delete(id)
    stop.abort(new DOMException('The server does not need the answer any more', 'AbortError'))
  }

  /** Something that the server tells its client outside of what calls wait for. */
  tell(notice: Call, related: CallContext | undefined): void {
    const { wantedLevel } = this.#session
    const isLog = notice.method === noticeName.message
    if (isLog && wantedLevel !== undefined && !levelAdmits(wantedLevel, memberOf(notice.params, 'level') as LogLevel)) {
      return
    }
    this.#session.tell(notice, related)
  }

  /** The connection is over: what the server asked leads to nothing. */
  end(cause: unknown): void {
    this.#following?.[Symbol.dispose]()
    const open = [...this.#open.values()]
    this.#open.clear()
    for (const stop of open) stop.abort(cause ?? new DOMException('The server is gone', 'AbortError'))
  }

  #setLevel(level: LogLevel): void {
    this.#send(legacyMethod.setLevel, { level }, (response) => {
      if (response?.kind === 'error') {
        this.#line.report(
          'warning',
          'level-refused',
          `The server refused the log level: ${response.error.message.slice(0, 200)}`,
        )
      }
    })
  }
}

/** Kinds of requests that can be passed on. What else a client declares could not be kept to here. */
function relayable(declared: JsonObject): JsonObject {
  const { roots, sampling, elicitation, experimental } = declared
  return {
    ...(isJsonObject(roots) && { roots }),
    ...(isJsonObject(sampling) && { sampling }),
    ...(isJsonObject(elicitation) && { elicitation }),
    ...(isJsonObject(experimental) && { experimental }),
  }
}

/** The token under which the server wants to hear of progress. */
function progressTokenOf(params: Call['params']): RpcId | undefined {
  const meta = memberOf(params, '_meta')
  const token = isJsonObject(meta) ? meta[metaKey.progressToken] : undefined
  return typeof token === 'string' || typeof token === 'number' ? token : undefined
}
