import type { JsonObject } from '@atenea/mcpcompat'
import type { Authenticate } from './auth/authenticate.ts'
import { answerJson } from './carrier/answers.ts'
import type { HttpExchange } from './carrier/http-exchange.ts'

/** Whether a service can do its work now. */
export interface ReadinessReport {
  readonly ready: boolean
  /** What it depends on and how that is, for those who may use the endpoint. Without secrets. */
  readonly details: JsonObject
}

/** Tells how a service is, whenever it is asked. What it throws is answered with 500 and reported. */
export type Readiness = () => ReadinessReport | Promise<ReadinessReport>

/**
 * Answers `GET /readyz`: 200 when the service can do its work, 503 when it cannot, and a JSON object with `ready`. Whoever may not use the
 * endpoint gets nothing but that, since names of servers and their faults are nobody else's business.
 */
export async function answerReadiness(
  exchange: HttpExchange,
  readiness: Readiness,
  mayUse: boolean,
  authenticate: Authenticate | undefined,
): Promise<void> {
  const { ready, details } = await readiness()
  const knows = mayUse && (authenticate === undefined || 'id' in (await authenticate(exchange)))
  answerJson(exchange, ready ? 200 : 503, JSON.stringify({ ready, ...(knows && details) }))
}
