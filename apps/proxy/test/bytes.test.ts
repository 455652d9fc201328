import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { modernRevision } from '@atenea/mcpcompat'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { ProxyProcess, servingHttp } from './_util/proxy-process.ts'
import { stdioServer } from './_util/servers.ts'

vi.setConfig({ testTimeout: 40_000 })

const folder = mkdtempSync(join(tmpdir(), 'atenea-proxy-bytes-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const meta = JSON.stringify({
  'io.modelcontextprotocol/protocolVersion': modernRevision,
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
})

/** What no parsed value could hold: digits, their form, and white space. */
const args = '{"text": "x","big":9007199254740993,"exact":1.0,"odd" : 1e2}'
const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":${args},"_meta":${meta}}}`

/** The words that start a server which writes down all that it gets. */
function recorded(log: string): readonly string[] {
  return ['sh', '-c', `tee -a ${log} | "$@"`, 'sh', ...stdioServer('sdk-v2')]
}

describe('arguments reach the server as they were written', () => {
  test('from stdin', async () => {
    const log = join(folder, 'stdio.jsonl')
    await using proxy = new ProxyProcess(['--', ...recorded(log)])
    proxy.child.stdin?.write(`${call}\n`)
    expect((await proxy.answer(1)).result).toMatchObject({ content: [{ text: 'x' }] })
    expect(readFileSync(log, 'utf8')).toContain(`"arguments":${args}`)
  })

  test('by HTTP', async () => {
    const log = join(folder, 'http.jsonl')
    const { proxy, url } = await servingHttp('--', ...recorded(log))
    await using _proxy = proxy
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': modernRevision,
        'mcp-method': 'tools/call',
        'mcp-name': 'echo',
      },
      body: call,
    })
    expect(response.status).toBe(200)
    expect(await response.text()).toContain('"text":"x"')
    expect(readFileSync(log, 'utf8')).toContain(`"arguments":${args}`)
  })
})
