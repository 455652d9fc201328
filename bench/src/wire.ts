import { createByteTemplate, type ByteTemplate, firstId } from './byte-template.ts'
import type { Era } from './targets.ts'

/** A parsed answer, as far as the bench looks into it. */
export interface Answer {
  readonly jsonrpc?: unknown
  readonly id?: unknown
  readonly method?: unknown
  readonly error?: unknown
  readonly result?: {
    readonly resultType?: unknown
    readonly isError?: unknown
    readonly content?: unknown
    readonly tools?: unknown
    readonly supportedVersions?: unknown
    readonly protocolVersion?: unknown
  }
}

/** Tells what is wrong with an answer by throwing. */
export type CheckAnswer = (answer: Answer, id: number) => void

/** A request as bytes, and what its answer must be. */
export interface Exchange {
  readonly request: ByteTemplate
  readonly check: CheckAnswer
}

const clientInfo = { name: 'atenea-bench', version: '1.0.0' }

/** The lines that a client of one era writes, by the revision of that era. */
export interface Wire {
  readonly era: Era
  readonly revision: string
  /** The first request of a client: `server/discover` or `initialize`. */
  readonly opening: Exchange
  /** What a client writes after the opening, or nothing. */
  readonly opened: string
  /** The request of a modern client for changes of the list of tools; its id is `firstId`. */
  readonly listen: string
  listTools(count: number): Exchange
  /** A call whose answer must be one text. The id may be part of the arguments and of the text. */
  callTool(name: string, args: object, text: (id: number) => string): Exchange
  cancel(id: number): string
}

/** The lines of a client that speaks `revision`. */
export function createWire(era: Era, revision: string): Wire {
  const modern = era === 'modern'
  const meta = {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientInfo': clientInfo,
    'io.modelcontextprotocol/clientCapabilities': {},
  }

  function exchange(method: string, params: object, check: CheckAnswer): Exchange {
    const whole = modern ? { _meta: meta, ...params } : params
    const text = JSON.stringify({ jsonrpc: '2.0', id: firstId, method, params: whole })
    return {
      request: createByteTemplate(`${text}\n`, firstId),
      check(answer, id) {
        if (answer.jsonrpc !== '2.0' || answer.id !== id || answer.error !== undefined) fail(answer, method)
        if (answer.result === undefined || answer.result.isError === true) fail(answer, method)
        if (modern && answer.result.resultType !== 'complete') fail(answer, `${method} (resultType)`)
        check(answer, id)
      },
    }
  }

  return {
    era,
    revision,
    opening: modern
      ? exchange('server/discover', {}, (answer) => {
          const versions = answer.result?.supportedVersions
          if (!Array.isArray(versions) || !versions.includes(revision)) fail(answer, 'supportedVersions')
        })
      : exchange('initialize', { protocolVersion: revision, capabilities: {}, clientInfo }, (answer) => {
          if (answer.result?.protocolVersion !== revision) fail(answer, 'protocolVersion')
        }),
    opened: modern ? '' : `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`,
    listen: JSON.stringify({
      jsonrpc: '2.0',
      id: firstId,
      method: 'subscriptions/listen',
      params: { _meta: meta, notifications: { toolsListChanged: true } },
    }),
    listTools: (count) =>
      exchange('tools/list', {}, (answer) => {
        const tools = answer.result?.tools
        if (!Array.isArray(tools) || tools.length !== count) fail(answer, `${count} tools`)
        if (new Set(tools.map(nameOf)).size !== count) fail(answer, 'names of tools')
      }),
    callTool: (name, args, text) =>
      exchange('tools/call', { name, arguments: args }, (answer, id) => {
        const content = answer.result?.content
        if (!Array.isArray(content) || content.length !== 1) fail(answer, 'content')
        const [block] = content as [{ readonly type?: unknown; readonly text?: unknown }]
        if (block.type !== 'text' || block.text !== text(id)) fail(answer, 'text')
      }),
    cancel: (requestId) =>
      `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId, reason: 'bench' } })}\n`,
  }
}

/** A call of `echo` whose text has about `bytes` bytes and begins with the id, so that no two answers are alike. */
export function echoExchange(wire: Wire, bytes: number): Exchange {
  const words = ' the quick brown fox jumps over the lazy dog'
  const rest = words.repeat(Math.ceil(bytes / words.length)).slice(0, bytes - String(firstId).length)
  return wire.callTool('echo', { text: `${firstId}${rest}` }, (id) => `${id}${rest}`)
}

function nameOf(tool: unknown): unknown {
  return (tool as { readonly name?: unknown }).name
}

function fail(answer: Answer, what: string): never {
  throw new Error(`wrong answer (${what}): ${JSON.stringify(answer).slice(0, 500)}`)
}
