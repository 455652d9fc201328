import { type JsonObject, method, revisionsOf, rpcCode } from '@atenea/mcpcompat'
import { headerName } from '@atenea/mcpcompat/transport'
import { codeOf } from '../checks/inspect-answer.ts'
import { namedRequest, nobody } from '../checks/check-errors.ts'
import type { Conversation } from '../conversation.ts'
import type { FindingId } from '../findings/catalog.ts'
import { show, showAnswer } from '../show.ts'
import type { Answer } from '../wire/answer.ts'
import { resultOf } from '../wire/received.ts'

/** Sends headers that contradict the body, or lack, and looks whether the server notices (MH-VAL-01, MH-HDR-02 to -11). */
export async function checkHeaders(to: Conversation, capabilities: JsonObject): Promise<void> {
  await checkMethodAndVersion(to)
  await checkName(to, capabilities)
}

interface Trial {
  readonly headers: Readonly<Record<string, string | undefined>>
  /** What it is when nothing is refused. */
  readonly id: FindingId
}

async function checkMethodAndVersion(to: Conversation): Promise<void> {
  const [otherRevision = nobody.revision] = revisionsOf('legacy')
  const trials: readonly Trial[] = [
    { headers: { [headerName.method]: method.listPrompts }, id: 'header-method-unchecked' },
    { headers: { [headerName.method]: method.discover.toUpperCase() }, id: 'header-method-unchecked' },
    { headers: { [headerName.method]: undefined }, id: 'header-method-optional' },
    { headers: { [headerName.protocolVersion]: otherRevision }, id: 'header-version-unchecked' },
    { headers: { [headerName.protocolVersion]: undefined }, id: 'header-version-optional' },
  ]
  for (const { headers, id } of trials) {
    const answer = await to.raw(method.discover, {}, { headers })
    judge(to, answer, {
      id,
      what: `server/discover with ${describe(headers)}`,
      isServed: resultOf(answer.response) !== undefined,
    })
  }
}

async function checkName(to: Conversation, capabilities: JsonObject): Promise<void> {
  const request = namedRequest(capabilities)
  if (request === undefined) return
  // Nobody has that name, so whatever is served is a refusal of another kind: the one that the right headers get.
  const usual = await to.ask(request.method, request.params)
  if (usual.failure !== undefined) return
  const trials: readonly Trial[] = [
    { headers: { [headerName.name]: `${nobody.name}-other` }, id: 'header-name-unchecked' },
    { headers: { [headerName.name]: undefined }, id: 'header-name-optional' },
    { headers: { [headerName.name]: '=?base64?!!?=' }, id: 'header-name-malformed' },
  ]
  for (const { headers, id } of trials) {
    const answer = await to.raw(request.method, request.params, { headers })
    judge(to, answer, {
      id,
      what: `${request.method} of ${show(nobody.name)} with ${describe(headers)}`,
      isServed: isAlike(answer, usual),
    })
  }
  await checkEncoding(to, capabilities, usual)
}

/** MH-ENC-05: a name that only the Base64 form can carry. */
async function checkEncoding(to: Conversation, capabilities: JsonObject, usual: Answer): Promise<void> {
  const request = namedRequest(capabilities, `${nobody.name}-ñ`)
  if (request === undefined || codeOf(usual) === rpcCode.headerMismatch) return
  const answer = await to.raw(request.method, request.params)
  if (codeOf(answer) === rpcCode.headerMismatch) {
    to.found('header-name-encoding', {
      evidence: `${request.method} of "…-ñ" with its Base64 form → ${showAnswer(answer)}`,
    })
  }
}

function isAlike(a: Answer, b: Answer): boolean {
  const isSame = a.http?.status === b.http?.status && codeOf(a) === codeOf(b)
  return isSame || resultOf(a.response) !== undefined
}

function judge(
  to: Conversation,
  answer: Answer,
  trial: { readonly id: FindingId; readonly what: string; readonly isServed: boolean },
): void {
  if (answer.failure !== undefined) return
  const { http } = answer
  if (codeOf(answer) === rpcCode.headerMismatch && http?.status === 400) return
  const evidence = `${trial.what} → ${showAnswer(answer)}`
  to.found(trial.isServed ? trial.id : 'header-refusal', { evidence, subject: trial.what })
}

function describe(headers: Trial['headers']): string {
  return Object.entries(headers)
    .map(([name, value]) => (value === undefined ? `no ${name}` : `${name}: ${value}`))
    .join(', ')
}
