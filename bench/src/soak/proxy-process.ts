import { readdirSync, readFileSync } from 'node:fs'

/** Makes a program of ours tell its heap, by the environment with which it is started. What it starts itself does not get it. */
export const tellingHeap: Readonly<Record<string, string>> = {
  NODE_OPTIONS: `--expose-gc --import ${new URL('./tell-heap.js', import.meta.url).href}`,
}

/** Ids of the processes that a process has started and that are still there. */
export function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim()
  return text === '' ? [] : text.split(' ').map(Number)
}

/** Those of them that are servers of the bench: beside them stands the guard that ends them if the proxy cannot. */
export function serversOf(pid: number): readonly number[] {
  return childrenOf(pid).filter((child) => {
    try {
      return readFileSync(`/proc/${child}/cmdline`, 'latin1').includes('/servers/')
    } catch {
      return false
    }
  })
}

/** How many files, sockets and pipes a process has open. */
export function openDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}

/** Whether a process is there, and not only its entry. */
export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'))
  } catch {
    return false
  }
}
