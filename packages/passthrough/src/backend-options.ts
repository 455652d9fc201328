import type {
  CreateAllowListOptions,
  Implementation,
  JsonObject,
  OnDiagnostic,
  Principal,
  RevisionPolicy,
  Root,
} from '@atenea/mcpcompat'
import type { ClientConnection, Clock, PeerSession } from '@atenea/mcpcompat/transport'

/** How the era of a backend is decided: found out, or pinned. A pin that does not hold is an error. */
export type BackendMode = 'auto' | 'legacy' | 'modern'

/** Names that are used in place of a backend's own. */
export interface Renames {
  readonly tools?: ReadonlyMap<string, string> | undefined
  readonly prompts?: ReadonlyMap<string, string> | undefined
}

/** Names or globs of what may be listed and used of one backend, by its own names (before any renaming). */
export interface BackendPolicy {
  readonly tools?: CreateAllowListOptions | undefined
  readonly prompts?: CreateAllowListOptions | undefined
  /** Uris of resources and templates. */
  readonly resources?: CreateAllowListOptions | undefined
}

/** How long to wait before a backend is connected to again. The first try after a call that went well is made at once. */
export interface BackoffOptions {
  /** Default 500 ms. */
  readonly firstMs?: number | undefined
  /** Default 30,000 ms. */
  readonly maxMs?: number | undefined
  /** Default 2. */
  readonly factor?: number | undefined
}

/** What a backend is connected with. The members have the names and meanings of the options of `connectDuplex` and `connectHttp`. */
export interface BackendConnectOptions {
  readonly mode: BackendMode
  readonly policy: RevisionPolicy
  readonly info: Implementation
  /** What the backend may ask for, in the form of the modern revision. */
  readonly capabilities: JsonObject
  /** The client for whom the connection is made, should the backend keep sessions. */
  readonly relayFor?: PeerSession | undefined
  readonly roots?: readonly Root[] | undefined
  /** On whose behalf. Credentials of callers are never passed on (BR-213); this is for those that the operator keeps per principal. */
  readonly principal: Principal
  readonly signal: AbortSignal
  readonly onDiagnostic: OnDiagnostic | undefined
  readonly clock: Clock
}

/** One server behind the proxy. */
export interface BackendOptions {
  /** Unique; part of the names of tools and prompts when there are several backends. */
  readonly name: string
  /** Default `auto`. */
  readonly mode?: BackendMode | undefined
  /**
   * Makes a connection. Carriers should be opened with `payload: 'text'`, so that what is only relayed is not parsed. What is remembered of
   * the backend's era between connections is the business of whoever gives this.
   */
  connect(options: BackendConnectOptions): Promise<ClientConnection>
  readonly allow?: BackendPolicy | undefined
  /**
   * What a backend that keeps sessions is told when it asks for roots and no client can be asked for its own (BR-223): outside of any call, for
   * clients that have none, or where questions do not cross. They are declared to it then: whoever configures them lets the backend look
   * there. A client that has roots is asked for them as without these, and gets no others.
   */
  readonly roots?: readonly Root[] | undefined
  /** Other names for its tools and prompts, which stand as they are: no prefix is put before them. */
  readonly rename?: Renames | undefined
  /** Longest time for connecting, handshake included. Default 60,000 ms. */
  readonly connectTimeoutMs?: number | undefined
  /** Longest time that a call may go without an answer or progress. Default 120,000 ms; `Infinity` for none. */
  readonly callTimeoutMs?: number | undefined
  /** Longest time of a call, whatever progress it makes. Default 1,800,000 ms. */
  readonly maxCallMs?: number | undefined
  readonly backoff?: BackoffOptions | undefined
  /** Calls that may be open at the same time, those that wait for a connection included. Default 4,096. */
  readonly maxInFlight?: number | undefined
  /** Connections that are kept at the same time for a backend that needs one for each client. Default 256. */
  readonly maxSessions?: number | undefined
  /**
   * Calls that may be asked something and are open at the same time, where questions cross and the backend does not say in which call it asks,
   * as on a stream: each has a connection, that is a process, of its own (BR-223). Default 4.
   */
  readonly maxAskingCalls?: number | undefined
  /** How long such a call waits when all are taken. Default 10,000 ms. */
  readonly askingWaitMs?: number | undefined
  /** After how long without a call a connection for one or some of the clients is closed, unless its client keeps a session with us. Default 600,000 ms. */
  readonly idleSessionMs?: number | undefined
  /**
   * After how long without a call the connection of a client is closed that keeps a session with us and would not hear of anything, as one on
   * HTTP that holds no stream open and may have gone. Its next call gets another one. Default 1,800,000 ms.
   */
  readonly unheardSessionMs?: number | undefined
}
