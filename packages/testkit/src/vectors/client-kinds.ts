import { isFresh, isJsonObject, type JsonObject, type JsonValue, method } from '@atenea/mcpcompat'
import {
  buildRetry,
  cacheHintsOf,
  type DuplexProbeEvent,
  invalidates,
  isSseType,
  isStorable,
  judgeDuplexProbe,
  judgeHttpProbe,
  missingForInput,
  parseDiscoverResult,
  parseMessage,
  parseResult,
  type ProbeVerdict,
} from '@atenea/mcpcompat/transport'
import { createSseDecoder } from '@atenea/transport-http'
import { type Accept, given, givenText, headersOf, idOf, type Kind, object, present, text } from './kind.ts'
import { strings, VectorFileError } from './vector-file.ts'

const discoverResult: Kind = {
  run(input) {
    const parsed = parseDiscoverResult(given(input, 'result'))
    if (!parsed.valid) return { valid: false }
    return { valid: true, supportedVersions: parsed.supportedVersions, ...parsed.hints }
  },
}

const resultParse: Kind = {
  run(input, _file, source) {
    const options = { extensionResultTypes: strings(input['extensionResultTypes']) }
    const parsed = parseResult(text(input, 'method'), givenText(source, 'result'), options)
    switch (parsed.kind) {
      case 'input_required':
        return {
          kind: parsed.kind,
          inputRequestKeys: [...(parsed.ask.inputRequests?.keys() ?? [])],
          requestState: parsed.ask.requestState ?? null,
        }
      case 'extension':
        return { kind: parsed.kind, resultType: parsed.resultType }
      case 'complete':
      case 'invalid':
        return { kind: parsed.kind }
    }
  },
}

const mrtrRetry: Kind = {
  run(input, _file, source) {
    const asked = typeof input['method'] === 'string' ? input['method'] : method.callTool
    const parsed = parseResult(asked, givenText(source, 'result'))
    if (parsed.kind !== 'input_required') return { error: parsed.kind }
    return {
      ...buildRetry({
        params: object(input, 'originalParams'),
        ask: parsed.ask,
        responses: object(input, 'responses'),
        firstId: idOf(input, 'firstId'),
        retryId: idOf(input, 'retryId'),
      }),
    }
  },
}

const inputCapability: Kind = {
  run(input) {
    const request = object(input, 'inputRequest')
    const call = { method: text(request, 'method'), params: object(request, 'params') }
    const missing = missingForInput(object(input, 'declared'), call)
    return missing === undefined ? { allowed: true } : { allowed: false, missing }
  },
}

const cacheFreshness: Kind = {
  run(input) {
    const { resultType, ttlMs, cacheScope } = input
    const call = { method: text(input, 'method'), params: object(input, 'params') }
    const result = present({ resultType, ttlMs, cacheScope })
    const storable = isStorable(call, result)
    const stale = noticesOf(input).some((notice) => invalidates(notice, call))
    const fresh = isFresh(cacheHintsOf(result), Number(input['receivedAt']), Number(input['now']))
    return { storable, fresh: storable && !stale && fresh }
  },
  optional: ['storable', 'fresh'],
}

/** The notification that came meanwhile: its name, with params beside it, or the whole message. */
function noticesOf(input: JsonObject): { method: string; params: JsonObject }[] {
  const { notification } = input
  if (typeof notification === 'string') return [{ method: notification, params: object(input, 'notificationParams') }]
  return isJsonObject(notification)
    ? [{ method: text(notification, 'method'), params: object(notification, 'params') }]
    : []
}

const decisions: Readonly<Record<ProbeVerdict['kind'], string>> = {
  modern: 'MODERN',
  'modern-retry': 'MODERN_RETRY',
  legacy: 'LEGACY',
  auth: 'AUTH',
  error: 'ERROR',
  wait: 'WAIT',
  inconclusive: 'INCONCLUSIVE',
  follow: 'FOLLOW',
}

function decisionOf(verdict: ProbeVerdict): JsonObject {
  const decision = decisions[verdict.kind]
  switch (verdict.kind) {
    case 'modern':
    case 'modern-retry':
      return { decision, version: verdict.revision }
    case 'legacy':
      return present({
        decision: verdict.selected ? 'LEGACY_SELECTED' : decision,
        version: verdict.selected ? verdict.revision : undefined,
        restart: verdict.restart,
      })
    case 'auth':
    case 'error':
    case 'wait':
    case 'inconclusive':
    case 'follow':
      return { decision }
  }
}

function probeContext(input: JsonObject): {
  modern: readonly string[]
  legacy: readonly string[]
  requested: string
  retried: boolean
} {
  return {
    modern: newestFirst(strings(input['clientModern'])),
    legacy: newestFirst(strings(input['clientLegacy'])),
    requested: text(input, 'requested'),
    retried: input['retried'] === true,
  }
}

/** Dates, as the code takes them; a file may list them in any order. */
function newestFirst(revisions: readonly string[]): readonly string[] {
  return revisions.toSorted().toReversed()
}

/** MODERN without a version means the requested one. */
const acceptRequested: Accept = (expect, actual) =>
  expect['decision'] === 'MODERN' && expect['version'] === undefined
    ? present({ ...expect, version: actual['requested'] })
    : expect

const fallbackHttp: Kind = {
  run(input) {
    const context = { ...probeContext(input), method: text(input, 'probeMethod') }
    const { event, status, url } = input
    if (typeof event === 'string') {
      const failure = event === 'stream-ended' || event === 'timeout' || event === 'aborted' ? event : 'network-error'
      return { ...decisionOf(judgeHttpProbe({ event: failure }, context)), requested: context.requested }
    }
    const head = { status: Number(status), headers: headersOf(input), ...(typeof url === 'string' && { url }) }
    // raw text is what came over the wire; a body that is given as a message is one already
    const raw = input['body']
    const isStream = Math.trunc(head.status / 100) === 2 && isSseType(head.headers['content-type'])
    const body = isStream && typeof raw === 'string' && raw !== '' ? responseIn(raw) : bodyText(raw)
    const verdict = judgeHttpProbe(body === undefined ? { event: 'stream-ended' } : { ...head, body }, context)
    return { ...decisionOf(verdict), requested: context.requested }
  },
  optional: ['requested'],
  accept: acceptRequested,
}

/** null is an empty body, a string raw text. */
function bodyText(body: JsonValue | undefined): string {
  if (body === null || body === undefined) return ''
  return typeof body === 'string' ? body : JSON.stringify(body)
}

/** The data of the event that holds the response, as a client hands it to the verdict; none when the stream ends before it. */
function responseIn(stream: string): string | undefined {
  const decoder = createSseDecoder({ maxEventBytes: stream.length * 3 })
  const events = decoder.push(new TextEncoder().encode(stream)).filter(({ type, data }) => type === 'message' && data)
  return events.find(({ data }) => !['request', 'notification'].includes(parseMessage(data, 'text').kind))?.data
}

const fallbackStdio: Kind = {
  run(input) {
    const outcome = object(input, 'outcome')
    const context = { ...probeContext(input), probeId: 1, restarted: outcome['afterRestart'] === true }
    return { ...decisionOf(judgeDuplexProbe(eventOf(outcome), context)), requested: context.requested }
  },
  optional: ['requested'],
  accept: acceptRequested,
}

const exitEvents = /^(?:exit|eof|(?:stream-)?(?:closed?|end(?:ed)?)|disconnect(?:ed)?)$/

function eventOf(outcome: JsonObject): DuplexProbeEvent {
  const { event, line, message } = outcome
  if (typeof line === 'string') return { kind: 'message', message: parseMessage(line, 'parsed') }
  if (message !== undefined) return { kind: 'message', message: parseMessage(JSON.stringify(message), 'parsed') }
  if (event === 'timeout' || event === 'spawn-error') return { kind: event }
  // row S12: the process exits, or the peer closes the stream
  if (typeof event === 'string' && exitEvents.test(event)) return { kind: 'exit' }
  throw new VectorFileError(`input.outcome.event ${JSON.stringify(event)} is not known`)
}

/** Kinds about what a client makes of answers. */
export const clientKinds: Readonly<Record<string, Kind>> = {
  discover_result: discoverResult,
  result_parse: resultParse,
  mrtr_retry: mrtrRetry,
  input_capability: inputCapability,
  cache_freshness: cacheFreshness,
  fallback_http: fallbackHttp,
  fallback_stdio: fallbackStdio,
}
