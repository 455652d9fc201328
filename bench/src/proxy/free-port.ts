import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** A port of this machine on which nobody listens now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Time between two looks, in milliseconds. */
const lookMs = 1

/** Resolves when somebody listens on a port, whoever it is: not all programs say when they do. */
export async function somebodyListens(port: number, deadlineMs: number): Promise<void> {
  const until = performance.now() + deadlineMs
  while (!(await accepts(port))) {
    if (performance.now() > until) throw new Error(`nobody listens on port ${port} within ${deadlineMs} ms`)
    await delay(lookMs)
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
