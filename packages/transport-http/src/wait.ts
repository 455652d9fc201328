import { abortable, type Clock } from '@atenea/mcpcompat/transport'

/** Waits, or rejects with the signal's reason. The process stays for it when an answer depends on it. */
export async function wait(delayMs: number, signal: AbortSignal, clock: Clock, holdsProcess: boolean): Promise<void> {
  let timer: Disposable | undefined
  const passed = new Promise<void>((resolve) => {
    timer = clock.after(delayMs, resolve, { holdsProcess })
  })
  try {
    await abortable(passed, signal)
  } finally {
    timer?.[Symbol.dispose]()
  }
}

export interface BackoffOptions {
  /** Milliseconds before the first repetition. */
  readonly firstMs: number
  /** No pause is longer than this, but for a server that asks for one. */
  readonly maxMs: number
}

/**
 * The pause before repetition number `attempt`, which counts from 0: doubling, capped, with up to half of it on top so that clients do not
 * come back together. Never shorter than what the server asked for.
 */
export function backoffMs(attempt: number, askedMs: number | undefined, { firstMs, maxMs }: BackoffOptions): number {
  const base = Math.max(askedMs ?? 0, Math.min(maxMs, firstMs * 2 ** Math.min(attempt, 30)))
  return base + (base / 2) * Math.random()
}
