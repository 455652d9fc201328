import { execFile } from 'node:child_process'
import { networkInterfaces } from 'node:os'
import { promisify } from 'node:util'
import { createRevisionPolicy } from '@atenea/mcpcompat'
import { type HttpListener, listenHttp, type ListenHttpOptions } from '@atenea/transport-http/node'
import { describe, expect, test } from 'vitest'
import { createServedCore } from '../src/served-core.ts'
import { fixture } from './_util/fixtures.ts'

// A machine without IPv6 has nothing to show there.
const hasIpv6 = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1'))

const hosts: readonly (readonly [host: string, shown: string])[] = [
  ['127.0.0.1', '127.0.0.1'],
  ['localhost', 'localhost'],
  ['::1', '[::1]'],
  ['[::1]', '[::1]'],
  ['0.0.0.0', '127.0.0.1'],
]

async function listen(options: Partial<ListenHttpOptions> = {}): Promise<HttpListener> {
  return await listenHttp(createServedCore(), { policy: createRevisionPolicy(), ...options })
}

describe('a listener', () => {
  test.each(hosts.filter(([host]) => hasIpv6 || !host.includes('::')))(
    'MH-EP-04: on %s is reached at %s',
    async (host, shown) => {
      await using listener = await listen({ host })
      expect(listener.url).toBe(`http://${shown}:${listener.port}/mcp`)
      expect((await fetch(listener.url, { method: 'PUT' })).status).toBe(405)
    },
  )

  test('says that its port is in use, and takes it once it is free', async () => {
    const first = await listen()
    const { port } = first
    await expect(listen({ port })).rejects.toMatchObject({
      kind: 'unreachable',
      message: `cannot listen on 127.0.0.1:${port}: the port is in use`,
    })
    await first.close()
    await using second = await listen({ port })
    expect(second.port).toBe(port)
  })

  test('says that an address is not of this machine', async () => {
    await expect(listen({ host: '192.0.2.1' })).rejects.toMatchObject({
      kind: 'unreachable',
      message: expect.stringMatching(/^cannot listen on 192\.0\.2\.1:0: .*EADDRNOTAVAIL/) as string,
    })
  })

  test('shares its port with the other workers of a cluster', { timeout: 30_000 }, async () => {
    const { command, args = [] } = fixture('http-cluster')
    const { stdout } = await promisify(execFile)(command, args, { timeout: 20_000 })
    const urls = JSON.parse(stdout) as string[]
    expect(urls).toHaveLength(2)
    expect(new Set(urls).size).toBe(1)
  })
})
