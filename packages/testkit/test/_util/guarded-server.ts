import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { createCore } from '@atenea/core'
import { createRevisionPolicy } from '@atenea/mcpcompat'
import type { Authenticate } from '@atenea/transport-http'
import { type HttpListener, listenHttp } from '@atenea/transport-http/node'
import { createResourceServer } from '@atenea/transport-http/resource-server'
import { SignInProvider } from './sign-in-provider.ts'

/** An MCP server that wants tokens of an authorization server, both real and on loopback. */
export interface Guarded extends AsyncDisposable {
  readonly provider: SignInProvider
  readonly listener: HttpListener
  readonly url: string
  /** How often the tool `count` was carried out. */
  readonly counted: () => number
  /** Values of `Authorization` that requests came with. */
  readonly seen: readonly (string | undefined)[]
}

/** `whoami` needs the scope `notes`, `write` also `notes.write`, `count` counts how often it is carried out. */
export async function startGuarded(): Promise<Guarded> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/mcp`
  const provider = await SignInProvider.start({ resources: { [url]: ['notes', 'notes.write'] } })
  const resourceServer = createResourceServer({
    issuer: provider.issuer,
    audience: url,
    requiredScopes: ['notes'],
    clockToleranceMs: 0,
  })
  const seen: (string | undefined)[] = []
  let counted = 0
  const authenticate: Authenticate = async (request) => {
    seen.push(request.headers['authorization'])
    const answer = await resourceServer.authenticate(request)
    if ('status' in answer || request.headers['mcp-name'] !== 'write') return answer
    const mayWrite = answer.scopes?.includes('notes.write') === true
    return mayWrite ? answer : { status: 403, error: 'insufficient_scope', scopes: ['notes.write'] }
  }
  const core = createCore({
    info: { name: 'notes', version: '1' },
    tools: [
      { name: 'whoami', handler: (_args: unknown, { principal }) => principal.id },
      { name: 'write', handler: () => 'written' },
      { name: 'session', handler: (_args: unknown, { hints }) => hints['mcp-session-id'] ?? 'none' },
      { name: 'count', handler: () => String(++counted) },
    ],
  })
  const listener = await listenHttp(core, {
    port,
    policy: createRevisionPolicy(),
    authenticate,
    protectedResource: resourceServer.protectedResource,
  })
  return {
    provider,
    listener,
    url,
    counted: () => counted,
    seen,
    async [Symbol.asyncDispose]() {
      await listener[Symbol.asyncDispose]()
      await provider[Symbol.asyncDispose]()
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise<void>((resolve) => server.close(() => resolve()))
  return port
}
