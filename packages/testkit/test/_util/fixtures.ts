import { fileURLToPath } from 'node:url'
import { type ServerConnection, type SpawnServerOptions, spawnServer } from '@atenea/transport-stdio'

const folder = fileURLToPath(new URL('../../fixtures/', import.meta.url))

/** In the command line of every process that this test file starts, so that what is left of them can be found. */
export const mark = `testkit-${process.pid}`

/** How to start a server of `fixtures/servers`. Those that are built on our packages run on their sources. */
export function fixture(name: string, ...args: readonly string[]): Pick<SpawnServerOptions, 'command' | 'args'> {
  // A condition that no package has, where the mark can stand without being an argument of the server.
  const flags = ['--no-warnings', `--conditions=${mark}`, '--import', `${folder}source-hooks.ts`]
  return { command: process.execPath, args: [...flags, `${folder}servers/${name}.ts`, ...args] }
}

export async function startFixture(
  name: string,
  args: readonly string[] = [],
  options: Partial<SpawnServerOptions> = {},
): Promise<ServerConnection> {
  return await spawnServer({
    ...fixture(name, ...args),
    stderr: 'ignore',
    closeTimeoutMs: 1_000,
    termTimeoutMs: 500,
    ...options,
  })
}
