import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { legacyRevision, modernRevision } from '../../packages/mcpcompat/src/revisions.ts'
import { type Consumer, installConsumer } from '../_util/consumer.ts'

const tarballs = inject('tarballs')
const server = tarballs.find((tarball) => tarball.name === 'atenea-server')
const node20 = tarballs.find((tarball) => tarball.name === '@atenea/core')?.oldestNode ?? ''
let consumer: Consumer

beforeAll(async () => {
  consumer = await installConsumer(tarballs, ['atenea-server'])
})
afterAll(() => consumer[Symbol.dispose]())

const bin = (): string => join(consumer.folder, 'node_modules/atenea-server/bin/atenea-server.js')

const meta = {
  'io.modelcontextprotocol/protocolVersion': modernRevision,
  'io.modelcontextprotocol/clientInfo': { name: 'check', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

test('on the oldest Node that it states the installed server answers clients of both eras on one pipe', async () => {
  const child = spawn(server?.oldestNode ?? '', [bin(), '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const ask = async (
    id: number,
    method: string,
    params: object,
  ): Promise<{ id: number; result: Record<string, unknown> }> => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    const { value } = (await answers.next()) as { value: string }
    return JSON.parse(value) as { id: number; result: Record<string, unknown> }
  }
  const discovered = await ask(1, 'server/discover', { _meta: meta })
  expect(discovered).toMatchObject({ id: 1, result: { resultType: 'complete' } })
  expect(discovered.result['supportedVersions']).toContain(modernRevision)
  const record = { $type: 'app.bsky.feed.like', subject: 'x' }
  const call = { name: 'create_record_cid', arguments: { record } }
  const modern = await ask(2, 'tools/call', { ...call, _meta: meta })
  const clientInfo = { name: 'check', version: '1' }
  const opened = await ask(3, 'initialize', { protocolVersion: legacyRevision, capabilities: {}, clientInfo })
  expect(opened).toMatchObject({ id: 3, result: { protocolVersion: legacyRevision } })
  child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
  const legacy = await ask(4, 'tools/call', call)
  expect(modern.result['structuredContent']).toEqual({ cid: expect.stringMatching(/^bafyrei/) })
  expect(legacy.result['structuredContent']).toEqual(modern.result['structuredContent'])
  expect(legacy.result).not.toHaveProperty('resultType')
  child.stdin.end()
  expect(await exited).toEqual([0, null])
})

test('on a Node that is too old it says so in one sentence and exits with 2', async () => {
  const child = spawn(node20, [bin(), '--stdio'], { stdio: ['ignore', 'pipe', 'pipe'] })
  const printed: Buffer[] = []
  child.stderr.on('data', (chunk: Buffer) => printed.push(chunk))
  child.stdout.on('data', (chunk: Buffer) => printed.push(chunk))
  expect(await once(child, 'close')).toEqual([2, null])
  expect(Buffer.concat(printed).toString()).toMatch(/^[^\n]*22\.13[^\n]*\n$/)
})
