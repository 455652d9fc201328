import {
  type AbortOptions,
  type Implementation,
  type JsonObject,
  type OnDiagnostic,
  type RevisionPolicy,
  type Root,
  RpcError,
  TransportError,
} from '@atenea/mcpcompat'
import {
  type ClientConnection,
  type Clock,
  createIds,
  type Discovered,
  isRecognisedModernError,
  judgeHttpProbe,
  type PeerSession,
  type ServerEra,
  toRpcError,
} from '@atenea/mcpcompat/transport'
import type { Payload } from './answer.ts'
import { type Credentials, Endpoint } from './endpoint.ts'
import { EraProbe, type FoundEra } from './era-probe.ts'
import { createExchangeClient, type Refusal } from './exchange/call.ts'
import { createFetchSend } from './fetch-send.ts'
import { repeatableFailure } from './http-errors.ts'
import { KnownEra } from './known-era.ts'
import type { HttpSend } from './send.ts'
import { createSessionClient } from './session/call.ts'
import { verdictKey, type VerdictStore } from './verdicts.ts'

export interface ConnectHttpOptions extends AbortOptions {
  /** Which revisions are offered and accepted. */
  readonly policy: RevisionPolicy
  /** Who we are. It grants nothing. */
  readonly info: Implementation
  /** What we can be asked for, in the form of the modern revision. Default nothing. */
  readonly capabilities?: JsonObject | undefined
  /** Whom the connection is for, should the server keep sessions; see `CreateClientSessionOptions` of mcpcompat. */
  readonly relayFor?: PeerSession | undefined
  /** What a server that keeps sessions is told where no client can be asked for its roots; see `CreateClientSessionOptions` of mcpcompat. */
  readonly roots?: readonly Root[] | undefined
  /**
   * `auto` finds out the era. `legacy` shakes hands at once. `modern` is a pin: discovery is done all the same, and anything but a modern
   * server is an error. Default `auto`.
   */
  readonly mode?: 'auto' | 'legacy' | 'modern' | undefined
  /**
   * How requests are made. Default: the platform's `fetch`. On Node `createNodeSend()` of `@atenea/transport-http/node` costs a tenth of
   * it. It is not disposed with the connection, since several can share it.
   */
  readonly send?: HttpSend | undefined
  /** Fields for every request, such as `X-Api-Key`. They never replace those of the protocol. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /**
   * The value of `Authorization`, asked for anew with each request, or an authorizer such as that of `@atenea/transport-http/oauth`, which
   * gets one when the server wants it. What it gives goes to the origin of the URL only (MC-AUTH-02, -05). A request that was not let in is
   * made again with better credentials, since the server has not carried it out; one of unknown outcome is not. While somebody signs in the
   * limits of the probe and the handshake stand still; that of a call does not.
   */
  readonly authorization?: Credentials | undefined
  /** Where verdicts about the era are kept. Without one the era is found out at each connecting. */
  readonly verdicts?: VerdictStore | undefined
  /** How long the server may take to answer the probe. Default 30,000 ms. */
  readonly probeTimeoutMs?: number | undefined
  /** How long it may take to answer `initialize`. Default as for the probe. */
  readonly handshakeTimeoutMs?: number | undefined
  /** Longest time that a call may take, subscriptions aside. Default 300,000 ms. A signal can end it earlier. */
  readonly callTimeoutMs?: number | undefined
  /** Bytes that one message of the server may have. Default 16 MiB. */
  readonly maxMessageBytes?: number | undefined
  /** How the payload of messages is wanted; `text` by those who relay it. Default `parsed`. */
  readonly payload?: Payload | undefined
  /** Whether to keep a stream open on which a legacy server tells of changes. Default true. */
  readonly openStream?: boolean | undefined
  readonly onDiagnostic?: OnDiagnostic | undefined
  readonly clock?: Clock | undefined
}

/**
 * Connects to a server over Streamable HTTP, whichever its era (decisions 1.2). Rejects with the reason of `signal` unchanged, or with a
 * `TransportError`: `auth` when credentials are missing, `unreachable` or `timeout` when the server does not answer, `protocol` when it is no
 * MCP server, has nothing in common with us, or is not of the era that is pinned. Nothing is downgraded because of an outage, a wall or a
 * time limit, and none of them is remembered.
 *
 * The connection ends when it is disposed, or when a modern server turns out to be no longer one: `ended` tells, and connecting again
 * finds out what it is now.
 */
export async function connectHttp(url: string | URL, options: ConnectHttpOptions): Promise<ClientConnection> {
  return await new Search(endpointUrl(url), options).connect()
}

function endpointUrl(url: string | URL): string {
  const text = String(url)
  if (!URL.canParse(text)) throw new TypeError('The URL of the server cannot be read.')
  const parsed = new URL(text)
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') {
    throw new TypeError(`The URL of the server must begin with http:// or https://, not ${parsed.protocol}`)
  }
  parsed.hash = ''
  return parsed.href
}

/** How often the era of a server is looked at again because of answers that do not become it, in milliseconds. */
const recheckMs = 60_000

class Search {
  readonly #options: ConnectHttpOptions
  readonly #endpoint: Endpoint
  readonly #known: KnownEra
  readonly #probe: EraProbe
  readonly #nextId = createIds()

  constructor(url: string, options: ConnectHttpOptions) {
    this.#options = options
    this.#known = new KnownEra(options.verdicts, verdictKey(url), options.onDiagnostic)
    this.#endpoint = new Endpoint({
      url,
      send: options.send ?? createFetchSend(),
      headers: options.headers,
      authorization: options.authorization,
      maxMessageBytes: options.maxMessageBytes ?? 16 * 1_048_576,
      onDiagnostic: options.onDiagnostic,
      clock: options.clock,
    })
    this.#probe = new EraProbe({
      endpoint: this.#endpoint,
      policy: options.policy,
      info: options.info,
      capabilities: options.capabilities,
      timeoutMs: options.probeTimeoutMs ?? 30_000,
      nextId: this.#nextId,
      signal: options.signal,
    })
  }

  async connect(): Promise<ClientConnection> {
    const { mode = 'auto', policy, signal } = this.#options
    signal?.throwIfAborted()
    if (mode === 'legacy' || policy.modern.length === 0) return await this.#legacy(policy.legacy[0], undefined)
    const prior = await this.#known.get()
    if (mode === 'auto' && prior?.era === 'legacy' && policy.accepts(prior.revision) === 'legacy') {
      try {
        return await this.#legacy(prior.revision, undefined)
      } catch (error) {
        // It may have been replaced by a modern one. Only its own word counts: an outage says nothing about its era.
        if (!TransportError.is(error) || !RpcError.is(error.cause)) throw error
        await this.#known.delete()
        this.#report(
          'verdict-outdated',
          'The server was known as legacy but refused the handshake. Its era is found out anew.',
        )
      }
    }
    return await this.#findOut(prior)
  }

  async #findOut(prior: ServerEra | undefined): Promise<ClientConnection> {
    const { mode } = this.#options
    let { verdict, context } = await this.#probe.run(mode === 'modern')
    if (verdict.kind === 'legacy' && prior?.era === 'modern') {
      // One look may have met a half-upgraded replica.
      ;({ verdict, context } = await this.#probe.run(false))
      if (verdict.kind === 'legacy') {
        await this.#known.delete()
        this.#report('verdict-changed', `${this.#endpoint.name} was known as modern and is legacy now.`)
      }
    }
    if (verdict.kind === 'modern' && verdict.discovered !== undefined) {
      return await this.#modern(context.requested, verdict.revision, verdict.discovered, verdict.row)
    }
    if (verdict.kind === 'legacy') return await this.#legacy(verdict.revision, verdict.row, verdict.httpSse)
    throw this.#refused(verdict)
  }

  #refused(verdict: FoundEra): TransportError {
    if (verdict.kind !== 'error') throw new TypeError(`a verdict of kind ${verdict.kind} is no refusal`)
    const cause = verdict.cause && toRpcError(verdict.cause)
    const kind = verdict.retryable ? 'unreachable' : 'protocol'
    return new TransportError(kind, `${verdict.message} (${verdict.row})`, { cause, retryable: verdict.retryable })
  }

  // what was found

  async #modern(requested: string, revision: string, discovered: Discovered, row: string): Promise<ClientConnection> {
    const { policy, payload = 'parsed', callTimeoutMs = 300_000, onDiagnostic } = this.#options
    for (const defect of discovered.defects) {
      this.#report('discovery-defect', `The discovery result of the server departs from the schema: ${defect}.`)
    }
    const { info, capabilities, instructions, hints } = discovered
    const found: ServerEra = { era: 'modern', revision }
    let verdict: ServerEra | undefined = found
    await this.#known.set(found)
    let tellEnded: (cause: unknown) => void = () => undefined
    const ended = new Promise<unknown>((resolve) => {
      tellEnded = resolve
    })
    const end = (cause: unknown): void => {
      client.end(cause)
      tellEnded(cause)
    }
    let checkedAt: number | undefined
    const recheck = async (refusal: Refusal): Promise<void> => {
      const looksLegacy =
        judgeHttpProbe(refusal, { ...policy, method: refusal.method, requested: revision }).kind === 'legacy'
      const now = this.#endpoint.clock.now()
      if (!looksLegacy || (checkedAt !== undefined && now - checkedAt < recheckMs)) return
      checkedAt = now
      const again = await this.#probe.run(false)
      if (again.verdict.kind !== 'legacy') return
      verdict = undefined
      await this.#known.delete()
      const text = `${this.#endpoint.name} was modern and answers like a legacy server now. Connect again.`
      this.#report('verdict-changed', text)
      end(new TransportError('closed', text, { retryable: true }))
    }
    const client = createExchangeClient({
      endpoint: this.#endpoint,
      revision,
      info: this.#options.info,
      server: { info, capabilities, instructions, hints },
      nextId: this.#nextId,
      payload,
      callTimeoutMs,
      onRefusal: (refusal) => {
        recheck(refusal).catch((cause: unknown) =>
          this.#report('recheck-failed', 'The era of the server could not be looked at again.', cause),
        )
      },
      onDiagnostic,
    })
    return {
      call: (call, context) => client.call(call, context),
      notify: (notice, context) => client.notify(notice, context),
      view: (principal) => client.view(principal),
      drain: () => client.drain(),
      requested,
      observed: revision,
      server: { info, capabilities, instructions },
      row,
      get verdict() {
        return verdict
      },
      ended,
      [Symbol.asyncDispose]: async () => {
        end(undefined)
        await ended
      },
    }
  }

  async #legacy(revision: string | undefined, row: string | undefined, httpSse = false): Promise<ClientConnection> {
    const {
      policy,
      info,
      capabilities = {},
      payload = 'parsed',
      callTimeoutMs = 300_000,
      onDiagnostic,
      signal,
      mode,
    } = this.#options
    const { probeTimeoutMs = 30_000, handshakeTimeoutMs = probeTimeoutMs, openStream = true } = this.#options
    if (revision === undefined) {
      throw new TransportError('protocol', 'No legacy revision is enabled (--legacy-revisions).')
    }
    let verdict: ServerEra | undefined
    const client = createSessionClient({
      endpoint: this.#endpoint,
      policy,
      revision,
      info,
      capabilities,
      relayFor: this.#options.relayFor,
      roots: this.#options.roots,
      payload,
      callTimeoutMs,
      handshakeTimeoutMs,
      openStream,
      onRefused: ({ code }) => {
        if (!isRecognisedModernError(code)) return
        verdict = undefined
        this.#known.deleteLater()
      },
      onDiagnostic,
    })
    let first: Awaited<ReturnType<typeof client.start>>
    try {
      first = await client.start(signal)
    } catch (error) {
      await client.end(error)
      signal?.throwIfAborted()
      throw this.#refusedHandshake(error, httpSse)
    }
    verdict = { era: 'legacy', revision: first.observed }
    if (mode !== 'legacy') await this.#known.set(verdict)
    let tellEnded: () => void = () => undefined
    const ended = new Promise<undefined>((resolve) => {
      tellEnded = () => resolve(undefined)
    })
    return {
      call: (call, context) => client.call(call, context),
      notify: (notice, context) => client.notify(notice, context),
      view: (principal) => client.view(principal),
      drain: () => client.drain(),
      get namesCalls() {
        return client.namesCalls
      },
      requested: first.requested,
      get observed() {
        return (client.server ?? first).observed
      },
      get server() {
        const { info: name, capabilities: offered, instructions } = client.server ?? first
        return { info: name, capabilities: offered, instructions }
      },
      row,
      get verdict() {
        return verdict
      },
      ended,
      [Symbol.asyncDispose]: async () => {
        await client.end()
        tellEnded()
      },
    }
  }

  #refusedHandshake(error: unknown, httpSse: boolean): unknown {
    if (!TransportError.is(error) || error.kind !== 'protocol') return repeatableFailure(error)
    const isModern = RpcError.is(error.cause) && isRecognisedModernError(error.cause.code)
    const hints = [
      ...(isModern ? ['It is a modern server after all; if it was known as legacy, that is forgotten now.'] : []),
      ...(httpSse ? ['The URL may belong to the deprecated HTTP+SSE transport.'] : []),
    ]
    if (hints.length === 0) return error
    return new TransportError('protocol', `${error.message} ${hints.join(' ')}`, { cause: error.cause ?? error })
  }

  #report(code: string, message: string, cause?: unknown): void {
    this.#options.onDiagnostic?.({ level: 'warning', code, message, cause })
  }
}
