import { endure } from './endure.ts'
import { proxyCallsTrial } from './proxy-calls.ts'
import { proxyRestartsTrial } from './proxy-restarts.ts'
import { scenarios } from './scenarios.ts'
import type { Trial } from './trial.ts'

/** All trials, in the order in which they are run: those of the HTTP server, then those of the proxy. */
export const trials: readonly Trial[] = [
  ...scenarios.map((scenario): Trial => {
    const { name, title } = scenario
    return { name, title, run: async (scale) => await endure(scenario, scale) }
  }),
  proxyCallsTrial('http-stdio', 'modern'),
  proxyCallsTrial('stdio-http', 'legacy'),
  proxyCallsTrial('http-http', 'legacy'),
  proxyRestartsTrial,
]
