import { describe, expect, test } from 'vitest'
import { idOf } from '../test/_util/bytes.ts'
import { httpServer } from '../test/_util/servers.ts'
import { createMemoryStore } from './memory-store.ts'
import { blobResponseHeaders } from './response-headers.ts'

describe('G10: active content that is served under these headers', () => {
  test.each([
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>', 'image/svg+xml'],
    ['HTML', '<!doctype html><script>alert(1)</script>', 'text/html'],
    ['HTML that is called an image', '<!doctype html><script>alert(1)</script>', 'image/png'],
    ['HTML that is called nothing', '<!doctype html><script>alert(1)</script>', undefined],
  ])('is not run or shown in place by a browser: %s', async (_what, content, mimeType) => {
    const store = createMemoryStore()
    await store.put(Buffer.from(content), { mimeType })
    const server = await httpServer((_, response) => {
      void (async () => {
        await using blob = await store.open(idOf(content))
        response.writeHead(200, blobResponseHeaders(blob.info)).end(await blob.bytes())
      })()
    })
    const answer = await fetch(server.origin)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'content-disposition': `attachment; filename="${idOf(content).text}"`,
      'content-type': mimeType ?? 'application/octet-stream',
      'content-length': String(Buffer.byteLength(content)),
      etag: `"${idOf(content).text}"`,
    })
    expect(await answer.text()).toBe(content)
  })

  test('has no type that could break out of its header', () => {
    const headers = blobResponseHeaders({ id: idOf(''), size: 0, mimeType: 'text/html\r\nset-cookie: a=b' })
    expect(headers['content-type']).toBe('application/octet-stream')
  })
})
