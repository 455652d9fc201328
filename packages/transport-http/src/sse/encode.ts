/** The event that carries one message. The text of a message is one line, so that it needs no splitting. */
export function sseEvent(message: string): string {
  return `data: ${message}\n\n`
}

/** The same with an id, from which a client can resume (LG-RESUME-01). */
export function sseEventWithId(id: string, message: string): string {
  return `id: ${id}\ndata: ${message}\n\n`
}

/** A line that every reader of events ignores, and that tells each proxy on the way that the stream lives (MH-SSE-06). */
export const sseComment = ':\n\n'

/** Head of a stream: nobody on the way may hold it back or keep it (MH-SSE-05). */
export const sseFields: readonly string[] = [
  'Content-Type',
  'text/event-stream',
  'Cache-Control',
  'no-cache, no-transform',
  'X-Accel-Buffering',
  'no',
]
