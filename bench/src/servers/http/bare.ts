import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  discoverResult,
  initializeResult,
  listResult,
  textResult,
  unknownMethod,
  unknownOpening,
} from '../bare-results.ts'
import { listen } from './listen.ts'
import { onSignals } from './on-signals.ts'

/*
 * The limit over HTTP: reads the body, parses the JSON, switches on the method and concatenates an answer. It validates nothing,
 * and every session is as good as another.
 */

interface Message {
  readonly id?: number
  readonly method: string
  readonly params: {
    readonly name: string
    readonly arguments: { readonly text: string }
    readonly protocolVersion: string
    readonly _meta: Readonly<Record<string, string>>
  }
}

const changed = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
const streams = new Set<ServerResponse>()
let counter = 0
let sessions = 0

listen((req, res) => {
  if (req.method === 'GET') {
    // clients look for how to sign in before they begin
    if (req.url === '/mcp') openStream(res, ':\n\n')
    else res.writeHead(404).end()
    return
  }
  let first: Buffer | undefined
  let rest: Buffer[] | undefined
  req.on('data', (chunk: Buffer) => {
    if (first === undefined) first = chunk
    else (rest ??= [first]).push(chunk)
  })
  req.on('end', () => {
    const bytes = rest === undefined ? first : Buffer.concat(rest)
    answer(JSON.parse((bytes as Buffer).toString('utf8')) as Message, req, res)
  })
})

onSignals(() => {
  for (const stream of streams) stream.write(`data: ${changed}\n\n`)
})

function answer({ id, method, params }: Message, _req: IncomingMessage, res: ServerResponse): void {
  switch (method) {
    case 'tools/call': {
      const text = params.name === 'bump' ? String(++counter) : params.arguments.text
      return send(res, id, textResult(text))
    }
    case 'tools/list':
      return send(res, id, listResult)
    case unknownOpening:
      return sendText(res, unknownMethod(id))
    case 'server/discover':
      return send(res, id, discoverResult(params._meta['io.modelcontextprotocol/protocolVersion'] as string))
    case 'initialize':
      res.setHeader('Mcp-Session-Id', `session-${++sessions}`)
      return send(res, id, initializeResult(params.protocolVersion))
    case 'subscriptions/listen':
      return openStream(res, `data: ${acknowledged(id)}\n\n`)
    default:
      res.writeHead(202, ['Content-Length', '0'])
      res.end()
  }
}

function send(res: ServerResponse, id: number | undefined, result: string): void {
  sendText(res, `{"jsonrpc":"2.0","id":${id},"result":${result}}`)
}

function sendText(res: ServerResponse, text: string): void {
  res.writeHead(200, ['Content-Type', 'application/json', 'Content-Length', String(Buffer.byteLength(text))])
  res.end(text)
}

function openStream(res: ServerResponse, opening: string): void {
  res.writeHead(200, ['Content-Type', 'text/event-stream', 'Cache-Control', 'no-cache'])
  res.write(opening)
  streams.add(res)
  res.on('close', () => streams.delete(res))
}

function acknowledged(id: number | undefined): string {
  const meta = `{"io.modelcontextprotocol/subscriptionId":${id}}`
  return `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":${meta},"notifications":{"toolsListChanged":true}}}`
}
