import { connectSocket, startServer, type ServerExit } from '@atenea/transport-stdio'
import type { CommandTarget, SocketTarget } from '../report.ts'
import { createLineWire, type LineWire } from '../wire/line-wire.ts'

/** A server that talks in lines: a process of ours, or a connection to a socket. Whoever has it must close it. */
export interface LinePeer {
  readonly wire: LineWire
  readonly isProcess: boolean
  /** As people know it. */
  readonly name: string
  /** How it ended, and its last words; empty while nothing is known. */
  epitaph(): Promise<string>
  /** Resolves when the process has ended; undefined for a socket. */
  readonly exited: Promise<ServerExit> | undefined
  readonly lastLogs: readonly string[]
  /** Stops the process with all that it started. */
  close(): Promise<void>
}

/** How long the exit status may take after the output has ended. */
const statusMs = 300

/** Opens a new process or connection. Rejects with a `TransportError` whose message says what to do. */
export async function openPeer(target: CommandTarget | SocketTarget, signal: AbortSignal): Promise<LinePeer> {
  return target.kind === 'command' ? await openProcess(target, signal) : await openSocket(target, signal)
}

async function openProcess(target: CommandTarget, signal: AbortSignal): Promise<LinePeer> {
  const { command, args, cwd, env } = target
  const server = await startServer({
    command,
    args,
    cwd,
    env,
    signal,
    stderr: 'ignore',
    closeTimeoutMs: 1_000,
    termTimeoutMs: 1_000,
  })
  const wire = createLineWire(server.stdout, server.stdin, signal)
  return {
    wire,
    isProcess: true,
    name: 'The command',
    exited: server.exited,
    lastLogs: server.lastLogs,
    async epitaph() {
      const exit = await settledWithin(server.exited, statusMs)
      if (exit !== undefined) await settledWithin(server.logsEnded, statusMs)
      const how =
        exit === undefined
          ? wire.hasEnded
            ? 'closes its output'
            : ''
          : exit.signal === null
            ? `ends with exit code ${exit.code}`
            : `is ended by ${exit.signal}`
      const words = lastWords(server.lastLogs)
      return [how, words === '' ? '' : `(stderr: ${words})`].filter((part) => part !== '').join(' ')
    },
    close: () => server.stop(),
  }
}

/** Of what a program says before it ends, lines that speak of a failure tell most; stacks tell least. */
function lastWords(logs: readonly string[]): string {
  const lines = logs.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('at '))
  const saying = (words: RegExp): readonly string[] => lines.filter((line) => words.test(line))
  const telling = [
    saying(
      /cannot|can't|not find|not found|no such|no module|missing|refused|denied|invalid|required|unknown|already in use/i,
    ),
    saying(/error|fatal|exception|failed/i),
    lines,
  ].find((some) => some.length > 0)
  return (telling ?? []).slice(-2).join(' | ')
}

async function openSocket(target: SocketTarget, signal: AbortSignal): Promise<LinePeer> {
  const socket = await connectSocket(target.path, { signal })
  const wire = createLineWire(socket, socket, signal)
  return {
    wire,
    isProcess: false,
    name: 'The server at the socket',
    exited: undefined,
    lastLogs: [],
    epitaph: async () => await Promise.resolve(wire.hasEnded ? 'closes the connection' : ''),
    close: async () => {
      socket.destroy()
      await Promise.resolve()
    },
  }
}

/** The value, unless it takes longer. */
export async function settledWithin<T>(promise: Promise<T>, timeoutMs: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, undefined)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
