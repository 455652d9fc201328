import type { Agent, AgentOptions, ClientRequest, RequestOptions } from 'node:http'
import { TransportError } from '@atenea/mcpcompat'
import { safeUrl } from '../safe-url.ts'
import { namesProxies } from './proxy-variables.ts'

/** How to make requests of one kind. */
export interface AgentOf {
  readonly agent: Agent
  readonly isTls: boolean
  /** The proxy on the way, without its credentials. */
  readonly proxy?: string
  request(options: RequestOptions): ClientRequest
  /** Closes connections that nobody uses at the moment. */
  closeIdle(): void
}

export interface Agents {
  /** The way to a URL; a promise when something has to be loaded for it first. */
  of(url: string): AgentOf | Promise<AgentOf>
  /** Closes all connections. */
  close(): void
}

export interface CreateAgentsOptions {
  /** How long an unused connection is kept. */
  readonly idleTimeoutMs: number
}

/**
 * Agents of `node:http` that keep connections alive, for those who look at each step of a request themselves; `createNodeSend` does without.
 * Made when they are first needed: one for each scheme, and one for each proxy and scheme.
 */
export function createAgents(options: CreateAgentsOptions): Agents {
  // 0 is for ever to an agent
  const timeout = options.idleTimeoutMs === Number.POSITIVE_INFINITY ? 0 : options.idleTimeoutMs
  const agentOptions: AgentOptions = { keepAlive: true, timeout, scheduling: 'lifo' }
  const hasProxies = namesProxies(process.env)
  const made = new Map<string, AgentOf>()

  function kept(key: string, make: () => AgentOf): AgentOf {
    const known = made.get(key)
    if (known !== undefined) return known
    const way = make()
    made.set(key, way)
    return way
  }
  function direct(isTls: boolean): AgentOf {
    return kept(isTls ? 'https' : 'http', () => {
      const { Agent } = isTls ? process.getBuiltinModule('node:https') : process.getBuiltinModule('node:http')
      return wayOf(new Agent(agentOptions), isTls)
    })
  }
  // Loaded by the few who have a proxy.
  async function byEnvironment(url: string, isTls: boolean): Promise<AgentOf> {
    const { getProxyForUrl } = await import('proxy-from-env')
    const proxy = getProxyForUrl(url)
    if (proxy === '') return direct(isTls)
    if (!URL.canParse(proxy) || !/^https?:$/.test(new URL(proxy).protocol)) {
      throw new TransportError(
        'unreachable',
        `The proxy that the environment names is no http or https URL: ${safeUrl(proxy)}`,
      )
    }
    const Proxied = isTls
      ? (await import('https-proxy-agent')).HttpsProxyAgent
      : (await import('http-proxy-agent')).HttpProxyAgent
    return kept(`${String(isTls)} ${proxy}`, () => ({
      ...wayOf(new Proxied(proxy, agentOptions), isTls),
      proxy: safeUrl(proxy),
    }))
  }

  return {
    of(url) {
      const isTls = url.startsWith('https:')
      return hasProxies ? byEnvironment(url, isTls) : direct(isTls)
    },
    close() {
      for (const { agent } of made.values()) agent.destroy()
    },
  }
}

function wayOf(agent: Agent, isTls: boolean): AgentOf {
  return {
    agent,
    isTls,
    request: (options) =>
      isTls
        ? process.getBuiltinModule('node:https').request(options)
        : process.getBuiltinModule('node:http').request(options),
    closeIdle() {
      for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy()
    },
  }
}
