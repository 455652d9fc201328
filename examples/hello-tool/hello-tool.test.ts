import { fileURLToPath } from 'node:url'
import { createRevisionPolicy, toValue } from '@atenea/mcpcompat'
import { connectDuplex, createCallerContext } from '@atenea/mcpcompat/transport'
import { spawnServer } from '@atenea/transport-stdio'
import { expect, test } from 'vitest'

const args = [fileURLToPath(new URL('server.ts', import.meta.url))]
const policy = createRevisionPolicy()

test.each(['modern', 'legacy'] as const)('the example greets a client of the %s era', async (mode) => {
  const dial = ({ signal }: { signal?: AbortSignal | undefined }) =>
    spawnServer({ command: process.execPath, args, signal })
  await using client = await connectDuplex(dial, { policy, mode, info: { name: 'test', version: '1' } })
  const call = async (name: string, params: object) => {
    const outcome = await client.call({ method: name, params: { ...params } }, createCallerContext())
    if (outcome.kind !== 'result') throw new Error(`the outcome is ${outcome.kind}`)
    return toValue(outcome.value)
  }
  expect(await call('tools/list', {})).toMatchObject({ tools: [{ name: 'hello', inputSchema: { type: 'object' } }] })
  expect(await call('tools/call', { name: 'hello', arguments: { name: 'Ada' } })).toMatchObject({
    content: [{ type: 'text', text: 'Hello, Ada!' }],
  })
  expect(await call('tools/call', { name: 'hello' })).toMatchObject({ isError: true })
})
