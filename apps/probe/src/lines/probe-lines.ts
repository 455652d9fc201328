import { method, revisionsOf, TransportError } from '@atenea/mcpcompat'
import { type DuplexProbeEvent, judgeDuplexProbe, parseMessage, type ProbeVerdict } from '@atenea/mcpcompat/transport'
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
import type { CommandTarget, SocketTarget } from '../report.ts'
import { showAnswer } from '../show.ts'
import type { Answer } from '../wire/answer.ts'
import { checkEnd, checkGarbage, checkNoise } from './check-process.ts'
import { explainLines } from './explain.ts'
import { type LinePeer, openPeer, settledWithin } from './line-peer.ts'
import { createLineTalk } from './line-talk.ts'

/** So long a server may keep silent before the other era is tried beside it. */
const siblingMs = 3_000
/** So long the first one may still answer once the second one has. */
const graceMs = 1_000

/** Probes a command or a unix socket. Fills the result as it goes; throws for an aborted signal alone. */
export async function probeLines(target: CommandTarget | SocketTarget, probing: Probing): Promise<void> {
  await new LineProbe(target, probing).run()
}

/** A process or connection that speaks one era. */
interface Open {
  readonly peer: LinePeer
  readonly conversation: Conversation
}

/** The handshake of a peer, as it came. */
interface Greeted {
  readonly peer: LinePeer
  readonly conversation: Conversation
  readonly answer: Answer
}

class LineProbe {
  readonly #target: CommandTarget | SocketTarget
  readonly #probing: Probing
  readonly #peers: LinePeer[] = []
  #isFirstLine = true
  /** Whether the server ended of the modern probe. */
  #hasDied = false
  /** The first peer, where it runs and says nothing: what became of others beside it tells less. */
  #silent: LinePeer | undefined

  constructor(target: CommandTarget | SocketTarget, probing: Probing) {
    this.#target = target
    this.#probing = probing
  }

  async run(): Promise<void> {
    const { options, result } = this.#probing
    try {
      if (options.protocol !== 'legacy') await this.#probeModern()
      if (result.trouble === undefined && options.protocol !== 'modern' && result.legacy.verdict === 'not-tried') {
        const greeted = await this.#greet()
        if (greeted !== undefined) await this.#probeLegacy(greeted)
      }
      await this.#conclude()
    } finally {
      await Promise.all(this.#peers.map(async (peer) => await peer.close()))
    }
  }

  async #probeModern(): Promise<void> {
    const { options, recorder, result } = this.#probing
    const [requested = ''] = options.policy.modern
    result.modern.requested = requested
    const peer = await this.#open()
    if (peer === undefined) return
    recorder.doing('modern: server/discover')
    const talk = createLineTalk({ wire: peer.wire, era: 'modern', revision: requested, timeoutMs: options.timeoutMs })
    const conversation = this.#converse(talk, peer)
    const from = performance.now()
    const asking = talk.send(method.discover, {}, {})
    const sibling = await this.#siblingOf(asking, peer)
    let answer = await asking
    // it was ended since the other era answered, so it kept silent until then
    if (sibling?.answer.response !== undefined && answer.response === undefined) answer = silent(answer)
    this.#firstLine(peer, from)
    recorder.step({
      name: 'discover',
      era: 'modern',
      from,
      to: performance.now(),
      ok: answer.response?.value['result'] !== undefined,
      detail: showAnswer(answer),
    })
    let verdict = judge(answer, requested, false)
    if (verdict.kind === 'modern-retry') {
      answer = await talk.send(method.discover, {}, {})
      verdict = judge(answer, requested, true)
    }
    if (answer.failure?.kind === 'timeout') this.#silent = peer
    await this.#goOn({ peer, conversation }, answer, verdict)
    if (sibling !== undefined) await this.#probeLegacy(sibling)
  }

  async #goOn({ peer, conversation }: Open, answer: Answer, verdict: ProbeVerdict): Promise<void> {
    const { modern } = this.#probing.result
    const isModern = judgeDiscovery(conversation, answer, verdict, modern)
    await whileTalking(async () => {
      if (isModern) {
        await runChecks(conversation, modern)
        await this.#call(conversation, modern)
      } else if (verdict.kind === 'legacy' && !verdict.selected && answer.response !== undefined) {
        await checkDowngrade(conversation, modern)
      }
      if (!isModern) return
      if (await checkGarbage(conversation, peer)) await checkEnd(conversation, peer)
    })
    if (isModern) checkNoise(conversation, peer)
    else if (verdict.row === 'S12') {
      this.#hasDied = !peer.wire.isFlooded
      const epitaph = await peer.epitaph()
      modern.reason = peer.wire.faults.has('content-length')
        ? 'nothing of what is answered can be read as MCP'
        : peer.wire.isFlooded
          ? `server/discover → ${showAnswer(answer)}`
          : `${peer.name} ${epitaph === '' ? 'closes its output' : epitaph} when it gets server/discover`
    }
    if (isModern) await peer.close()
  }

  /** A server that keeps silent may be a legacy one: a second one is greeted beside it, and if it answers, the waiting ends. */
  async #siblingOf(asking: Promise<Answer>, peer: LinePeer): Promise<Greeted | undefined> {
    const { options } = this.#probing
    if (options.protocol === 'modern' || options.timeoutMs <= siblingMs) return undefined
    if ((await settledWithin(asking, siblingMs)) !== undefined) return undefined
    const greeted = await this.#greet()
    if (greeted?.answer.response === undefined) return greeted
    // both may only have started slowly, as several package runners at once do
    if ((await settledWithin(asking, graceMs)) === undefined) await peer.close()
    return greeted
  }

  /** Opens a peer for the legacy era and sends the handshake. */
  async #greet(): Promise<Greeted | undefined> {
    const { options, recorder, result } = this.#probing
    const requested = options.policy.legacy[0] ?? revisionsOf('legacy')[0] ?? ''
    result.legacy.requested = requested
    const peer = await this.#open()
    if (peer === undefined) return undefined
    recorder.doing('legacy: initialize')
    const talk = createLineTalk({ wire: peer.wire, era: 'legacy', revision: requested, timeoutMs: options.timeoutMs })
    const from = performance.now()
    const answer = await talk.send(legacyMethod.initialize, handshakeParams(requested), {})
    this.#firstLine(peer, from)
    recorder.step({
      name: 'initialize',
      era: 'legacy',
      from,
      to: performance.now(),
      ok: answer.response?.value['result'] !== undefined,
      detail: showAnswer(answer),
    })
    return { peer, conversation: this.#converse(talk, peer), answer }
  }

  async #probeLegacy({ peer, conversation, answer }: Greeted): Promise<void> {
    const { options, result } = this.#probing
    const { legacy, modern } = result
    const revision = judgeHandshake(conversation, answer, legacy, { policy: options.policy, modern })
    if (revision === undefined) {
      if (answer.response === undefined) legacy.reason = `initialize → ${showAnswer(answer)}`
      checkNoise(conversation, peer)
      return
    }
    await whileTalking(async () => {
      await checkNotification(conversation, legacyMethod.initialized)
      await runChecks(conversation, legacy)
      if (!getsIn(modern, 'modern')) await this.#call(conversation, legacy)
      if (await checkGarbage(conversation, peer)) await checkEnd(conversation, peer)
    })
    checkNoise(conversation, peer)
  }

  async #call(conversation: Conversation, era: EraResult): Promise<void> {
    const { options, result } = this.#probing
    if (options.call !== undefined) result.call = await callTool(conversation, era, options.call)
  }

  #converse(talk: ConstructorParameters<typeof Conversation>[0], peer: LinePeer): Conversation {
    const { recorder, options } = this.#probing
    return new Conversation(talk, recorder, options, async () => await peer.epitaph())
  }

  /** A new process or connection, as a step. Undefined, with the trouble taken, when it cannot be had. */
  async #open(): Promise<LinePeer | undefined> {
    const { options, recorder, result } = this.#probing
    const name = this.#target.kind === 'command' ? 'spawn' : 'connect'
    recorder.doing(name === 'spawn' ? 'starting the command' : 'connecting to the socket')
    const from = performance.now()
    try {
      const peer = await openPeer(this.#target, options.signal)
      this.#peers.push(peer)
      recorder.step({ name, from, to: performance.now(), ok: true })
      return peer
    } catch (error) {
      options.signal.throwIfAborted()
      if (!TransportError.is(error)) throw error
      recorder.step({ name, from, to: performance.now(), ok: false, detail: error.message })
      result.trouble ??= splitAdvice(error.message)
      return undefined
    }
  }

  #firstLine(peer: LinePeer, from: number): void {
    if (!this.#isFirstLine || peer.wire.firstLineAt === undefined) return
    this.#isFirstLine = false
    this.#probing.recorder.step({ name: 'first-line', from, to: peer.wire.firstLineAt, ok: true })
  }

  /** What both eras together say. */
  async #conclude(): Promise<void> {
    const { options, recorder, result } = this.#probing
    const { modern, legacy } = result
    const logs = this.#peers.map(({ lastLogs }) => lastLogs.join('\n')).filter((text) => text !== '')
    const last = logs.at(-1)
    if (last !== undefined) result.stderr = recorder.clean(last, 4_000)
    if (getsIn(legacy, 'legacy') && !modern.hasAnswered && options.protocol === 'both') {
      const evidence = modern.reason
      if (modern.verdict === 'not-spoken') recorder.found(this.#hasDied ? 'probe-fatal' : 'probe-silent', { evidence })
    }
    const peer = this.#silent ?? this.#peers.at(-1)
    if (getsIn(modern, 'modern') || getsIn(legacy, 'legacy') || peer === undefined) return
    if (!modern.hasAnswered && !legacy.hasAnswered) result.trouble ??= await explainLines(peer, options.timeoutMs)
  }
}

function silent(answer: Answer): Answer {
  const message = `no answer within ${Math.round(answer.durationMs)} ms, while a legacy client was answered`
  return { ...answer, failure: { kind: 'timeout', stage: 'line', message } }
}

/** Messages of transport errors say what failed, and then what to do. */
function splitAdvice(message: string): { readonly cause: string; readonly repair: string } {
  const [, cause = message, repair = 'Correct the target and try again.'] =
    /^(.*?[.:] ?[^.]*?)\. (.+)$/s.exec(message) ?? []
  return { cause: `${cause[0]?.toUpperCase() ?? ''}${cause.slice(1)}.`.replace(/\.\.$/, '.'), repair }
}

function judge(answer: Answer, requested: string, retried: boolean): ProbeVerdict {
  return judgeDuplexProbe(toEvent(answer), {
    requested,
    modern: revisionsOf('modern'),
    legacy: revisionsOf('legacy'),
    probeId,
    ...(retried && { retried }),
  })
}

const probeId = 'probe'

/** An answer in the form in which verdicts read it. Whatever its id was: nothing else was open. */
function toEvent({ response, failure }: Answer): DuplexProbeEvent {
  if (response === undefined) return { kind: failure?.kind === 'closed' ? 'exit' : 'timeout' }
  const message = parseMessage(response.text, 'parsed')
  return {
    kind: 'message',
    message: message.kind === 'result' || message.kind === 'error' ? { ...message, id: probeId } : message,
  }
}
