import { readdirSync, readFileSync } from 'node:fs'

const ticksPerSecond = 100

/** Nanoseconds that all threads of a process have spent on a processor, by the kernel's scheduler. */
export function processCpuNs(pid: number): number {
  let sum = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    sum += Number.parseInt(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1'), 10)
  }
  return sum
}

/** The most memory that a process ever held at once, in bytes (VmHWM). */
export function peakMemoryBytes(pid: number): number {
  return statusBytes(pid, 'VmHWM')
}

/** The memory that a process holds now, in bytes (VmRSS). */
export function residentBytes(pid: number): number {
  return statusBytes(pid, 'VmRSS')
}

/** Starts to watch; the returned function tells how many processors other work kept busy since, on average. */
export function watchOtherWork(): () => number {
  const machine = machineBusyTicks()
  const own = ownTicks()
  const start = performance.now()
  return () => {
    const seconds = (performance.now() - start) / 1_000
    return Math.max(0, machineBusyTicks() - machine - (ownTicks() - own)) / ticksPerSecond / seconds
  }
}

/** Everything but idle and waiting for disks; time that the host took away counts too, since it disturbs as well. */
function machineBusyTicks(): number {
  const [user, nice, system, , , interrupts, softInterrupts, stolen] = fieldsAfter(
    readFileSync('/proc/stat', 'latin1'),
    'cpu ',
  )
  return sum([user, nice, system, interrupts, softInterrupts, stolen])
}

/** Our own processor time and that of children which have ended. */
function ownTicks(): number {
  const text = readFileSync('/proc/self/stat', 'latin1')
  const fields = fieldsAfter(text, ') ')
  return sum(fields.slice(11, 15))
}

function fieldsAfter(text: string, mark: string): readonly number[] {
  const start = text.indexOf(mark) + mark.length
  const end = text.indexOf('\n', start)
  return text.slice(start, end).trim().split(/\s+/).map(Number)
}

function sum(values: readonly (number | undefined)[]): number {
  return values.reduce<number>((total, value) => total + (value ?? 0), 0)
}

function statusBytes(pid: number, name: string): number {
  const found = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'latin1'))
  if (found === null) throw new Error(`no ${name} of process ${pid}`)
  return Number(found[1]) * 1024
}
