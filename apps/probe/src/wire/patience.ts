import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer } from './answer.ts'

/** A server that asks for a longer pause is not waited for. */
const longestPauseMs = 5_000
/** How long to wait where it does not say. */
const usualPauseMs = 1_000

/** Whether an answer says that the server, or what stands before it, cannot serve anybody right now. */
export function isBusy({ http }: Answer): boolean {
  return http !== undefined && [429, 502, 503, 504].includes(http.status)
}

/** Sends, and once more after the pause that a busy server asks for, so that a limit is not taken for a defect. */
export async function patiently<T extends Answer>(send: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const answer = await send()
  const pauseMs = isBusy(answer) ? pauseOf(answer) : undefined
  if (pauseMs === undefined) return answer
  await sleep(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted())
  return await send()
}

/** `Retry-After` in seconds or as a date; undefined where it is too long to wait. */
function pauseOf({ http }: Answer): number | undefined {
  const field = http?.headers['retry-after']
  if (field === undefined) return usualPauseMs
  const pauseMs = /^\d+$/.test(field) ? Number(field) * 1_000 : Date.parse(field) - Date.now()
  return pauseMs <= longestPauseMs ? Math.max(0, pauseMs) : undefined
}
