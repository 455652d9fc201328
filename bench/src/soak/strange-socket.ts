import type { Socket } from 'node:net'
import { withDeadline } from '../deadline.ts'
import { openSocket } from '../http/http-generator.ts'

/** A connection that behaves badly. */
export interface StrangeSocket {
  readonly socket: Socket
  /** Resolves with all that was read when the server has ended the connection. */
  readonly ended: Promise<string>
}

/** Opens connections a few at a time, so that the queue of the listener holds them. */
export async function openStrange(port: number, count: number): Promise<readonly StrangeSocket[]> {
  const all: StrangeSocket[] = []
  let left = count
  const openers = Array.from({ length: Math.min(32, count) }, async () => {
    while (left-- > 0) all.push(watch(await openSocket(port)))
  })
  await Promise.all(openers)
  return all
}

function watch(socket: Socket): StrangeSocket {
  let text = ''
  const ended = new Promise<string>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
    })
    socket.on('close', () => resolve(text))
  })
  return { socket, ended }
}

/** Waits until the server has ended all of them, and tells what each has read. */
export async function allEnded(sockets: readonly StrangeSocket[], deadlineMs: number): Promise<readonly string[]> {
  try {
    return await withDeadline(Promise.all(sockets.map(({ ended }) => ended)), deadlineMs, 'the end of every connection')
  } finally {
    for (const { socket } of sockets) socket.destroy()
  }
}

/** How many texts have which status, such as `408: 2000`. */
export function countStatuses(texts: readonly string[]): string {
  const groups = Map.groupBy(texts, (text) => /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 'no answer')
  return [...groups].map(([status, { length }]) => `${status}: ${length}`).join(', ')
}
