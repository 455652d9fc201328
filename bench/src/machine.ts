import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism, cpus, release, totalmem } from 'node:os'

/** What a result was measured on and with. */
export interface Machine {
  readonly node: string
  readonly kernel: string
  readonly processor: string
  readonly processors: number
  readonly memoryGb: number
  /** Versions of the servers that are compared, by package. */
  readonly versions: Readonly<Record<string, string>>
}

const peers = [
  '@modelcontextprotocol/sdk/package.json',
  '@modelcontextprotocol/server/package.json',
  '@modelcontextprotocol/node/package.json',
  'tmcp/package.json',
  '@tmcp/transport-stdio/package.json',
  '@tmcp/transport-http/package.json',
  '@remix-run/node-fetch-server/package.json',
  '@tmcp/adapter-zod/package.json',
  'zod/package.json',
  'mcp-proxy/package.json',
  'mcp-remote/package.json',
  'supergateway/package.json',
]

/** Looks at this machine. */
export function describeMachine(): Machine {
  return {
    node: process.version,
    kernel: release(),
    processor: cpus()[0]?.model ?? 'unknown',
    processors: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    versions: Object.fromEntries(peers.map((path) => [path.replace('/package.json', ''), versionOf(path)])),
  }
}

/** Some packages do not export their manifest, so it is looked for in the folders where Node would. */
function versionOf(path: string): string {
  for (const folder of createRequire(import.meta.url).resolve.paths(path) ?? []) {
    try {
      return (JSON.parse(readFileSync(`${folder}/${path}`, 'utf8')) as { readonly version: string }).version
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  return 'not installed'
}
