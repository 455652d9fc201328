import { type Era, method, revisionsOf } from '@atenea/mcpcompat'
import {
  type HttpProbeAnswer,
  type HttpProbeFailure,
  headerName,
  judgeHttpProbe,
  type ProbeVerdict,
} from '@atenea/mcpcompat/transport'
import { parseChallenges } from '@atenea/transport-http'
import { challengeOf, describeChallenge } from '../auth/challenge.ts'
import { callTool } from '../call-tool.ts'
import type { Probing } from '../carrier.ts'
import { checkDowngrade } from '../checks/check-downgrade.ts'
import { checkNotification } from '../checks/check-errors.ts'
import { runChecks, whileTalking } from '../checks/run-checks.ts'
import { Conversation } from '../conversation.ts'
import { judgeDiscovery } from '../discovery.ts'
import { type EraResult, getsIn } from '../era-result.ts'
import { handshakeParams, legacyMethod } from '../eras.ts'
import { judgeHandshake } from '../handshake.ts'
import type { UrlTarget } from '../report.ts'
import { showAnswer } from '../show.ts'
import type { HttpPart } from '../wire/answer.ts'
import { createHttpWire, type HttpExchange, type HttpWire } from '../wire/http-wire.ts'
import { checkGuards } from './check-guards.ts'
import { checkHeaders } from './check-headers.ts'
import { checkSessions } from './check-sessions.ts'
import { explainFailure, explainStatus } from './explain.ts'
import { createHttpTalk, type CreateHttpTalkOptions, type HttpTalk } from './http-talk.ts'
import { isDeprecatedSse } from './deprecated-sse.ts'
import { lookNearby } from './look-nearby.ts'
import { recordWay } from './record-way.ts'

/** Probes a URL. Fills the result as it goes; throws for an aborted signal alone. */
export async function probeHttp(target: UrlTarget, probing: Probing): Promise<void> {
  await new HttpProbe(target, probing).run()
}

/** One talk that works, with what its checks need. */
interface Open {
  readonly talk: HttpTalk
  readonly conversation: Conversation
}

class HttpProbe {
  readonly #target: UrlTarget
  readonly #probing: Probing
  #wire: HttpWire
  #isFirst = true
  #nextId = 0
  /** Whether the probe was answered with a server error. */
  #failedOfProbe = false
  /** Whether there was an answer such as servers of the deprecated transport give. */
  #mayBeOlder = false
  /** Whether the URL leads to something else than an MCP endpoint of this host. */
  #isElsewhere = false
  /** Whether no connection can be had. */
  #hasNoWay = false
  readonly #conversations: Conversation[] = []

  constructor(target: UrlTarget, probing: Probing) {
    this.#target = target
    this.#probing = probing
    this.#wire = createHttpWire(new URL(target.url), probing.options.signal)
  }

  async run(): Promise<void> {
    const { options, result } = this.#probing
    try {
      const modern = options.protocol === 'legacy' ? undefined : await this.#probeModern()
      if (result.auth !== undefined || this.#hasNoWay) return
      const legacy = options.protocol === 'modern' ? undefined : await this.#probeLegacy()
      if (this.#hasNoWay) return
      await this.#probeGuards(modern, legacy)
      await this.#call(modern, legacy)
      await this.#endSession(legacy)
      const wall = this.#conversations.find((conversation) => conversation.wall !== undefined)?.wall
      if (wall !== undefined && result.auth === undefined) this.#takeChallenge(wall)
      await this.#explain()
    } finally {
      this.#wire[Symbol.dispose]()
    }
  }

  #talk(era: Era, revision: string): HttpTalk {
    return createHttpTalk({ ...this.#talkOptions(era, revision), wire: this.#wire })
  }

  #talkOptions(era: Era, revision: string): Omit<CreateHttpTalkOptions, 'wire'> {
    const { timeoutMs, signal } = this.#probing.options
    const ids = (): number => (this.#nextId += 1)
    return { era, revision, headers: this.#target.headers ?? {}, timeoutMs, ids, signal }
  }

  #converse(talk: HttpTalk): Conversation {
    const { recorder, options } = this.#probing
    const conversation = new Conversation(talk, recorder, options, async () => await Promise.resolve(''))
    this.#conversations.push(conversation)
    return conversation
  }

  async #probeModern(): Promise<Open | undefined> {
    const { options, recorder, result } = this.#probing
    const [requested = ''] = options.policy.modern
    result.modern.requested = requested
    recorder.doing('modern: server/discover')
    let talk = this.#talk('modern', requested)
    let answer = await this.#firstOf(talk, method.discover)
    let verdict = this.#judge(answer, requested)
    if (verdict.kind === 'follow') {
      recorder.found('redirect', { evidence: `${this.#wire.url.href} → ${verdict.url}` })
      this.#wire[Symbol.dispose]()
      this.#wire = createHttpWire(new URL(verdict.url), options.signal)
      talk = this.#talk('modern', requested)
      answer = await this.#firstOf(talk, method.discover)
      verdict = this.#judge(answer, requested, { redirected: true })
    }
    if (verdict.kind === 'modern-retry') {
      answer = await this.#firstOf(talk, method.discover)
      verdict = this.#judge(answer, requested, { retried: true })
    }
    if (verdict.kind === 'auth') {
      if (answer.http !== undefined) this.#takeChallenge(answer.http)
      return undefined
    }
    this.#failedOfProbe = verdict.row === 'H05'
    this.#takeTrouble(answer)
    if (this.#isGone(answer, result.modern)) return undefined
    const conversation = this.#converse(talk)
    const isModern = judgeDiscovery(conversation, answer, verdict, result.modern)
    if (isModern) {
      await whileTalking(async () => {
        await runChecks(conversation, result.modern)
        recorder.doing('modern: headers')
        await checkHeaders(conversation, result.modern.capabilities ?? {})
      })
      return { talk, conversation }
    }
    if (verdict.kind === 'legacy' && !verdict.selected) {
      await whileTalking(async () => await checkDowngrade(conversation, result.modern))
    }
    return undefined
  }

  /** Sends the first request of an era, and records how it went. */
  async #firstOf(talk: HttpTalk, name: string): Promise<HttpExchange> {
    const { recorder } = this.#probing
    const from = performance.now()
    const params = name === legacyMethod.initialize ? handshakeParams(talk.revision) : {}
    const answer = await talk.send(name, params, {})
    if (this.#isFirst) recordWay(recorder, answer, this.#wire.url)
    this.#isFirst = false
    recorder.step({
      name: name === legacyMethod.initialize ? 'initialize' : 'discover',
      era: talk.era,
      from,
      to: performance.now(),
      ok: answer.response !== undefined && answer.response.value['result'] !== undefined,
      detail: showAnswer(answer),
    })
    return answer
  }

  #judge(
    answer: HttpExchange,
    requested: string,
    more: { retried?: boolean; redirected?: boolean } = {},
  ): ProbeVerdict {
    return judgeHttpProbe(toProbeAnswer(answer, this.#wire.url, more.redirected === true), {
      requested,
      modern: revisionsOf('modern'),
      legacy: revisionsOf('legacy'),
      ...(more.retried === true && { retried: true }),
    })
  }

  #takeChallenge(refusal: HttpPart): void {
    const { options, result } = this.#probing
    result.auth = challengeOf(refusal, options.redact)
    result.challenges = parseChallenges(refusal.headers['www-authenticate'])
    const reason = `authentication is needed first: ${describeChallenge(result.auth)}`
    for (const era of [result.modern, result.legacy]) if (era.verdict === 'not-tried') era.reason = reason
  }

  /** Remembers the first reason for which nothing of MCP came. */
  #takeTrouble(answer: HttpExchange): void {
    const { result } = this.#probing
    const { url } = this.#wire
    const status = answer.http?.status ?? 0
    if (answer.response === undefined && [200, 404, 405, 501].includes(status)) this.#isElsewhere = true
    result.trouble ??= answer.failure === undefined ? explainStatus(answer, url) : explainFailure(answer.failure, url)
  }

  /** Whether there is no point in asking on: no connection could be had. What is known is said of the era. */
  #isGone(answer: HttpExchange, era: EraResult): boolean {
    const { failure, http } = answer
    if (failure === undefined || http !== undefined) return false
    // who accepts a connection and keeps silent may answer the other era
    if (failure.kind === 'timeout' && failure.stage === 'http') return false
    this.#hasNoWay = true
    era.reason = this.#probing.result.trouble?.cause ?? failure.message
    return true
  }

  async #probeLegacy(): Promise<Open | undefined> {
    const { options, recorder, result } = this.#probing
    const requested = options.policy.legacy[0] ?? revisionsOf('legacy')[0] ?? ''
    result.legacy.requested = requested
    recorder.doing('legacy: initialize')
    const opening = this.#talk('legacy', requested)
    const answer = await this.#firstOf(opening, legacyMethod.initialize)
    const status = answer.http?.status
    if (answer.http !== undefined && (status === 401 || status === 407)) {
      this.#takeChallenge(answer.http)
      return undefined
    }
    if (status === 404 || status === 405 || status === 400) this.#mayBeOlder = true
    this.#takeTrouble(answer)
    if (this.#isGone(answer, result.legacy)) return undefined
    const revision = judgeHandshake(this.#converse(opening), answer, result.legacy, {
      policy: options.policy,
      modern: result.modern,
    })
    if (revision === undefined) return undefined
    const talk = this.#talk('legacy', revision)
    talk.sessionId = answer.http?.headers[headerName.sessionId]
    talk.isInitialized = true
    const conversation = this.#converse(talk)
    await whileTalking(async () => {
      await checkNotification(conversation, legacyMethod.initialized)
      await runChecks(conversation, result.legacy)
      recorder.doing('legacy: sessions')
      await checkSessions(conversation, talk)
    })
    return { talk, conversation }
  }

  async #probeGuards(modern: Open | undefined, legacy: Open | undefined): Promise<void> {
    const open = modern ?? legacy
    if (open === undefined) return
    this.#probing.recorder.doing('HTTP: origins, media types, bodies')
    await whileTalking(async () => await checkGuards(open.conversation, open.talk, legacy !== undefined))
  }

  async #call(modern: Open | undefined, legacy: Open | undefined): Promise<void> {
    const { options, result } = this.#probing
    const { call } = options
    const open = modern ?? legacy
    if (call === undefined || open === undefined) return
    await whileTalking(async () => {
      result.call = await callTool(open.conversation, modern === undefined ? result.legacy : result.modern, call)
    })
  }

  async #endSession(legacy: Open | undefined): Promise<void> {
    if (legacy?.talk.sessionId === undefined) return
    await legacy.talk.send('DELETE', {}, { httpMethod: 'DELETE', headOnly: true, timeoutMs: 2_000 })
  }

  /** What the results of both eras say about each other and about the way. */
  async #explain(): Promise<void> {
    const { recorder, result } = this.#probing
    const { modern, legacy } = result
    if (getsIn(modern, 'modern') || getsIn(legacy, 'legacy')) {
      result.trouble = undefined
      if (this.#failedOfProbe && getsIn(legacy, 'legacy')) {
        recorder.found('probe-server-error', { era: 'legacy', evidence: modern.reason })
      }
      return
    }
    if (modern.hasAnswered || legacy.hasAnswered) return
    if (this.#mayBeOlder && (await isDeprecatedSse(this.#wire, this.#target.headers ?? {}))) {
      result.trouble = {
        cause:
          'This is a server of the deprecated HTTP+SSE transport: GET opens an event stream with an endpoint event.',
        repair:
          'Update the server to Streamable HTTP, or put a proxy in front that speaks HTTP+SSE (atenea-proxy --http-sse).',
      }
      return
    }
    if (this.#isElsewhere) await this.#lookNearby()
  }

  async #lookNearby(): Promise<void> {
    const { options, result } = this.#probing
    const [revision = ''] = options.policy.modern
    const found = await lookNearby(this.#wire.url, this.#talkOptions('modern', revision))
    if (found === undefined || result.trouble === undefined) return
    result.trouble = { ...result.trouble, repair: `Write ${found.href}, where an MCP server answers.` }
  }
}

/** An answer in the form in which verdicts read it. */
function toProbeAnswer(answer: HttpExchange, url: URL, redirected: boolean): HttpProbeAnswer | HttpProbeFailure {
  const { http, failure, response } = answer
  if (failure !== undefined) {
    if (failure.kind === 'timeout') return { event: 'timeout' }
    return { event: http === undefined ? 'network-error' : 'stream-ended' }
  }
  if (http === undefined) return { event: 'network-error' }
  if (http.isEventStream && response === undefined) return { event: 'stream-ended' }
  return {
    status: http.status,
    headers: http.headers,
    body: response?.text ?? answer.junk[0]?.text ?? '',
    url: url.href,
    redirected,
  }
}
