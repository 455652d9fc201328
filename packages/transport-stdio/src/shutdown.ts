import type { ChildProcess } from 'node:child_process'

export interface ShutdownOptions {
  /** From the close of its stdin to SIGTERM. Default 2,000 ms. */
  readonly closeTimeoutMs?: number | undefined
  /** From SIGTERM to SIGKILL. Default 2,000 ms. */
  readonly termTimeoutMs?: number | undefined
}

/** How often a process group without its leader is looked at; there is no event for its end. */
const pollMs = 25
/** What is left of a group when its leader has ended gets this long between SIGTERM and SIGKILL. */
const leftBehindMs = 500

/**
 * Stops a server process in order: closes its stdin, waits, SIGTERM to its whole group, waits, SIGKILL (MS-LIFE-01). Processes that
 * it started and left behind in its group are stopped as well. Resolves when the process has ended and its group was told to; bounded
 * by the two times and a second for the kernel. `exited` resolves when the process itself has ended. May be called for one that has.
 */
export async function stopServer(
  child: ChildProcess,
  exited: Promise<unknown>,
  options: ShutdownOptions = {},
): Promise<void> {
  const { closeTimeoutMs = 2_000, termTimeoutMs = 2_000 } = options
  const group = child.pid
  if (group === undefined) return
  child.stdin?.end()
  if (!hasEnded(child) && !(await within(exited, closeTimeoutMs))) {
    signalGroup(child, group, 'SIGTERM')
    if (!(await within(exited, termTimeoutMs))) {
      signalGroup(child, group, 'SIGKILL')
      await within(exited, 1_000)
    }
  }
  if (!groupLives(group)) return
  signalGroup(child, group, 'SIGTERM')
  await groupGone(group, leftBehindMs)
  signalGroup(child, group, 'SIGKILL')
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

/** Whether the promise settled within the time. Never rejects. */
export async function within(promise: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const timer = setTimeout(resolve, timeoutMs, false)
    const settled = (): void => {
      clearTimeout(timer)
      resolve(true)
    }
    promise.then(settled, settled)
  })
}

async function groupGone(group: number, timeoutMs: number): Promise<void> {
  for (let waited = 0; waited < timeoutMs && groupLives(group); waited += pollMs) {
    await new Promise((resolve) => {
      setTimeout(resolve, pollMs)
    })
  }
}

function groupLives(group: number): boolean {
  return process.platform !== 'win32' && kill(-group, 0)
}

function signalGroup(child: ChildProcess, group: number, signal: NodeJS.Signals): void {
  if (process.platform !== 'win32') {
    kill(-group, signal)
    return
  }
  // Windows has no groups and no signals: end the tree, by force at once, since nothing gentler reaches a process without a window.
  const { spawn } = process.getBuiltinModule('node:child_process')
  const killer = spawn('taskkill', ['/pid', String(group), '/t', '/f'], { stdio: 'ignore', windowsHide: true })
  killer.on('error', () => child.kill())
}

/** Whether the signal could be sent, that is, whether the process or group exists. */
function kill(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal)
    return true
  } catch {
    return false
  }
}
