import { postTemplate } from '../http/http-request.ts'
import { echoExchange } from '../wire.ts'
import { type Scenario, scaledTo } from './scenario.ts'
import { allEnded, countStatuses, openStrange } from './strange-socket.ts'
import { demand } from './trial.ts'

const headersTimeoutMs = 2_000

/** Connections that say nothing, half a head, or all and then that no more will come: the last are answered, the others ended. */
export const halfOpenScenario: Scenario = {
  name: 'half-open',
  title: 'connections that are half open',
  era: 'modern',
  env: { BENCH_HEADERS_TIMEOUT_MS: String(headersTimeoutMs) },
  async run(scene) {
    const { endpoint } = scene
    const each = scaledTo(scene, 700)
    const { bytes } = postTemplate(endpoint, echoExchange(endpoint.wire, 100).request)
    const silent = await openStrange(endpoint.port, each)
    const halfHeads = await openStrange(endpoint.port, each)
    for (const { socket } of halfHeads) socket.write(bytes.subarray(0, 60))
    const halfClosed = await openStrange(endpoint.port, each)
    for (const { socket } of halfClosed) socket.end(bytes)
    const answered = await allEnded(halfClosed, 20_000)
    demand(
      answered.every((text) => text.startsWith('HTTP/1.1 200 ')),
      `who closes its half is answered (${countStatuses(answered)})`,
    )
    const halves = await allEnded(halfHeads, 20_000)
    const silents = await allEnded(silent, 20_000)
    const what = `silent ${countStatuses(silents)}; half a head ${countStatuses(halves)}; half closed ${countStatuses(answered)}`
    return `${each} each: ${what}`
  },
}
