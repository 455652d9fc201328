import { peakMemoryBytes } from '../accounting.ts'
import { allTargets } from '../all-targets.ts'
import { collect } from '../http/standing-streams.ts'
import { withProxySession } from '../proxy/proxy-session.ts'
import { type Route, routeTitles } from '../proxy/routes.ts'
import { revisionOf } from '../revision-of.ts'
import type { Era } from '../targets.ts'
import { createWire, echoExchange } from '../wire.ts'
import { childrenOf, openDescriptors, tellingHeap } from './proxy-process.ts'
import { scaledTo } from './scenario.ts'
import { settledHeap } from './settled-heap.ts'
import { demand, type Trial } from './trial.ts'

const inFlight = 16

/** A million calls through the proxy: its memory, its descriptors and its children stay what they were. */
export function proxyCallsTrial(route: Route, era: Era): Trial {
  return {
    name: `proxy-${route}`,
    title: `calls through the proxy, ${routeTitles[route]}`,
    async run(scale) {
      const target = allTargets.find((one) => one.route === route && one.name === 'ours')
      if (target === undefined) throw new Error('our proxy is no target')
      const wire = createWire(era, revisionOf(era))
      return await withProxySession({ target, wire }, { env: tellingHeap }, async ({ proxy, drive }) => {
        const echo = echoExchange(wire, 100)
        const repeated = { inFlight, deadlineMs: 600_000 }
        await drive.pump(echo, { ...repeated, count: 20_000 * Math.max(scale, 0.2) })
        const heapBefore = await collect(proxy)
        const before = { descriptors: openDescriptors(proxy.pid), children: childrenOf(proxy.pid) }
        const started = performance.now()
        const { calls } = await drive.pump(echo, { ...repeated, count: scaledTo({ scale }, 1_000_000) })
        const seconds = (performance.now() - started) / 1_000
        const heapAfter = await settledHeap(proxy, heapBefore)
        const after = { descriptors: openDescriptors(proxy.pid), children: childrenOf(proxy.pid) }
        demand(
          after.descriptors <= before.descriptors,
          `no descriptor is left open (${before.descriptors} before, ${after.descriptors} after)`,
        )
        demand(
          after.children.join() === before.children.join(),
          `the child is the same (${before.children.join()} before, ${after.children.join()} after)`,
        )
        const what = `${calls} calls of a ${era} client, ${inFlight} in flight; ${after.descriptors} descriptors before and after`
        return { what, seconds, heapBefore, heapAfter, peakResident: peakMemoryBytes(proxy.pid) }
      })
    },
  }
}
