import { TransportError } from '@atenea/mcpcompat'
import { safeUrl } from '../../safe-url.ts'
import { type Address, dialDirect } from './dial-direct.ts'
import type { Dial } from './line.ts'
import { Pool } from './pool.ts'
import { namesProxies } from '../proxy-variables.ts'
import { RequestTarget } from './request-head.ts'

/** How requests to one URL are made. */
export interface Way {
  readonly pool: Pool
  readonly target: RequestTarget
}

export interface WaysOptions {
  readonly connectTimeoutMs: number
  readonly idleTimeoutMs: number
}

/** URLs that are remembered. Nearly all requests of a process go to a few. */
const maxWays = 200

/** The ways to URLs: straight, or through the proxies that the environment names. Servers and proxies have a pool each. */
export class Ways {
  readonly #options: WaysOptions
  readonly #hasProxies = namesProxies(process.env)
  readonly #pools = new Map<string, Pool>()
  readonly #ways = new Map<string, Way>()

  constructor(options: WaysOptions) {
    this.#options = options
  }

  /** The way to a URL; a promise where something has to be loaded for it first. */
  of(url: string): Way | Promise<Way> {
    return this.#hasProxies ? this.#byEnvironment(url) : this.#direct(url)
  }

  /** Closes all connections. */
  close(): void {
    for (const pool of this.#pools.values()) pool.close()
  }

  #direct(url: string): Way {
    return this.#kept(url, () => {
      const parsed = new URL(url)
      return {
        pool: this.#pool(parsed.origin, () => dialDirect(addressOf(parsed))),
        target: new RequestTarget(parsed, false),
      }
    })
  }

  async #byEnvironment(url: string): Promise<Way> {
    // Loaded by the few who have a proxy.
    const { getProxyForUrl } = await import('proxy-from-env')
    const proxy = getProxyForUrl(url)
    if (proxy === '') return this.#direct(url)
    if (!URL.canParse(proxy) || !/^https?:$/.test(new URL(proxy).protocol)) {
      throw new TransportError(
        'unreachable',
        `The proxy that the environment names is no http or https URL: ${safeUrl(proxy)}`,
      )
    }
    const { dialTunnel } = await import('./dial-tunnel.ts')
    return this.#kept(`${proxy} ${url}`, () => {
      const [parsed, between] = [new URL(url), new URL(proxy)]
      const fields = proxyFields(between)
      if (parsed.protocol === 'http:') {
        return {
          pool: this.#pool(proxy, () => dialDirect(addressOf(between))),
          target: new RequestTarget(parsed, true, fields),
        }
      }
      const options = { proxy: addressOf(between), fields, server: addressOf(parsed) }
      return {
        pool: this.#pool(`${proxy} ${parsed.origin}`, () => dialTunnel(options)),
        target: new RequestTarget(parsed, false),
      }
    })
  }

  #kept(key: string, make: () => Way): Way {
    const known = this.#ways.get(key)
    if (known !== undefined) return known
    if (this.#ways.size >= maxWays) this.#ways.clear()
    const way = make()
    this.#ways.set(key, way)
    return way
  }

  #pool(key: string, dial: () => Dial): Pool {
    let pool = this.#pools.get(key)
    if (pool === undefined) {
      pool = new Pool({ ...this.#options, dial: dial() })
      this.#pools.set(key, pool)
    }
    return pool
  }
}

function addressOf({ protocol, hostname, port }: URL): Address {
  const isTls = protocol === 'https:'
  return {
    isTls,
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? (isTls ? 443 : 80) : Number(port),
  }
}

/** What a proxy wants to hear from whoever uses it, by the credentials in its URL. */
function proxyFields({ username, password }: URL): string {
  if (username === '' && password === '') return ''
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return `proxy-authorization: Basic ${Buffer.from(credentials).toString('base64')}\r\n`
}
