import { fileURLToPath } from 'node:url'
import type { Route } from './proxy/routes.ts'

/** Which kind of client the generator plays. */
export type Era = 'modern' | 'legacy'

/** Both eras, in the order in which they are reported. */
export const eras: readonly Era[] = ['modern', 'legacy']

/** What carries the messages of a suite and of a target; or that it is about what stands between, whatever carries them. */
export type Carrier = 'stdio' | 'http' | 'proxy'

/** All carriers, in the order in which they are reported. */
export const carriers: readonly Carrier[] = ['stdio', 'http', 'proxy']

/** A program to measure. */
export interface Target {
  readonly name: string
  readonly title: string
  readonly eras: readonly Era[]
  readonly command: readonly [string, ...string[]]
  /** Default stdio. */
  readonly carrier?: Carrier
  /** Which way a proxy bridges. */
  readonly route?: Route
  /** It has no tools of the bench. */
  readonly noTools?: true
  /** Names of the only suites that it takes part in. */
  readonly suites?: readonly string[]
  /** Names of suites that it has not the means for, by era. */
  readonly without?: Readonly<Partial<Record<Era, readonly string[]>>>
}

/** The limit that all others are compared with. */
export const limitName = 'bare'

const streamsSuites = ['streams-1000', 'streams-10000']

/** All servers, the limit first. */
export const targets: readonly Target[] = [
  { name: limitName, title: 'bare JSON echo', eras, command: node('./servers/bare.js') },
  { name: 'ours', title: 'ours, packages', eras, command: node('./servers/ours.js') },
  { name: 'ours-bundled', title: 'ours, one file', eras, command: node('./bundled/ours.js') },
  {
    name: 'ours-cached',
    title: 'ours, one file, from the second start on',
    eras,
    command: node('./bundled/bin.js'),
    suites: ['start'],
  },
  {
    name: 'atenea-server',
    title: 'atenea-server',
    eras,
    command: [...node('../../apps/server/bin/atenea-server.js'), '--stdio'],
    noTools: true,
    suites: ['start'],
  },
  { name: 'sdk-v2', title: '@modelcontextprotocol/server', eras, command: node('./servers/sdk-v2.js') },
  { name: 'sdk-v1', title: '@modelcontextprotocol/sdk', eras: ['legacy'], command: node('./servers/sdk-v1.js') },
  { name: 'tmcp', title: 'tmcp', eras, command: node('./servers/tmcp.js') },
  { name: limitName, title: 'bare JSON echo', carrier: 'http', eras, command: node('./servers/http/bare.js') },
  { name: 'ours', title: 'ours, packages', carrier: 'http', eras, command: node('./servers/http/ours.js') },
  { name: 'ours-bundled', title: 'ours, one file', carrier: 'http', eras, command: node('./bundled/http/ours.js') },
  {
    name: 'ours-cached',
    title: 'ours, one file, from the second start on',
    carrier: 'http',
    eras,
    command: node('./bundled/http/bin.js'),
    suites: ['http-start'],
  },
  {
    name: 'sdk-v2',
    title: '@modelcontextprotocol/server',
    carrier: 'http',
    eras,
    command: node('./servers/http/sdk-v2.js'),
    // it serves legacy clients without sessions
    without: { legacy: streamsSuites },
  },
  {
    name: 'sdk-v1',
    title: '@modelcontextprotocol/sdk',
    carrier: 'http',
    eras: ['legacy'],
    command: node('./servers/http/sdk-v1.js'),
  },
  {
    name: 'sdk-v1-stateless',
    title: '@modelcontextprotocol/sdk, stateless',
    carrier: 'http',
    eras: ['legacy'],
    command: node('./servers/http/sdk-v1-stateless.js'),
    without: { legacy: streamsSuites },
  },
  { name: 'tmcp', title: 'tmcp', carrier: 'http', eras, command: node('./servers/http/tmcp.js') },
]

function node(file: string): readonly [string, ...string[]] {
  return [process.execPath, fileURLToPath(new URL(file, import.meta.url))]
}
