import { randomUUID } from 'node:crypto'
import { headerName, isSessionId } from '@atenea/mcpcompat/transport'
import type { Conversation } from '../conversation.ts'
import { handshakeParams, legacyMethod } from '../eras.ts'
import { showAnswer } from '../show.ts'
import type { Answer } from '../wire/answer.ts'
import { resultOf } from '../wire/received.ts'
import type { HttpTalk } from './http-talk.ts'

/** A revision that there never was. */
const noRevision = '1999-12-31'
/** Fewer characters than that hold no 128 bits in any usual alphabet. */
const shortestId = 16

const isServed = (answer: Answer): boolean => resultOf(answer.response) !== undefined

/** Session ids, and what happens to requests with a wrong one (LG-SESS-01 to -07, LG-HTTP-11). The talk keeps its own session. */
export async function checkSessions(to: Conversation, talk: HttpTalk): Promise<void> {
  const version = await ping(to, { [headerName.protocolVersion]: noRevision })
  if (version.http !== undefined && version.http.status !== 400) {
    to.found('legacy-version-header', {
      evidence: `ping with MCP-Protocol-Version: ${noRevision} → ${showAnswer(version)}`,
    })
  }
  const own = talk.sessionId
  if (own === undefined) return
  if (!isSessionId(own)) to.found('session-id-characters', { evidence: `an id of ${own.length} characters` })
  const unknown = await ping(to, { [headerName.sessionId]: randomUUID() })
  const knowsAll = unknown.http !== undefined && unknown.http.status !== 404
  if (knowsAll) {
    to.found('session-unknown-served', { evidence: `ping in a session that there never was → ${showAnswer(unknown)}` })
  }
  const missing = await ping(to, { [headerName.sessionId]: undefined })
  if (isServed(missing)) {
    to.found('session-missing-served', { evidence: `ping without Mcp-Session-Id → ${showAnswer(missing)}` })
  }
  await checkSecondSession(to, own, knowsAll)
}

async function ping(to: Conversation, headers: Readonly<Record<string, string | undefined>>): Promise<Answer> {
  return await to.raw(legacyMethod.ping, {}, { headers, mayBeSilent: true })
}

async function checkSecondSession(to: Conversation, own: string, knowsAll: boolean): Promise<void> {
  const revision = to.talk.revision
  const opened = await to.raw(legacyMethod.initialize, handshakeParams(revision), {
    headers: { [headerName.sessionId]: undefined, [headerName.protocolVersion]: undefined },
    mayBeSilent: true,
  })
  const id = opened.http?.headers[headerName.sessionId]
  if (id === undefined) return
  if (id === own) {
    to.found('session-shared', { evidence: 'two handshakes, one id' })
    return
  }
  if (isGuessable(own, id))
    to.found('session-id-guessable', { evidence: `ids of ${own.length} characters; ${likeness(own, id)}` })
  const headers = { [headerName.sessionId]: id }
  await to.raw(legacyMethod.initialized, {}, { idText: null, headers, mayBeSilent: true })
  const ended = await to.raw('DELETE', {}, { httpMethod: 'DELETE', headers, mayBeSilent: true })
  const status = ended.http?.status ?? 0
  if (status === 405 || status === 0) return
  if (status < 200 || status > 299) {
    to.found('session-delete-status', { evidence: `DELETE of a session → ${status}` })
    return
  }
  // a server that serves any id was reported as such
  if (knowsAll) return
  const after = await ping(to, headers)
  if (isServed(after) || (after.http !== undefined && after.http.status !== 404)) {
    to.found('session-after-delete', { evidence: `ping in a deleted session → ${showAnswer(after)}` })
  }
}

/** Whether somebody who has one id could find another. */
function isGuessable(a: string, b: string): boolean {
  return a.length < shortestId || differences(a, b) < 6
}

function differences(a: string, b: string): number {
  if (a.length !== b.length) return Math.max(a.length, b.length)
  return Array.from(a).filter((character, index) => character !== b[index]).length
}

function likeness(a: string, b: string): string {
  return a.length === b.length ? `two of them differ in ${differences(a, b)}` : 'of different lengths'
}
