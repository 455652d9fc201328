import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { runCommand } from '../../scripts/run-command.ts'
import { type Consumer, installConsumer } from '../_util/consumer.ts'

const tarballs = inject('tarballs')
const probe = tarballs.find((tarball) => tarball.name === '@atenea/probe')
let consumer: Consumer

beforeAll(async () => {
  consumer = await installConsumer(tarballs, ['@atenea/probe'])
})
afterAll(() => consumer[Symbol.dispose]())

/** Bytes of all files below a folder. */
function bytesBelow(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => lstatSync(join(folder, path)))
    .filter((entry) => entry.isFile())
    .reduce((sum, { size }) => sum + size, 0)
}

/** Names of the packages in a node_modules folder. */
function packagesIn(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    if (name.startsWith('.')) return []
    return name.startsWith('@') ? readdirSync(join(folder, name)).map((inner) => `${name}/${inner}`) : [name]
  })
}

test('installed with all that it needs it has less than 6 MiB, and is one package', () => {
  const modules = join(consumer.folder, 'node_modules')
  expect(packagesIn(modules)).toEqual(['@atenea/probe'])
  expect(bytesBelow(modules)).toBeLessThan(6 * 1024 * 1024)
})

test('on the oldest Node that it states it probes a server, writes every format, and tells a dead port', async () => {
  consumer.write(
    'server.cjs',
    `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  let message
  try { message = JSON.parse(line) } catch { return }
  const { id, method, params } = message
  if (id === undefined || typeof method !== 'string') return
  const answer = (body) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...body }) + '\\n')
  if (method === 'initialize') {
    const { protocolVersion } = params
    return answer({ result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'tea', version: '1' } } })
  }
  if (method === 'ping') return answer({ result: {} })
  if (method === 'tools/list' && params?._meta === undefined) {
    return answer({ result: { tools: [{ name: 'brew', description: 'Brews tea.', inputSchema: { type: 'object' } }] } })
  }
  answer({ error: { code: -32601, message: 'Method not found' } })
})`,
  )
  const bin = join(consumer.folder, 'node_modules/.bin/atenea-probe')
  const run = async (...args: readonly string[]): ReturnType<typeof runCommand> =>
    await runCommand(probe?.oldestNode ?? '', [bin, ...args], { cwd: consumer.folder, timeoutMs: 60_000 })
  const server = ['--', probe?.oldestNode ?? '', 'server.cjs']
  const json = await run('--format', 'json', '--html', 'page.html', ...server)
  expect(JSON.parse(json.stdout)).toMatchObject({
    verdict: { era: 'legacy' },
    legacy: { server: { name: 'tea' }, counts: { tools: 1 } },
    modern: { verdict: 'not-spoken' },
  })
  const begins = { text: /^[✓!✗] /, junit: /^<\?xml/, sarif: /^\{/ }
  for (const [format, beginning] of Object.entries(begins)) {
    expect((await run('--format', format, ...server)).stdout).toMatch(beginning)
  }
  consumer.write('mcp.json', '{ "mcpServers": { "down": { "url": "http://127.0.0.1:9/mcp" } } }')
  expect((await run('--config', 'mcp.json')).stdout).toMatch(/✗ down +unreachable/)
})
