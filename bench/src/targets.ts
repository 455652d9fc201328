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
  /** It has no tools of the bench, so that only its start can be measured. */
  readonly startOnly?: boolean
}

/** The limit that all others are compared with. */
export const limitName = 'bare'

/** All targets, the limit first. */
export const targets: readonly Target[] = [
  { name: limitName, title: 'bare JSON echo', eras, command: node('./servers/bare.js') },
  { name: 'ours', title: 'ours, packages', eras, command: node('./servers/ours.js') },
  { name: 'ours-bundled', title: 'ours, one file', eras, command: node('./bundled/ours.js') },
  {
    name: 'atenea-server',
    title: 'atenea-server',
    eras,
    command: [...node('../../apps/server/bin/atenea-server.js'), '--stdio'],
    startOnly: true,
  },
  { name: 'sdk-v2', title: '@modelcontextprotocol/server', eras, command: node('./servers/sdk-v2.js') },
  { name: 'sdk-v1', title: '@modelcontextprotocol/sdk', eras: ['legacy'], command: node('./servers/sdk-v1.js') },
  { name: 'tmcp', title: 'tmcp', eras, command: node('./servers/tmcp.js') },
]

function node(file: string): readonly [string, ...string[]] {
  return [process.execPath, fileURLToPath(new URL(file, import.meta.url))]
}
