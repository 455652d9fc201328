import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { peakMemoryBytes } from '../accounting.ts'
import { withDeadline } from '../deadline.ts'
import { createGenerator, type Generator } from '../generator.ts'
import { collect } from '../http/standing-streams.ts'
import { privateFolders } from '../proxy/private-folders.ts'
import { revisionOf } from '../revision-of.ts'
import { type ServerProcess, startServer } from '../server-process.ts'
import { createWire, echoExchange, type Exchange } from '../wire.ts'
import { childrenOf, isRunning, openDescriptors, serversOf, tellingHeap } from './proxy-process.ts'
import { scaledTo } from './scenario.ts'
import { settledHeap } from './settled-heap.ts'
import { demand, type Trial } from './trial.ts'

/** Within this time a call of a child that has died must have failed, and the next one been answered by another child, in milliseconds. */
const recoveryMs = 15_000

/** The child of the proxy dies a thousand times in the middle of a call: that call fails at once, the next one is served, and nothing is left. */
export const proxyRestartsTrial: Trial = {
  name: 'proxy-restarts',
  title: 'a child of the proxy that dies in the middle of a call',
  async run(scale) {
    const server = ['env', 'BENCH_ERA=modern', process.execPath, fileOf('../servers/bare.js')]
    const proxy = startServer({
      command: [
        process.execPath,
        fileOf('../../../apps/proxy/bin/atenea-proxy.js'),
        '--log-level',
        'error',
        '--',
        ...server,
      ],
      env: { ...privateFolders(), ...tellingHeap },
      core: undefined,
    })
    try {
      return await restart(proxy, scaledTo({ scale }, 1_000))
    } catch (cause) {
      throw new Error(`the proxy failed or was wrong: ${proxy.lastWords()}`, { cause })
    } finally {
      await proxy.end()
    }
  },
}

async function restart(proxy: ServerProcess, times: number): ReturnType<Trial['run']> {
  const wire = createWire('modern', revisionOf('modern'))
  const generator = createGenerator(proxy)
  const echo = echoExchange(wire, 100)
  const sleep = wire.callTool('sleep', { ms: 600_000 }, () => 'slept')
  await generator.ask(wire.opening, recoveryMs)
  const dead: number[] = []
  // what the first deaths load and compile is not memory of the others
  for (let left = 5; left > 0; left--) dead.push(await dieOnce(proxy, generator, echo, sleep))
  const heapBefore = await collect(proxy)
  const descriptors = openDescriptors(proxy.pid)
  const started = performance.now()
  for (let left = times; left > 0; left--) dead.push(await dieOnce(proxy, generator, echo, sleep))
  const seconds = (performance.now() - started) / 1_000
  const heapAfter = await settledHeap(proxy, heapBefore)
  const left = openDescriptors(proxy.pid)
  demand(left <= descriptors, `no descriptor is left open (${descriptors} before, ${left} after)`)
  const orphans = dead.filter(isRunning)
  demand(orphans.length === 0, `no child outlives its connection (${orphans.join()})`)
  const children = childrenOf(proxy.pid)
  demand(children.length <= 2, `there is one server, and its guard (${children.join()})`)
  const peakResident = peakMemoryBytes(proxy.pid)
  await proxy.end()
  for (let looks = 40; looks > 0 && children.some(isRunning); looks--) await delay(50)
  demand(!children.some(isRunning), 'the last server and its guard end with the proxy')
  const what = `${times} deaths, each with a call that failed at once and one after it that was served; ${left} descriptors before and after`
  return { what, seconds, heapBefore, heapAfter, peakResident }
}

/** Kills the child while it holds a call, and sees that another one serves. Gives the id of the dead. */
async function dieOnce({ pid }: ServerProcess, generator: Generator, echo: Exchange, sleep: Exchange): Promise<number> {
  const held = generator.start({ request: sleep.request, check: checkFailed })
  // answered after the other was read
  await generator.ask(echo, recoveryMs)
  const servers = serversOf(pid)
  const [child] = servers
  if (child === undefined || servers.length > 1) throw new Error(`servers of the proxy: ${servers.join()}`)
  process.kill(child, 'SIGKILL')
  await withDeadline(held.answered, recoveryMs, 'failure of a call whose server has died')
  await generator.ask(echo, recoveryMs)
  return child
}

function checkFailed(answer: { readonly error?: unknown }): void {
  const { code } = (answer.error ?? {}) as { readonly code?: unknown }
  if (code !== -32_603) throw new Error(`a call whose server has died was answered with ${JSON.stringify(answer)}`)
}

function fileOf(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url))
}
