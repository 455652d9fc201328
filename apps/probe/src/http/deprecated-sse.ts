import type { HttpWire } from '../wire/http-wire.ts'

/** Whether GET opens the event stream by which the deprecated HTTP+SSE transport begins (LG-HTTP-12, MH-ERA-09). */
export async function isDeprecatedSse(wire: HttpWire, headers: Readonly<Record<string, string>>): Promise<boolean> {
  const answer = await wire.send({
    method: 'GET',
    headers: { ...headers, accept: 'text/event-stream' },
    timeoutMs: 2_000,
    quietMs: 300,
  })
  return answer.http?.isEventStream === true && /^event: ?endpoint\b/m.test(answer.http.body)
}
