import { postRequest } from '../http/http-request.ts'
import { type Scenario, scaledTo } from './scenario.ts'
import { allEnded, countStatuses, openStrange } from './strange-socket.ts'
import { demand } from './trial.ts'

const bodyTimeoutMs = 3_000

/** Bodies that arrive a byte at a time: each is refused when its time is over. */
export const slowBodiesScenario: Scenario = {
  name: 'slow-bodies',
  title: 'connections whose bodies arrive a byte at a time',
  era: 'modern',
  env: { BENCH_BODY_TIMEOUT_MS: String(bodyTimeoutMs) },
  async run(scene) {
    const { port, wire } = scene.endpoint
    const sockets = await openStrange(port, scaledTo(scene, 2_000))
    const request = Buffer.from(postRequest({ port, wire }, wire.listen))
    const bodyAt = request.indexOf('\r\n\r\n') + 4
    for (const { socket } of sockets) socket.write(request.subarray(0, bodyAt))
    let at = bodyAt
    const dripping = setInterval(() => {
      const next = request.subarray(at, ++at)
      for (const { socket } of sockets) if (socket.writable) socket.write(next)
    }, 200)
    try {
      const texts = await allEnded(sockets, 10 * bodyTimeoutMs)
      demand(
        texts.every((text) => text.startsWith('HTTP/1.1 408 ')),
        `a slow body is answered with 408 (${countStatuses(texts)})`,
      )
      return `${sockets.length} connections; ${countStatuses(texts)}`
    } finally {
      clearInterval(dripping)
    }
  },
}
