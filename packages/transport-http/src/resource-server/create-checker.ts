import { safeDiagnostics } from '@atenea/mcpcompat/transport'
import { createFetchSend } from '../fetch-send.ts'
import { safeUrl } from '../safe-url.ts'
import type { TokenChecker } from './access-token.ts'
import { createAskJson } from './ask-json.ts'
import { IntrospectionChecker } from './introspection-checker.ts'
import { discoverIssuer } from './issuer-metadata.ts'
import { JwtChecker } from './jwt-checker.ts'
import { Kept } from './kept.ts'
import { loadKeySet } from './key-set.ts'
import type { CheckedOptions } from './resource-server-options.ts'

/** Time between two attempts to reach an issuer that failed, and between two reports of it. */
const retryMs = 5_000

/** What checks the tokens of an issuer in the way that the options say. */
export function createChecker(options: CheckedOptions): TokenChecker {
  const { issuer, audiences, algorithms, introspection: client, clock, now, clockToleranceMs = 60_000 } = options
  const ask = createAskJson({
    send: options.send ?? createFetchSend(),
    clock,
    timeoutMs: options.timeoutMs ?? 5_000,
  })
  const report = safeDiagnostics(options.onDiagnostic)
  let toldAt = -Infinity
  const onFailure = (cause: unknown): void => {
    // every request may meet it
    if (clock.now() - toldAt < retryMs) return
    toldAt = clock.now()
    const reason = cause instanceof Error ? cause.message : String(cause)
    report?.({
      level: 'warning',
      code: 'issuer-unavailable',
      message: `The authorization server ${safeUrl(issuer)} cannot be used: ${reason}`,
      cause,
    })
  }
  const times = {
    maxAgeMs: options.keyMaxAgeMs ?? 10 * 60_000,
    staleMs: options.keyStaleMs ?? 60 * 60_000,
    cooldownMs: options.keyCooldownMs ?? 30_000,
    retryMs,
    clock,
    onFailure,
  }
  if (client === undefined) {
    const keys = new Kept({ ...times, load: async () => await loadKeySet({ issuer, jwksUri: options.jwksUri, ask }) })
    return new JwtChecker({ issuer, audiences, algorithms, clockToleranceMs, keys, onFailure, now })
  }
  const metadata = new Kept({ ...times, load: async () => await discoverIssuer(issuer, ask) })
  return new IntrospectionChecker({ issuer, audiences, clockToleranceMs, client, metadata, ask, onFailure, now })
}
