import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { legacyRevision, modernRevision } from '../../packages/mcpcompat/src/revisions.ts'
import { type Consumer, installConsumer } from '../_util/consumer.ts'

const tarballs = inject('tarballs')
const nodeOf = (name: string): string => tarballs.find((tarball) => tarball.name === name)?.oldestNode ?? ''
const cache = mkdtempSync(join(tmpdir(), 'atenea-packed-proxy-'))
let consumer: Consumer

beforeAll(async () => {
  consumer = await installConsumer(tarballs, ['@atenea/proxy', 'atenea-server'])
})
afterAll(() => {
  consumer[Symbol.dispose]()
  rmSync(cache, { recursive: true, force: true })
})

const installed = (path: string): string => join(consumer.folder, 'node_modules', path)
const clientInfo = { name: 'check', version: '1' }
const meta = {
  'io.modelcontextprotocol/protocolVersion': modernRevision,
  'io.modelcontextprotocol/clientInfo': clientInfo,
  'io.modelcontextprotocol/clientCapabilities': {},
}

describe('on the oldest Node that it states the installed proxy serves clients of both eras', () => {
  test.each(['legacy', 'modern'])('in front of a server that speaks %s', async (protocol) => {
    const server = [nodeOf('atenea-server'), installed('atenea-server/bin/atenea-server.js'), '--protocol', protocol]
    const child = spawn(nodeOf('@atenea/proxy'), [installed('@atenea/proxy/bin/atenea-proxy.js'), '--', ...server], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, XDG_CACHE_HOME: cache },
    })
    const exited = once(child, 'exit')
    const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const ask = async (id: number, method: string, params: object): Promise<Record<string, unknown>> => {
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
      const { value } = (await answers.next()) as { value: string }
      return (JSON.parse(value) as { result: Record<string, unknown> }).result
    }
    const record = { $type: 'app.bsky.feed.like', subject: 'x' }
    const call = { name: 'create_record_cid', arguments: { record } }
    const modern = await ask(1, 'tools/call', { ...call, _meta: meta })
    const opened = await ask(2, 'initialize', { protocolVersion: legacyRevision, capabilities: {}, clientInfo })
    expect(opened['protocolVersion']).toBe(legacyRevision)
    child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    const legacy = await ask(3, 'tools/call', call)
    expect(modern['structuredContent']).toEqual({ cid: expect.stringMatching(/^bafyrei/) })
    expect(legacy['structuredContent']).toEqual(modern['structuredContent'])
    expect([modern['resultType'], legacy['resultType']]).toEqual(['complete', undefined])
    child.stdin.end()
    expect(await exited).toEqual([0, null])
  })
})

test('its command is there', async () => {
  expect(await consumer.run('npx', ['--no-install', 'atenea-proxy', '--help'])).toContain(
    'atenea-proxy [options] -- COMMAND',
  )
})
