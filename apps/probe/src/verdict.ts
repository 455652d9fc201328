import { describeChallenge } from './auth/challenge.ts'
import type { CarrierResult } from './carrier.ts'
import { type EraResult, getsIn } from './era-result.ts'
import type { EraVerdict, Outcome, Report } from './report.ts'
import type { Recorder } from './recorder.ts'

const words: Readonly<Record<EraVerdict, string>> = {
  works: 'work',
  'works-with-defects': 'work, with defects',
  refuses: 'are refused',
  'silent-downgrade': 'are downgraded silently',
  'not-spoken': 'find nothing that they can speak',
  'not-tried': 'were not tried',
}

/** Turns what works into what works with defects, where errors were found. */
export function settleVerdicts({ modern, legacy }: CarrierResult, recorder: Recorder): void {
  if (modern.verdict === 'works' && recorder.hasError('modern')) modern.verdict = 'works-with-defects'
  if (legacy.verdict === 'works' && recorder.hasError('legacy')) legacy.verdict = 'works-with-defects'
}

/** The verdict of the whole. */
export function verdictOf(result: CarrierResult): Report['verdict'] {
  const { modern, legacy, auth, trouble } = result
  const isModern = getsIn(modern, 'modern')
  const isLegacy = getsIn(legacy, 'legacy')
  const era = isModern ? (isLegacy ? 'dual' : 'modern') : isLegacy ? 'legacy' : 'none'
  if (auth !== undefined && auth.signedIn !== true) {
    if (auth.status === 407) {
      return {
        era,
        summary: 'The way to the server wants credentials.',
        cause: 'A proxy on the way wants to know who asks (407).',
        repair: 'Put user and password into HTTP_PROXY or HTTPS_PROXY, or name the host in NO_PROXY.',
      }
    }
    const where = auth.resourceMetadata
    return {
      era,
      summary: `The server is up and wants credentials${era === 'none' ? '' : ' for a part of what it offers'}.`,
      cause: `Authentication is needed: ${describeChallenge(auth)}.`,
      repair: `Sign in with --sign-in, or pass a token with --header-file FILE${where === undefined ? '' : `; ${where} says who issues them`}.`,
    }
  }
  if (era !== 'none')
    return { era, summary: `Modern clients ${words[modern.verdict]}; legacy clients ${words[legacy.verdict]}.` }
  const { cause, repair } = trouble ?? refusalOf(modern, legacy)
  return { era, summary: 'No client gets in.', cause, repair }
}

/** Something of MCP was answered, and no client can use it. */
function refusalOf(modern: EraResult, legacy: EraResult): { readonly cause: string; readonly repair: string } {
  const tried = [modern, legacy].filter(({ verdict }) => verdict !== 'not-tried')
  const cause = `The server answers, but no client gets in: ${tried.map(({ reason }) => reason).join('; ')}.`
  return { cause, repair: 'See the findings; if the other era was left out by --protocol, try both.' }
}

/** How the probe ended. */
export function outcomeOf(result: CarrierResult): Outcome {
  const { modern, legacy, auth, call } = result
  if (auth !== undefined && auth.signedIn !== true) return 'auth-required'
  if (!modern.hasAnswered && !legacy.hasAnswered) return 'unreachable'
  return call?.ok === false ? 'tool-failed' : 'fine'
}
