import { withDeadline } from '../deadline.ts'
import type { ServerProcess } from '../server-process.ts'
import { getRequest, postRequest } from './http-request.ts'
import { type HttpSession, openEndpoint } from './http-session.ts'
import { type OpenStream, openStream } from './stream-reader.ts'

/** Openings under way at a time, so that the queue of the listener holds them. */
const openingAtOnce = 32

/** Opens streams that hear of changes of the list of tools: a listen each, or a legacy session with its GET stream each. */
export async function openStreams({ endpoint }: Pick<HttpSession, 'endpoint'>, count: number): Promise<OpenStream[]> {
  const streams: OpenStream[] = []
  let left = count
  const openers = Array.from({ length: Math.min(openingAtOnce, count) }, async () => {
    while (left-- > 0) streams.push(await openOne(endpoint))
  })
  await Promise.all(openers)
  return streams
}

async function openOne({ port, wire }: HttpSession['endpoint']): Promise<OpenStream> {
  if (wire.era === 'modern') {
    const stream = await openStream(port, postRequest({ port, wire }, wire.listen))
    await withDeadline(stream.until('notifications/subscriptions/acknowledged'), 30_000, 'acknowledgement')
    return stream
  }
  const stream = await openStream(port, getRequest(await openEndpoint(port, wire)))
  await withDeadline(stream.until('\r\n\r\n'), 30_000, 'head of the stream')
  return stream
}

/** Makes the server announce a change, and resolves with the milliseconds until every stream has told it. */
export async function fanOut(
  { pid }: ServerProcess,
  streams: readonly OpenStream[],
  deadlineMs: number,
): Promise<number> {
  const before = performance.now()
  const told = Promise.all(
    streams.map(async (stream) => {
      await stream.until('notifications/tools/list_changed')
    }),
  )
  process.kill(pid, 'SIGHUP')
  await withDeadline(told, deadlineMs, `notice on ${streams.length} streams`)
  return performance.now() - before
}

/** Makes the server collect its garbage, and resolves with the bytes of its heap and buffers that are left. */
export async function collect(server: ServerProcess): Promise<number> {
  const collected = new Promise<number>((resolve) => {
    server.onStderr = (line) => {
      const found = /^collected (\d+)$/.exec(line)
      if (found !== null) resolve(Number(found[1]))
    }
  })
  process.kill(server.pid, 'SIGUSR2')
  return await withDeadline(collected, 30_000, 'collection of garbage')
}
