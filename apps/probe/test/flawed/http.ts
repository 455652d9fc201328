import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { FlawedServer, type Message, type Reply, type Setup } from './core.ts'

export interface RunningServer extends AsyncDisposable {
  readonly url: string
}

/** Serves the fixture over HTTP, on a port of its own. */
export async function serveFlawed(setup: Setup, host = '127.0.0.1'): Promise<RunningServer> {
  const endpoint = new Endpoint(setup)
  const server = createServer((request, response) => void endpoint.handle(request, response))
  await new Promise<void>((resolve) => void server.listen(0, host, resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://${host}:${port}/mcp`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => void server.close(resolve))
    },
  }
}

class Endpoint {
  readonly #setup: Setup
  readonly #core: FlawedServer
  readonly #sessions = new Set<string>()
  #opened = 1000
  #requests = 0

  constructor(setup: Setup) {
    this.#setup = setup
    this.#core = new FlawedServer(setup)
  }

  get #flaw(): string {
    return this.#setup.flaw
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await textOf(request)
    this.#requests += 1
    const busy = this.#requests > 12 ? ({ 'rate-limited': 429, 'server-unavailable': 503 } as const) : {}
    const status = (busy as Readonly<Record<string, number>>)[this.#flaw]
    if (status !== undefined) {
      response.writeHead(status, { 'retry-after': '60' }).end('later')
      return
    }
    if (this.#flaw === 'redirect' && request.url === '/mcp') {
      response.writeHead(307, { location: '/moved' }).end()
      return
    }
    const refused = this.#refusal(request)
    if (refused !== undefined) {
      response.writeHead(refused).end()
      return
    }
    if (request.method !== 'POST') this.#other(request, response)
    else this.#post(request, response, text)
  }

  /** What stands before the body. */
  #refusal({ headers, method }: IncomingMessage): number | undefined {
    const flaw = this.#flaw
    if (headers.origin !== undefined && flaw !== 'origin-unchecked' && flaw !== 'origin-open') {
      return flaw === 'origin-refusal-status' ? 400 : 403
    }
    if (!/^(?:127\.0\.0\.\d|localhost)(?::|$)/.test(headers.host ?? '') && flaw !== 'host-unchecked') return 403
    if (method !== 'POST') return undefined
    const type = headers['content-type'] ?? ''
    if (flaw === 'content-type-strict' && type !== 'application/json') return 415
    if (!type.startsWith('application/json') && flaw !== 'content-type-ignored') return 415
    const accept = headers.accept ?? '*/*'
    if (flaw === 'accept-strict' && !/json.*event-stream/.test(accept)) return 406
    return /json|\*\/\*|event-stream/.test(accept) || flaw === 'accept-ignored' ? undefined : 406
  }

  /** GET, DELETE, and what there is not. */
  #other({ method, headers }: IncomingMessage, response: ServerResponse): void {
    const flaw = this.#flaw
    const id = headers['mcp-session-id']
    if (method === 'DELETE' && typeof id === 'string') {
      if (flaw !== 'session-after-delete') this.#sessions.delete(id)
      response.writeHead(flaw === 'session-delete-status' ? 400 : 204).end()
    } else if (method === 'GET' && flaw === 'get-refusal') {
      response.writeHead(404).end()
    } else if (method === 'GET' && flaw === 'get-answer') {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<p>hello</p>')
    } else {
      response.writeHead(flaw === 'http-method-status' && method === 'PUT' ? 200 : 405, { allow: 'POST' }).end()
    }
  }

  #post(request: IncomingMessage, response: ServerResponse, text: string): void {
    const flaw = this.#flaw
    let message: Message
    try {
      message = JSON.parse(text) as Message
    } catch {
      const id = flaw === 'id-null' ? { id: null } : {}
      const error = { jsonrpc: '2.0', ...id, error: { code: -32_700, message: 'Parse error' } }
      json(response, flaw === 'bad-json-answer' ? 200 : 400, error)
      return
    }
    if (Array.isArray(message)) {
      const [only] = message as readonly Message[]
      if (flaw === 'batch-served' && only !== undefined) json(response, 200, this.#core.answer(only).response)
      else json(response, 400, { jsonrpc: '2.0', error: { code: -32_600, message: 'Batches are not served' } })
      return
    }
    if (this.#core.claimOf(message) === undefined) this.#legacy(request, response, message)
    else this.#modern(request, response, message)
  }

  #modern(request: IncomingMessage, response: ServerResponse, message: Message): void {
    const flaw = this.#flaw
    if (flaw === 'probe-server-error') {
      response.writeHead(500).end('oops')
      return
    }
    if (message.id === undefined) {
      if (flaw === 'notification-status') json(response, 200, {})
      else response.writeHead(202).end()
      return
    }
    if (flaw === 'server-failure' && message.method === 'prompts/list') {
      response.writeHead(500).end('oops')
      return
    }
    const hides = flaw === 'modern-ran-unmarked'
    if (hides) {
      this.#unmarked(response, message)
      return
    }
    if (flaw === 'connection-broken' && message.method === 'prompts/list') {
      response.destroy()
      return
    }
    const headers = flaw === 'session-in-modern' ? { 'mcp-session-id': randomUUID() } : {}
    const reply = this.#core.answer(message, (asked) => this.#headerFault(request, asked))
    this.#write(response, reply, headers, flaw === 'answer-media-type' && message.method === 'prompts/list')
  }

  /** A legacy server that runs what it does not understand. */
  #unmarked(response: ServerResponse, { id, method, params }: Message): void {
    const { _meta: _, ...rest } = params ?? {}
    const { response: body } = this.#core.answer({ jsonrpc: '2.0', id, method, params: rest })
    json(response, 200, body)
  }

  /** Without a method: the version alone. */
  #headerFault({ headers }: IncomingMessage, { method, params }: Message): string | undefined {
    const flaw = this.#flaw
    const version = headers['mcp-protocol-version']
    if (version === undefined && flaw !== 'header-version-optional') return 'MCP-Protocol-Version is missing'
    const claim = this.#core.claimOf({ params: params ?? {} })
    if (version !== undefined && version !== claim && flaw !== 'header-version-unchecked') {
      return 'MCP-Protocol-Version differs'
    }
    if (method === undefined) return undefined
    const named = headers['mcp-method']
    if (
      named === undefined ? flaw !== 'header-method-optional' : named !== method && flaw !== 'header-method-unchecked'
    ) {
      return 'Mcp-Method is missing or wrong'
    }
    const wanted = method === 'resources/read' ? 'uri' : 'name'
    const isNamed = method === 'tools/call' || method === 'prompts/get' || method === 'resources/read'
    return !isNamed ? undefined : this.#nameFault(String(params?.[wanted]), headers['mcp-name'])
  }

  #nameFault(name: string, field: string | string[] | undefined): string | undefined {
    const flaw = this.#flaw
    if (typeof field !== 'string') return flaw === 'header-name-optional' ? undefined : 'Mcp-Name is missing'
    const coded = /^=\?base64\?(.*)\?=$/.exec(field)
    if (coded === null || flaw === 'header-name-encoding') {
      return field === name || flaw === 'header-name-unchecked' ? undefined : 'Mcp-Name does not match'
    }
    const bytes = coded[1] ?? ''
    if (!/^[A-Za-z0-9+/]*={0,2}$/.test(bytes) || bytes.length % 4 !== 0) {
      return flaw === 'header-name-malformed' ? undefined : 'Mcp-Name is malformed'
    }
    return Buffer.from(bytes, 'base64').toString() === name ? undefined : 'Mcp-Name does not match'
  }

  #legacy(request: IncomingMessage, response: ServerResponse, message: Message): void {
    const flaw = this.#flaw
    const version = request.headers['mcp-protocol-version']
    const { legacy } = this.#setup
    const served = flaw === 'legacy-version-other' ? '2024-11-05' : legacy
    if (version !== undefined && version !== served && flaw !== 'legacy-version-header') {
      json(response, 400, { jsonrpc: '2.0', error: { code: -32_600, message: 'Unknown version' } })
      return
    }
    if (message.method === 'initialize') {
      const reply = this.#core.answer(message)
      const opened = 'result' in (reply.response ?? {}) ? { 'mcp-session-id': this.#open() } : {}
      this.#write(response, reply, opened, false)
      return
    }
    const id = request.headers['mcp-session-id']
    if (typeof id !== 'string' && flaw !== 'session-missing-served') {
      response.writeHead(400).end()
      return
    }
    if (typeof id === 'string' && !this.#sessions.has(id) && flaw !== 'session-unknown-served') {
      response.writeHead(404).end()
      return
    }
    if (message.id === undefined) response.writeHead(202).end()
    else this.#write(response, this.#core.answer(message), {}, false)
  }

  #open(): string {
    this.#opened += 1
    const ids: Readonly<Record<string, string>> = {
      'session-id-characters': `${randomUUID()} ${randomUUID()}`,
      'session-id-guessable': `session-number-${this.#opened}`,
      'session-shared': 'the-one-and-only-session-of-us-all',
    }
    const id = ids[this.#flaw] ?? randomUUID()
    this.#sessions.add(id)
    return id
  }

  #write(response: ServerResponse, reply: Reply, headers: Record<string, string>, asText: boolean): void {
    const flaw = this.#flaw
    const { before, stream, staysOpen, status } = reply
    if (!stream) {
      if (reply.response === undefined) return
      const type = asText ? 'text/plain' : 'application/json'
      response.writeHead(status, { 'content-type': type, ...headers }).end(this.#textOf(reply.response))
      return
    }
    const buffering = flaw === 'sse-buffered' ? {} : { 'x-accel-buffering': 'no' }
    response.writeHead(200, { 'content-type': 'text/event-stream', ...buffering, ...headers })
    const id = flaw === 'sse-event-ids' ? 'id: 7\n' : flaw === 'sse-event-type' ? 'event: answer\n' : ''
    for (const message of before) response.write(`data: ${JSON.stringify(message)}\n\n`)
    if (reply.response !== undefined && flaw !== 'sse-no-response') {
      response.write(`${id}data: ${JSON.stringify(reply.response)}\n\n`)
    }
    if (!staysOpen && flaw !== 'sse-left-open') response.end()
  }

  #textOf(body: object): string {
    const text = JSON.stringify(body)
    return this.#flaw === 'id-respelled' ? text.replace(/"id":(\d+)/, '"id":$1.0') : text
  }
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
