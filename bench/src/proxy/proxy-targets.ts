import { fileURLToPath } from 'node:url'
import { type Era, eras, limitName, type Target } from '../targets.ts'
import type { Route } from './routes.ts'

/** What the command line of a proxy is made of. */
export interface Placement {
  /** Where it has to listen, when it does. */
  readonly port: number
  /** The server behind it: the words that start it, or its URL. */
  readonly back: readonly string[]
}

/** A proxy to measure, with the words that start it in a place. */
export interface ProxyTarget extends Target {
  readonly carrier: 'proxy'
  readonly route: Route
  /** The era of the server behind. Default that of the clients. */
  readonly backEra?: (clients: Era) => Era
  words(placement: Placement): readonly string[]
}

/** All proxies. The bare relay of each route is its limit. */
export const proxyTargets: readonly ProxyTarget[] = [
  relay('http-stdio'),
  ours('http-stdio'),
  ours('http-stdio', otherEra),
  {
    ...peer('http-stdio', 'mcp-proxy', '../../node_modules/mcp-proxy/dist/bin/mcp-proxy.mjs'),
    eras,
    // the only ones that it starts
    backEra: () => 'legacy',
    words: ({ port, back }) => ['--host', '127.0.0.1', '--port', String(port), '--server', 'stream', '--', ...back],
  },
  {
    // for modern clients it starts a child for each request
    ...peer('http-stdio', 'supergateway', '../../node_modules/supergateway/dist/index.js'),
    eras: ['legacy'],
    // it answers with 413
    without: { legacy: ['proxy-http-stdio-100-kib', 'proxy-http-stdio-1024-kib'] },
    words: ({ port, back }) => [
      '--stdio',
      back.join(' '),
      '--outputTransport',
      'streamableHttp',
      '--stateful',
      '--port',
      String(port),
      '--logLevel',
      'none',
    ],
  },
  relay('stdio-http'),
  ours('stdio-http'),
  ours('stdio-http', otherEra),
  {
    ...peer('stdio-http', 'mcp-remote', '../../node_modules/mcp-remote/dist/proxy.js'),
    eras: ['legacy'],
    words: ({ back: [url = ''] }) => [url, '--transport', 'http-only', '--silent'],
  },
  {
    ...peer('stdio-http', 'supergateway', '../../node_modules/supergateway/dist/index.js'),
    eras: ['legacy'],
    words: ({ back: [url = ''] }) => ['--streamableHttp', url, '--logLevel', 'none'],
  },
  relay('http-http'),
  ours('http-http'),
  ours('http-http', otherEra),
]

function relay(route: Route): ProxyTarget {
  return {
    ...peer(route, limitName, `../relays/${route}.js`),
    title: 'bare relay',
    eras,
    words: ({ port, back }) => [...(route === 'stdio-http' ? [] : [String(port)]), ...back],
  }
}

function ours(route: Route, backEra?: typeof otherEra): ProxyTarget {
  return {
    ...peer(route, backEra ? 'ours-crossed' : 'ours', '../../../apps/proxy/bin/atenea-proxy.js'),
    title: backEra ? 'atenea-proxy, to a server of the other era' : 'atenea-proxy',
    eras,
    ...(backEra && { backEra }),
    words: ({ port, back }) => [
      ...(route === 'stdio-http' ? ['--stdio'] : ['--http', String(port)]),
      '--log-level',
      'warning',
      ...(route === 'http-stdio' ? ['--', ...back] : back),
    ],
  }
}

function otherEra(era: Era): Era {
  return era === 'modern' ? 'legacy' : 'modern'
}

/** What all targets have in common; the file is that of a Node program. */
function peer(route: Route, name: string, file: string): Omit<ProxyTarget, 'words' | 'eras'> {
  const command = [process.execPath, fileURLToPath(new URL(file, import.meta.url))] as const
  return { name, title: name, carrier: 'proxy', route, command: [...command] }
}
