import { harmless } from '../checks/check-errors.ts'
import type { Conversation } from '../conversation.ts'
import { usualMeta } from '../eras.ts'
import { show, showAnswer } from '../show.ts'
import { messageText } from '../talk.ts'
import { type LinePeer, settledWithin } from './line-peer.ts'

/** How long a process may take to end once its input has. */
const exitMs = 3_000

/** What came on the wire that is none of the protocol (MS-FRM-01, MS-FRM-02, D5, D7). */
export function checkNoise(to: Conversation, { wire }: LinePeer): void {
  const [first] = wire.noise
  if (first !== undefined) {
    const count = wire.noiseCount === 1 ? 'one such line' : `${wire.noiseCount} such lines, the first`
    const evidence = `${count}: ${show(first.text, 200)} (${first.reason})`
    to.found('stdout-noise', { evidence })
  }
  if (wire.faults.has('content-length')) to.found('stdout-content-length', { evidence: 'a Content-Length header' })
  if (wire.faults.has('too-long')) to.found('line-too-long', { evidence: 'a line of more than 16 MiB' })
  if (wire.faults.has('invalid-utf8')) to.found('not-utf8', { evidence: 'a line that is not UTF-8' })
}

/** D5: half a message, and then a good one. Gives whether the server lives. */
export async function checkGarbage(to: Conversation, peer: LinePeer): Promise<boolean> {
  peer.wire.write('{"jsonrpc":"2.0","method":"x","params":')
  const said = await to.talk.listen(200)
  const nulled = said.find(({ idText }) => idText === 'null')
  if (nulled !== undefined && to.era === 'modern') {
    to.found('id-null', { evidence: `half a message → ${show(nulled.value)}` })
  }
  const answer = await to.talk.send(harmless(to), {}, {})
  if (answer.response === undefined) {
    const epitaph = await peer.epitaph()
    to.found('garbage-fatal', { evidence: `half a message, then ${harmless(to)} → ${showAnswer(answer)}; ${epitaph}` })
  }
  return answer.response !== undefined
}

/** MS-LIFE-02, D10, D11: the end of the input, right after a request. */
export async function checkEnd(to: Conversation, peer: LinePeer): Promise<void> {
  const { wire } = peer
  if (wire.hasEnded) return
  const idText = '"last"'
  const meta = usualMeta(to.era, to.talk.revision)
  const from = performance.now()
  const answering = wire.ask({
    text: messageText({ method: harmless(to), params: {}, meta, idText }),
    idText,
    timeoutMs: exitMs,
  })
  wire.endInput()
  const answer = await answering
  if (answer.response === undefined) {
    to.found('eof-drops-answers', { evidence: `${harmless(to)}, then the end of the input → ${showAnswer(answer)}` })
  }
  if (peer.exited === undefined) return
  const exit = await settledWithin(peer.exited, exitMs)
  to.recorder.step({ name: 'exit', era: to.era, from, to: performance.now(), ok: exit !== undefined })
  if (exit === undefined) to.found('exit-at-eof', { evidence: `still running ${exitMs} ms after the end of its input` })
  else if (exit.code !== 0) {
    const how = exit.signal === null ? `exit code ${exit.code}` : `ended by ${exit.signal}`
    to.found('exit-code', { evidence: `${how} after the end of its input` })
  }
}
