import { entriesOf } from './lists.ts'
import { toolPage } from './pages.ts'

/**
 * A server of both eras that does everything right, save for the one flaw that it was given by the id of the finding that names it. It
 * knows nothing of our packages, which are what finds the flaw.
 */

export type Params = Readonly<Record<string, unknown>>

export interface Message {
  readonly jsonrpc?: unknown
  readonly id?: unknown
  readonly method?: unknown
  readonly params?: Params
}

export interface Setup {
  readonly flaw: string
  readonly modern: string
  readonly legacy: string
}

/** The answer to one request: what is written before it, the response, and the status that it has over HTTP. */
export interface Reply {
  readonly before: readonly object[]
  readonly response: object | undefined
  readonly status: number
  /** Over HTTP: an event stream; it stays open where it is a subscription. */
  readonly stream: boolean
  readonly staysOpen: boolean
}

const key = (name: string): string => `io.modelcontextprotocol/${name}`
/** Flaws of a server without the legacy era. */
const modernOnly: readonly string[] = ['legacy-refusal-unnamed', 'get-refusal']
const info = { name: 'flawed', version: '1.0.0' }

class Failure extends Error {
  readonly code: number
  readonly data: unknown
  readonly status: number

  constructor(code: number, message: string, status = 200, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
    this.status = status
  }
}

export class FlawedServer {
  readonly #setup: Setup
  #listings = 0
  #discoveries = 0

  constructor(setup: Setup) {
    this.#setup = setup
  }

  get flaw(): string {
    return this.#setup.flaw
  }

  claimOf({ params }: Message): unknown {
    return metaOf(params)?.[key('protocolVersion')]
  }

  /** Judges an envelope and answers it. `headerFault` comes after the version, as the ladder has it. */
  answer(message: Message, headerFault: (message: Message) => string | undefined = () => undefined): Reply {
    const { flaw } = this
    const isModern = this.claimOf(message) !== undefined
    const before = this.#before(message, isModern)
    const base = { before, stream: before.length > 0 || this.#streams(message), staysOpen: false }
    try {
      if (!this.#hasGoodId(message)) throw new Failure(-32_600, 'The id cannot be echoed', 400)
      if (message.jsonrpc !== '2.0' && flaw !== 'jsonrpc-unchecked') throw new Failure(-32_600, 'Not JSON-RPC 2.0', 400)
      const fault = isModern ? this.#judgeModern(message, headerFault) : undefined
      if (fault !== undefined) throw fault
      if (isModern && message.method === 'subscriptions/listen') return this.#listen(message)
      const result = isModern ? this.#modern(message) : this.#legacy(message)
      return { ...base, status: 200, response: this.#wrapped(message, { result }) }
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      const { code, message: text, data, status } = error
      const body =
        flaw === 'error-malformed' && code === -32_601 && isModern
          ? { message: text }
          : { code, message: text, ...(data !== undefined && { data }) }
      return { ...base, stream: before.length > 0, status, response: this.#wrapped(message, { error: body }) }
    }
  }

  #hasGoodId({ id }: Message): boolean {
    return this.flaw === 'id-rounded' || typeof id === 'string' || Number.isSafeInteger(id)
  }

  #wrapped(message: Message, outcome: { readonly result?: object; readonly error?: object }): object | undefined {
    const { flaw } = this
    if (flaw === 'request-unanswered' && message.method === 'prompts/list') return undefined
    const id = flaw === 'id-changed' && message.id === 0 ? '0' : message.id
    const isReadable = this.#hasGoodId(message)
    if (flaw === 'response-malformed' && message.method === 'prompts/list') return { id, ...outcome }
    return { jsonrpc: '2.0', ...(isReadable && { id }), ...outcome }
  }

  /** What must not come before a response. */
  #before({ method }: Message, isModern: boolean): readonly object[] {
    if (!isModern || method !== 'resources/list') return []
    const notify = (name: string, params: object): object[] => [{ jsonrpc: '2.0', method: name, params }]
    switch (this.flaw) {
      case 'server-request':
        return [{ jsonrpc: '2.0', id: 'mine', method: 'roots/list' }]
      case 'log-unasked':
        return notify('notifications/message', { level: 'info', data: 'listing' })
      case 'progress-unasked':
        return notify('notifications/progress', { progressToken: 1, progress: 1 })
      case 'notification-unasked':
        return notify('notifications/tools/list_changed', {})
      case 'response-unasked':
        return [{ jsonrpc: '2.0', id: 'nobody', result: { resultType: 'complete' } }]
      default:
        return []
    }
  }

  #streams({ method }: Message): boolean {
    return this.flaw === 'streams' || (this.flaw.startsWith('sse-') && method === 'prompts/list')
  }

  /** Steps 16 to 23 of the ladder. */
  #judgeModern(message: Message, headerFault: (message: Message) => string | undefined): Failure | undefined {
    const { flaw } = this
    const { modern, legacy } = this.#setup
    const claim = this.claimOf(message)
    const meta = metaOf(message.params) ?? {}
    const mismatch = (reason: string): Failure =>
      flaw === 'header-refusal' ? new Failure(-32_600, reason, 400) : new Failure(-32_020, reason, 400)
    const versionFault = headerFault({ ...message, method: undefined })
    if (versionFault?.includes('differs') === true) return mismatch(versionFault)
    if (claim !== modern && flaw !== 'version-unrefused') {
      const data = flaw === 'version-refusal-data' ? {} : { supported: this.#supported(), requested: claim }
      const named = flaw === 'version-refusal-list' ? { supported: [modern, '2099-01-01'], requested: claim } : data
      return new Failure(-32_022, `Served: ${modern}, ${legacy}`, flaw === 'version-refusal-status' ? 200 : 400, named)
    }
    if (versionFault !== undefined) return mismatch(versionFault)
    const hasCapabilities = typeof meta[key('clientCapabilities')] === 'object'
    if (!hasCapabilities && flaw !== 'meta-unrequired') {
      return new Failure(-32_602, 'clientCapabilities is missing', flaw === 'meta-refusal-status' ? 200 : 400)
    }
    if (flaw === 'client-info-required' && meta[key('clientInfo')] === undefined) {
      return new Failure(-32_602, 'clientInfo is missing', 400)
    }
    const fault = headerFault(message)
    if (fault !== undefined) return mismatch(fault)
    if (flaw === 'header-refused' && message.method === 'prompts/list') return mismatch('no')
    return undefined
  }

  #supported(): readonly string[] {
    return modernOnly.includes(this.flaw) ? [this.#setup.modern] : [this.#setup.modern, this.#setup.legacy]
  }

  #capabilities(): object {
    const all = { tools: { listChanged: true }, prompts: {}, resources: { listChanged: true } }
    switch (this.flaw) {
      case 'capability-shape':
        return { ...all, prompts: { listChanged: 'no' } }
      case 'capability-extension':
        return { ...all, extensions: { unprefixed: {} } }
      case 'capability-undeclared':
        return { tools: all.tools, resources: all.resources }
      default:
        return all
    }
  }

  #discover(): object {
    const { flaw } = this
    const meta = { [key('serverInfo')]: info }
    const base = {
      resultType: 'complete',
      supportedVersions: this.#supported(),
      capabilities: this.#capabilities(),
      instructions: 'Use add.',
      ttlMs: 1000,
      cacheScope: 'public',
      _meta: meta,
    }
    switch (flaw) {
      case 'discover-versions':
        return { ...base, supportedVersions: this.#setup.modern }
      case 'discover-no-version':
        return { ...base, supportedVersions: [] }
      case 'discover-unstable':
        this.#discoveries += 1
        return this.#discoveries > 1 ? { ...base, capabilities: { ...this.#capabilities(), logging: {} } } : base
      case 'discover-capabilities':
        return { ...base, capabilities: [] }
      case 'discover-instructions':
        return { ...base, instructions: ['Use add.'] }
      case 'instructions-empty':
        return { ...base, instructions: '' }
      case 'discover-server-info':
        return { ...base, _meta: {} }
      case 'discover-top-level-info':
        return { ...base, _meta: {}, serverInfo: info }
      default:
        return base
    }
  }

  #modern({ method, params = {} }: Message): object {
    const { flaw } = this
    switch (method) {
      case 'server/discover':
        if (flaw === 'discover-unserved') throw new Failure(-32_601, 'Method not found', 404)
        return this.#discover()
      case 'ping':
        if (flaw === 'removed-method-served') return { resultType: 'complete' }
        break
      case 'tools/list':
      case 'prompts/list':
      case 'resources/list':
      case 'resources/templates/list':
        return this.#edited(method, {
          resultType: 'complete',
          ...this.#list(method, params),
          ttlMs: 0,
          cacheScope: 'private',
        })
      case 'tools/call':
      case 'prompts/get':
        return this.#named(String(params['name']), true)
      case 'resources/read':
        return this.#read(params, true)
    }
    throw this.#unknownMethod(404)
  }

  #legacy({ method, params = {} }: Message): object {
    const { flaw } = this
    switch (method) {
      case 'initialize':
        return this.#initialize(params)
      case 'ping':
        if (flaw === 'ping-unserved') throw this.#unknownMethod(200)
        return {}
      case 'tools/list':
      case 'prompts/list':
      case 'resources/list':
      case 'resources/templates/list': {
        const list = this.#list(method, params)
        return flaw === 'legacy-modern-members' ? { ...list, ttlMs: 0 } : list
      }
      case 'tools/call':
      case 'prompts/get':
        return this.#named(String(params['name']), false)
      case 'resources/read':
        return this.#read(params, false)
    }
    throw this.#unknownMethod(200)
  }

  #unknownMethod(status: number): Failure {
    if (this.flaw === 'unknown-method-code') return new Failure(-32_603, 'What?', 200)
    return new Failure(-32_601, 'Method not found', this.flaw === 'unknown-method-status' ? 200 : status)
  }

  #initialize(params: Params): object {
    const { flaw } = this
    const { modern, legacy } = this.#setup
    if (flaw === 'legacy-refusal-unnamed') throw new Failure(-32_601, 'Method not found', 400)
    if (flaw === 'discover-version-refused' || flaw === 'get-refusal')
      throw new Failure(-32_601, `Served: ${modern}`, 400)
    const asked = params['protocolVersion']
    const base = {
      protocolVersion: asked === legacy ? asked : legacy,
      capabilities: this.#capabilities(),
      serverInfo: info,
      instructions: 'Use add.',
    }
    switch (flaw) {
      case 'initialize-malformed':
        return { serverInfo: info, capabilities: {} }
      case 'initialize-server-info':
        return { ...base, serverInfo: { name: 'flawed' } }
      case 'initialize-instructions':
        return { ...base, instructions: 1 }
      case 'legacy-version-unusable':
        return { ...base, protocolVersion: modern }
      case 'legacy-version-other':
        return { ...base, protocolVersion: '2024-11-05' }
      default:
        return base
    }
  }

  #named(name: string, isModern: boolean): object {
    const { flaw } = this
    const complete = isModern ? { resultType: 'complete' } : {}
    if (name === 'add') return { ...complete, content: [], structuredContent: { a: 1, b: 2 } }
    if (name === 'mul') return { ...complete, content: [{ type: 'text', text: 'no' }], isError: true }
    if (flaw === 'unknown-name-code') return { ...complete, content: [], isError: true }
    if (isModern && flaw === 'error-code-undefined') throw new Failure(-32_050, 'Unknown')
    if (isModern && flaw === 'error-code-old-range') throw new Failure(-32_000, 'Unknown')
    throw new Failure(-32_602, `Unknown: ${name}`)
  }

  #read(params: Params, isModern: boolean): object {
    const uri = String(params['uri'])
    if (this.flaw === 'resource-missing-code') {
      return { ...(isModern && { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }), contents: [] }
    }
    if (this.flaw === 'resource-missing-served') {
      const contents = [{ uri, text: 'There is no such note.' }]
      return { ...(isModern && { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }), contents }
    }
    if (isModern && this.flaw !== 'error-code-legacy') throw new Failure(-32_602, 'Not found', 200, { uri })
    throw new Failure(-32_002, 'Not found', 200, { uri })
  }

  /** One page of a list; tools come in two. */
  #list(method: string, params: Params): Record<string, unknown> {
    const { flaw } = this
    const members: Readonly<Record<string, string>> = {
      'tools/list': 'tools',
      'prompts/list': 'prompts',
      'resources/list': 'resources',
      'resources/templates/list': 'resourceTemplates',
    }
    const member = members[method] ?? ''
    if (flaw === 'capability-unserved' && method === 'prompts/list') throw new Failure(-32_601, 'Method not found', 404)
    if (flaw === 'list-malformed' && method === 'prompts/list') return { [member]: {} }
    const entries = entriesOf(method, flaw)
    if (method !== 'tools/list') return { [member]: entries }
    this.#listings += 1
    return { [member]: [], ...this.#toolPage(entries, params['cursor']) }
  }

  #toolPage(entries: readonly unknown[], cursor: unknown): Record<string, unknown> {
    const page = toolPage(this.flaw, entries, cursor, this.#listings)
    if (page === undefined) throw new Failure(-32_602, 'Unknown cursor')
    return page
  }

  /** What a flaw does to a modern list result. */
  #edited(method: string, result: Record<string, unknown>): object {
    const { resultType: _, ...untyped } = result
    switch (`${this.flaw} ${method}`) {
      case 'result-type-missing prompts/list':
        return untyped
      case 'result-type-unknown prompts/list':
        return { ...result, resultType: 'done' }
      case 'cache-ttl prompts/list':
        return { ...result, ttlMs: '60' }
      case 'cache-scope prompts/list':
        return { ...result, cacheScope: 'shared' }
      case 'cache-scope-pages tools/list':
        return result['nextCursor'] === undefined ? { ...result, cacheScope: 'public' } : result
      case 'meta-key prompts/list':
        return { ...result, _meta: { 'bad key!': 1 } }
      default:
        return result
    }
  }

  #listen(message: Message): Reply {
    const { flaw } = this
    if (flaw === 'listen-unserved') {
      const error = { code: -32_601, message: 'Method not found' }
      return { before: [], stream: false, staysOpen: false, status: 404, response: this.#wrapped(message, { error }) }
    }
    const asked = (message.params?.['notifications'] ?? {}) as Params
    const meta = { [key('subscriptionId')]: flaw === 'listen-id' ? 1 : message.id }
    const granted = flaw === 'listen-filter' ? { ...asked, promptsListChanged: true } : asked
    const acknowledgement = {
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: granted, _meta: meta },
    }
    const change = { jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: { _meta: meta } }
    const result = { resultType: 'complete', _meta: meta }
    const before =
      flaw === 'listen-no-acknowledgement'
        ? []
        : flaw === 'listen-order'
          ? [change, acknowledgement]
          : [acknowledgement]
    const ends = flaw === 'listen-ended' || flaw === 'listen-not-stream'
    return {
      before,
      status: 200,
      stream: flaw !== 'listen-not-stream',
      staysOpen: !ends,
      response: ends ? this.#wrapped(message, { result }) : undefined,
    }
  }
}

function metaOf(params: Params | undefined): Params | undefined {
  const meta = params?.['_meta']
  return typeof meta === 'object' && meta !== null ? (meta as Params) : undefined
}
