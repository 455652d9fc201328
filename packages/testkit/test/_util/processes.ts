import { readFileSync, readdirSync } from 'node:fs'

/** Processes whose command line holds a text, without those that have ended and only wait to be reaped. */
export function processesWith(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .filter((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
        const zombie = stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z')
        return !zombie && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(text)
      } catch {
        return false
      }
    })
    .map(Number)
}

/** Waits until `check` holds; throws after a time that only a hang reaches. */
export async function until(check: () => boolean, timeoutMs = 30_000): Promise<void> {
  for (const end = Date.now() + timeoutMs; !check(); ) {
    if (Date.now() > end) throw new Error('it did not come to be')
    await new Promise((resolve) => {
      setTimeout(resolve, 20)
    })
  }
}
