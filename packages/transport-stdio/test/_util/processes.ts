import { readFileSync, readdirSync } from 'node:fs'

/** Whether a process exists and is no zombie. */
export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2)[0] !== 'Z'
  } catch {
    return false
  }
}

/** Processes whose command line holds `mark`, which a test puts into what it starts. */
export function processesWith(mark: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(mark) && isAlive(Number(name))
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
