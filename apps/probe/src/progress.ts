import { isTerminal, printable, printErr } from '@atenea/cli'
import type { ProgressEvent } from './probe.ts'
import type { ProbeTarget } from './report.ts'

/** Shows on a terminal what is going on, in one line that goes away. */
export interface Progress extends Disposable {
  /** Called for each target as its probe begins; what it returns takes the events. */
  begin(target: ProbeTarget): (event: ProgressEvent) => void
  /** Called when the probe of a target has ended. */
  end(target: ProbeTarget): void
}

const widest = 78
const refreshMs = 100

/** A line on stderr where that is a terminal, else nothing at all. */
export function createProgress(
  count: number,
  isWanted: boolean,
  environment: Readonly<Record<string, string | undefined>>,
): Progress {
  if (!isWanted || environment['TERM'] === 'dumb' || environment['CI'] !== undefined || !isTerminal(2)) return silent
  const running = new Map<ProbeTarget, string>()
  let done = 0
  let shown = ''
  const started = performance.now()
  const draw = (): void => {
    const seconds = Math.floor((performance.now() - started) / 1000)
    const what = [...running.values()].join(', ')
    const counter = count > 1 ? `${done} of ${count} · ` : ''
    const text = `${counter}${what}${seconds > 0 ? ` · ${seconds} s` : ''}`
    const line = text.length <= widest ? text : `${text.slice(0, widest - 1)}…`
    if (line === shown) return
    shown = line
    printErr(`\r\u001b[K${line}`)
  }
  const timer = setInterval(draw, refreshMs).unref()
  return {
    begin: (target) => {
      const name = nameOf(target)
      running.set(target, name)
      return (event) => {
        if (event.kind === 'doing') running.set(target, count > 1 ? name : `${name}: ${oneLine(event.text)}`)
      }
    },
    end: (target) => {
      running.delete(target)
      done += 1
    },
    [Symbol.dispose]: () => {
      clearInterval(timer)
      if (shown !== '') printErr('\r\u001b[K')
    },
  }
}

const silent: Progress = {
  begin: () => () => undefined,
  end: () => undefined,
  [Symbol.dispose]: () => undefined,
}

function nameOf(target: ProbeTarget): string {
  if (target.name !== undefined) return oneLine(target.name)
  if (target.kind === 'url') return oneLine(new URL(target.url).host)
  return oneLine(target.kind === 'socket' ? target.path : target.command)
}

function oneLine(text: string): string {
  return printable(text.replace(/\s+/g, ' '))
}
