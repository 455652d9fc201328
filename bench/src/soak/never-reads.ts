import { postTemplate } from '../http/http-request.ts'
import { echoExchange } from '../wire.ts'
import { type Scenario, scaledTo } from './scenario.ts'
import { allEnded, openStrange } from './strange-socket.ts'
import { demand } from './trial.ts'

const bodyTimeoutMs = 2_000
const requestsEach = 4
const bytesEach = 4 << 20

/** Clients that ask for much and never read: they are cut off, and their answers are not kept. */
export const neverReadsScenario: Scenario = {
  name: 'never-reads',
  title: 'clients that ask for 16 MiB and never read',
  era: 'modern',
  env: { BENCH_BODY_TIMEOUT_MS: String(bodyTimeoutMs) },
  async run(scene) {
    const { endpoint } = scene
    const sockets = await openStrange(endpoint.port, scaledTo(scene, 20))
    const { bytes } = postTemplate(endpoint, echoExchange(endpoint.wire, bytesEach).request)
    for (const { socket } of sockets) {
      socket.pause()
      for (let left = requestsEach; left > 0; left--) socket.write(bytes)
    }
    // a socket that is paused is told of its end only when it reads: whoever can write no more has been cut off
    const cutOff = sockets.map(async ({ socket }) => {
      const until = performance.now() + 30 * bodyTimeoutMs
      while (!socket.destroyed && performance.now() < until) {
        await new Promise((resolve) => setTimeout(resolve, 250))
        socket.write('\r\n')
      }
      return socket.destroyed
    })
    const gone = (await Promise.all(cutOff)).filter(Boolean).length
    for (const { socket } of sockets) socket.destroy()
    await allEnded(sockets, 10_000)
    demand(gone === sockets.length, `a client that never reads is cut off (${gone} of ${sockets.length})`)
    return `${sockets.length} clients, all cut off`
  },
}
