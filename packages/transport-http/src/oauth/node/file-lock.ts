import { link, readFile, readlink, rename, stat, unlink, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AbortOptions } from '@atenea/mcpcompat'

/** Who holds a lock. */
interface Holder {
  readonly id: string
  readonly pid: number
  /** When the process began, in ticks of the kernel, where it says so: a number of a process is given out again. */
  readonly start: string | undefined
  /** The machine and the namespace in which the number of the process means something. */
  readonly world: string
}

const pollMs = 100
const beatMs = 5_000
/** A holder of which nothing else can be known is gone when it has been silent for so long. */
const silentMs = 60_000

/**
 * Runs `work` while no other process does for the same path. A holder that died leaves nothing to clean up: whoever comes next sees that
 * it is gone and takes over. Rejects with the reason of the signal while it waits.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>, { signal }: AbortOptions = {}): Promise<T> {
  const own: Holder = {
    id: crypto.randomUUID(),
    pid: process.pid,
    start: (await processOf(process.pid))?.start,
    world: await world(),
  }
  while (!(await acquired(path, own))) {
    await sleep(pollMs, undefined, signal === undefined ? {} : { signal }).catch(() => signal?.throwIfAborted())
  }
  const beat = setInterval(() => {
    const now = new Date()
    // A lock that was taken away is noticed by who comes next, not here.
    utimes(path, now, now).catch(() => undefined)
  }, beatMs).unref()
  try {
    signal?.throwIfAborted()
    return await work()
  } finally {
    clearInterval(beat)
    if ((await holderOf(path))?.id === own.id) await gone(path)
  }
}

/** One attempt. */
async function acquired(path: string, own: Holder): Promise<boolean> {
  const holder = await holderOf(path)
  if (holder !== undefined && (await isAlive(holder, path))) return false
  const draft = `${path}.${crypto.randomUUID()}`
  try {
    await writeFile(draft, JSON.stringify(own), { mode: 0o600, flag: 'wx' })
    return holder === undefined ? await linked(draft, path) : await replaced(path, holder, draft)
  } finally {
    await gone(draft)
  }
}

/** Takes over from a dead holder. Of those who see it one does, and only if it is still the one that was seen. */
async function replaced(path: string, dead: Holder, draft: string): Promise<boolean> {
  const turn = `${path}.turn`
  if (!(await linked(draft, turn))) {
    const other = await holderOf(turn)
    if (other !== undefined && !(await isAlive(other, turn))) await gone(turn)
    return false
  }
  try {
    const now = await holderOf(path)
    if (now === undefined || now.id !== dead.id) return false
    const copy = `${draft}.copy`
    await link(draft, copy)
    await rename(copy, path)
    return true
  } finally {
    await gone(turn)
  }
}

/** Makes a file appear with its content at once, if there is none. */
async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

async function holderOf(path: string): Promise<Holder | undefined> {
  try {
    const holder: unknown = JSON.parse(await readFile(path, 'utf8'))
    return isHolder(holder) ? holder : stranger
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    if (error instanceof SyntaxError) return stranger
    throw error
  }
}

/** Nobody of us wrote this. */
const stranger: Holder = { id: '', pid: 0, start: undefined, world: '' }

function isHolder(value: unknown): value is Holder {
  return typeof value === 'object' && value !== null && 'id' in value && 'pid' in value && 'world' in value
}

async function isAlive(holder: Holder, path: string): Promise<boolean> {
  if (holder.world === (await world())) {
    if (!runs(holder.pid)) return false
    const found = await processOf(holder.pid)
    if (found !== undefined && holder.start !== undefined) {
      if (found.isOver || found.start !== holder.start) return false
      // Somebody who stopped a program in a terminal does not stop all others with it.
      if (!found.isStopped) return true
    }
  }
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }))
  return Date.now() - mtimeMs < silentMs
}

function runs(pid: number): boolean {
  if (pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

interface ProcessState {
  readonly start: string | undefined
  /** It has ended and was not looked after yet: it holds nothing. */
  readonly isOver: boolean
  /** It does nothing until somebody lets it go on. */
  readonly isStopped: boolean
}

/** What the kernel says of a process, where it does. */
async function processOf(pid: number): Promise<ProcessState | undefined> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return { start: fields[19], isOver: fields[0] === 'Z', isStopped: fields[0] === 'T' }
  } catch {
    return undefined
  }
}

async function world(): Promise<string> {
  const namespace = await readlink('/proc/self/ns/pid').catch(() => '')
  return `${hostname()} ${namespace}`
}

async function gone(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error
  })
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
