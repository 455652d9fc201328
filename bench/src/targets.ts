import { fileURLToPath } from 'node:url'

/** Which kind of client the generator plays. */
export type Era = 'modern' | 'legacy'

/** Both eras, in the order in which they are reported. */
export const eras: readonly Era[] = ['modern', 'legacy']

/** A program to measure. */
export interface Target {
  readonly name: string
  readonly title: string
  readonly eras: readonly Era[]
  readonly command: readonly [string, ...string[]]
  /** It has no tools of the bench. */
  readonly noTools?: true
  /** Names of the only suites that it takes part in. */
  readonly suites?: readonly string[]
}

/** The limit that all others are compared with. */
export const limitName = 'bare'

/** All targets, the limit first. */
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
]

/** The targets that take part in a suite. */
export function targetsOf(suite: string, all: readonly Target[] = targets): readonly Target[] {
  return all.filter((target) => target.suites === undefined || target.suites.includes(suite))
}

function node(file: string): readonly [string, ...string[]] {
  return [process.execPath, fileURLToPath(new URL(file, import.meta.url))]
}
