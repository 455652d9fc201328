import { Client as Client2 } from '@modelcontextprotocol/client'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import type { Transport as Transport1 } from '@modelcontextprotocol/sdk/shared/transport.js'
import { legacyRevision } from '@atenea/mcpcompat'
import { expect, test } from 'vitest'

interface Sent {
  readonly id?: number
  readonly method: string
  readonly params?: { readonly _meta?: { readonly progressToken: unknown } }
}

/** A server that answers a call with one step of progress and the result, in one piece, as they may come from a pipe. */
class AllAtOnce {
  onmessage?: (message: unknown) => void
  start = async (): Promise<void> => undefined
  close = async (): Promise<void> => undefined

  async send({ id, method, params }: Sent): Promise<void> {
    if (method === 'initialize') {
      const serverInfo = { name: 'all-at-once', version: '1' }
      this.#answer(id, { protocolVersion: legacyRevision, capabilities: { tools: {} }, serverInfo })
    } else if (method === 'tools/call') {
      const progress = { progressToken: params?._meta?.progressToken, progress: 1 }
      this.onmessage?.({ jsonrpc: '2.0', method: 'notifications/progress', params: progress })
      this.#answer(id, { content: [] })
    }
  }

  #answer(id: number | undefined, result: unknown): void {
    this.onmessage?.({ jsonrpc: '2.0', id, result })
  }
}

const info = { name: 'matrix', version: '1' }

// Why the matrix looks at the text for progress: what is told to a caller is not all that came. No proxy is involved here.
test('the client of SDK 1.32 does not tell of progress that comes together with the answer', async () => {
  const client = new Client1(info)
  await client.connect(new AllAtOnce() as unknown as Transport1)
  const seen: unknown[] = []
  await client.callTool({ name: 'any' }, undefined, { onprogress: (progress) => void seen.push(progress) })
  expect(seen).toEqual([])
})

test('nor does that of SDK 2.4', async () => {
  const client = new Client2(info, { versionNegotiation: { mode: 'legacy' } })
  await client.connect(new AllAtOnce() as unknown as Parameters<typeof client.connect>[0])
  const seen: unknown[] = []
  await client.callTool({ name: 'any' }, { onprogress: (progress) => void seen.push(progress) })
  expect(seen).toEqual([])
})
