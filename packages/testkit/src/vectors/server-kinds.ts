import type { HeaderPlan, JsonObject, JsonValue, ServerView } from '@atenea/mcpcompat'
import { isJsonObject, toText } from '@atenea/mcpcompat'
import {
  classifyDuplex,
  createHttpLadder,
  type HttpDispatch,
  type HttpVerdict,
  loopbackHosts,
  modernRequestFault,
  parseMessage,
  planHeaders,
  type RpcMessage,
  type RpcReject,
  type SessionLookup,
  type SessionRequest,
} from '@atenea/mcpcompat/transport'
import { givenText, headersOf, type Kind, present, serverOf, text } from './kind.ts'
import type { ServerFixture } from './vector-file.ts'

/** Largest body of the cases, in bytes. */
export const bodyLimit: number = 16 * 1024 * 1024

function offerOf(server: ServerFixture): { modern: readonly string[]; legacy: readonly string[] } {
  return { modern: server.modernVersions, legacy: server.legacyVersions }
}

/** What a server of the fixtures offers. */
export function viewOf(server: ServerFixture): ServerView {
  return {
    info: { name: 'fixture', version: '0' },
    capabilities: {},
    has: (name) => server.methods.includes(name),
    headerPlan(tool) {
      return Object.hasOwn(server.tools, tool) ? planOf(server.tools[tool]) : undefined
    },
  }
}

function planOf(schema: JsonValue | undefined): HeaderPlan | undefined {
  const planned = planHeaders(schema)
  return planned.ok ? planned.plan : undefined
}

function sessionsOf(server: ServerFixture): SessionLookup {
  return {
    revisionOf(sessionId) {
      const revision = Object.hasOwn(server.legacySessions, sessionId) ? server.legacySessions[sessionId] : undefined
      return typeof revision === 'string' ? revision : undefined
    },
  }
}

const httpValidate: Kind = {
  run(input, file, source) {
    const server = serverOf(input, file)
    const sessions = sessionsOf(server)
    const ladder = createHttpLadder({
      revisions: offerOf(server),
      allowedOrigins: server.allowedOrigins,
      allowedHosts: loopbackHosts,
      maxBodyBytes: bodyLimit,
      sessions: server.sessionRequired,
    })
    const head = { method: text(input, 'httpMethod'), headers: headersOf(input) }
    const early = ladder.source(head) ?? ladder.head(head, sessions)
    if (early !== undefined) return outcomeOf(early, undefined)
    const body = input['body']
    const raw =
      body === null || body === undefined ? '' : typeof body === 'string' ? body : givenText(source, 'body').text
    if (new TextEncoder().encode(raw).length > bodyLimit) return outcomeOf(ladder.tooLarge(), undefined)
    const message = parseMessage(raw, 'parsed')
    const verdict = ladder.message(head, message, sessions)
    const last =
      verdict.kind === 'modern' ? ladder.modern(head, verdict.request, verdict.revision, viewOf(server)) : verdict
    return outcomeOf(last, message)
  },
  optional: ['status', 'code', 'id', 'dispatch', 'data'],
  accept(expect, actual) {
    // the end of a session is 200 or 204 (decisions 2.2), and a legacy exchange that is accepted
    if (actual['outcome'] === 'ended') {
      const { outcome, status = 204 } = expect
      const isEnd = (outcome === 'legacy' || outcome === 'accepted') && (status === 200 || status === 204)
      return isEnd ? { ...expect, ...actual } : expect
    }
    // of data only the members that a case gives are compared
    return isJsonObject(expect['data']) && isJsonObject(actual['data'])
      ? { ...expect, data: { ...actual['data'], ...expect['data'] } }
      : expect
  },
}

function outcomeOf(
  verdict: HttpDispatch | Exclude<HttpVerdict, { readonly kind: 'modern' }> | SessionRequest,
  message: RpcMessage | RpcReject | undefined,
): JsonObject {
  switch (verdict.kind) {
    case 'reject': {
      const { status, error, id } = verdict
      const data = error?.data === undefined ? undefined : (JSON.parse(toText(error.data)) as JsonValue)
      return present({ outcome: 'reject', status, code: error?.code, id: id ?? null, data })
    }
    case 'dispatch':
      return present({ outcome: 'modern', dispatch: methodOf(message) })
    case 'accepted':
      return { outcome: 'accepted', status: 202 }
    case 'initialize':
      return present({ outcome: 'legacy', dispatch: methodOf(message) })
    case 'session':
    case 'sessionless':
      return message?.kind === 'request'
        ? { outcome: 'legacy', dispatch: message.method }
        : { outcome: 'accepted', status: 202 }
    case 'stream':
      return { outcome: 'legacy', status: 200 }
    case 'end':
      return { outcome: 'ended', status: 204 }
  }
}

function methodOf(message: RpcMessage | RpcReject | undefined): string | undefined {
  return message?.kind === 'request' || message?.kind === 'notification' ? message.method : undefined
}

const eraSelectStdio: Kind = {
  run(input, file, source) {
    const server = serverOf(input, file)
    const offer = offerOf(server)
    const message = parseMessage(givenText(source, 'message').text, 'parsed')
    if (message.kind === 'reject') return { reject: message.code }
    if (message.kind !== 'request' && message.kind !== 'notification') return { era: 'legacy' }
    const verdict = classifyDuplex(message, { initialized: input['state'] === 'legacy-initialized' }, offer)
    if (typeof verdict === 'object') return { reject: verdict.code }
    if (verdict !== 'modern') return { era: 'legacy' }
    const fault = message.kind === 'request' ? modernRequestFault(message, offer, viewOf(server)) : undefined
    return present({ era: 'modern', reject: fault?.code })
  },
  optional: [],
  // a refusal may name the era in which it is made, or not
  accept: (expect, actual) =>
    expect['reject'] !== undefined && expect['era'] === undefined ? present({ ...expect, era: actual['era'] }) : expect,
}

/** Kinds about what a server does with a message. */
export const serverKinds: Readonly<Record<string, Kind>> = {
  http_validate: httpValidate,
  era_select_stdio: eraSelectStdio,
}
