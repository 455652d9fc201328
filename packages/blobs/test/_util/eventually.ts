import { vi } from 'vitest'

/** Waits until a check holds. The time is one that only a hang reaches. */
export async function eventually(check: () => void): Promise<void> {
  await vi.waitFor(check, { timeout: 15_000 })
}
