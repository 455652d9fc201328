import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { AppProcess, type AppProcessOptions, type WireMessage } from '@atenea/cli/testing'
import { modernRevision } from '@atenea/mcpcompat'

/** The file that `npx atenea-server` runs. It loads the built bundle, so these tests need a build. */
export const binPath: string = join(import.meta.dirname, '../../bin/atenea-server.js')

if (!existsSync(join(import.meta.dirname, '../../dist/main.js'))) {
  throw new Error('apps/server is not built: run npx -y pnpm@12 build first')
}

/** The binary as a child. There must never be any noise on its stdout. */
export class ServerProcess extends AppProcess {
  constructor(
    args: readonly string[],
    environment: AppProcessOptions['environment'] = {},
    execPath: string = process.execPath,
  ) {
    super({ file: binPath, args, environment, execPath })
  }

  /** A modern request, answered. */
  async ask(id: string | number, method: string, params: object = {}): Promise<WireMessage> {
    this.send({ id, method, params: { ...params, _meta: modernMeta } })
    return await this.answer(id)
  }

  /** A request without a claim, answered. */
  async askLegacy(id: string | number, method: string, params: object = {}): Promise<WireMessage> {
    this.send({ id, method, params: { ...params } })
    return await this.answer(id)
  }

  /** The legacy handshake. */
  async initialize(protocolVersion: string, id: string | number = 'init'): Promise<WireMessage> {
    const answer = await this.askLegacy(id, 'initialize', {
      protocolVersion,
      capabilities: {},
      clientInfo: { name: 'raw', version: '1' },
    })
    this.send({ method: 'notifications/initialized' })
    return answer
  }
}

export const modernMeta = {
  'io.modelcontextprotocol/protocolVersion': modernRevision,
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
