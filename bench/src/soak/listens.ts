import { fanOut, openStreams } from '../http/standing-streams.ts'
import { echoExchange } from '../wire.ts'
import { type Scenario, scaledTo } from './scenario.ts'
import { demand } from './trial.ts'

/** Many open listens while calls go on: all hear of a change, before the calls and after. */
export const listensScenario: Scenario = {
  name: 'listens',
  title: 'open listens, while calls go on',
  era: 'modern',
  env: {},
  async run(scene) {
    const { endpoint, generator, server } = scene
    const streams = await openStreams({ endpoint }, scaledTo(scene, 10_000))
    const firstMs = await fanOut(server, streams, 60_000)
    const { calls } = await generator.pump(echoExchange(endpoint.wire, 100), {
      count: scaledTo(scene, 100_000),
      connections: 16,
      deadlineMs: 240_000,
    })
    const secondMs = await fanOut(server, streams, 60_000)
    demand(
      streams.every(({ open }) => open),
      'a listen stays open',
    )
    for (const stream of streams) stream.destroy()
    const told = `all told of a change in ${Math.round(firstMs)} and ${Math.round(secondMs)} ms`
    return `${streams.length} listens, ${calls} calls on 16 connections; ${told}`
  },
}
